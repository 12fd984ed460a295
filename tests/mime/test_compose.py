"""The octets of a message: form, fields, text, attachments."""

from __future__ import annotations

import hashlib
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta, timezone

import pytest

from mailgate.errors import LimitExceeded
from mailgate.limits import COMPOSED_BYTES_MAX, TEXT_WRITE_BYTES_MAX, UPLOAD_BYTES_MAX
from mailgate.mime.compose import COMPOSE_SENTENCES, ComposeWarning, compose, make_message_id
from mailgate.mime.composition import Composition
from tests.mime.composing import DATE, MESSAGE_ID, OWNER, From, composed, field, read_back, second_opinion, upload


def test_a_small_message_octet_by_octet() -> None:
    asked = Composition(
        to=("a@example.org", "b@example.org"),
        cc=("c@example.org",),
        bcc=("d@example.org",),
        subject="Lunch on Friday",
        text="Shall we?\n\n-- \nme",
        in_reply_to="<q@example.org>",
        references=("<p@example.org>", "<q@example.org>"),
    )
    assert composed(asked).data == (
        b"From: The Owner <owner@example.org>\r\n"
        b"To: a@example.org, b@example.org\r\n"
        b"Cc: c@example.org\r\n"
        b"Bcc: d@example.org\r\n"
        b"Subject: Lunch on Friday\r\n"
        b"Date: Thu, 29 Feb 2024 23:59:58 +0000\r\n"
        b"Message-ID: <0123456789abcdef@example.org>\r\n"
        b"In-Reply-To: <q@example.org>\r\n"
        b"References: <p@example.org> <q@example.org>\r\n"
        b"MIME-Version: 1.0\r\n"
        b"Content-Type: text/plain; charset=utf-8\r\n"
        b"Content-Transfer-Encoding: quoted-printable\r\n"
        b"\r\n"
        b"Shall we?\r\n\r\n--=20\r\nme\r\n"
    )


def test_attachments_octet_by_octet() -> None:
    asked = Composition(text="See.\n", attachments=(upload("März.pdf"), upload("b.bin", "application/x", b"")))
    message = composed(asked)
    boundary = b"=_" + field(message, "Content-Type").partition('"=_')[2].rstrip('"').encode()
    assert message.data.partition(b"\r\n\r\n")[2] == (
        b"--%b\r\n"
        b"Content-Type: text/plain; charset=utf-8\r\n"
        b"Content-Transfer-Encoding: 7bit\r\n\r\n"
        b"See.\r\n\r\n"
        b"--%b\r\n"
        b'Content-Type: application/pdf; name="M_rz.pdf"\r\n'
        b"Content-Disposition: attachment; filename*=utf-8''M%%C3%%A4rz.pdf\r\n"
        b"Content-Transfer-Encoding: base64\r\n\r\n"
        b"ZGF0YQ==\r\n"
        b"--%b\r\n"
        b"Content-Type: application/x\r\n"
        b'Content-Disposition: attachment; filename="b.bin"\r\n'
        b"Content-Transfer-Encoding: base64\r\n\r\n"
        b"\r\n"
        b"--%b--\r\n"
    ) % ((boundary,) * 4)


def test_an_empty_draft_is_a_message() -> None:
    message = composed(Composition())
    assert message.data.endswith(b"\r\n\r\n")
    assert [name for name, _ in second_opinion(message).raw_items()] == [
        "From",
        "Date",
        "Message-ID",
        "MIME-Version",
        "Content-Type",
        "Content-Transfer-Encoding",
    ]


def test_only_a_draft_keeps_its_bcc_field() -> None:
    asked = Composition(bcc=("hidden@example.org",), text="Bcc: in the text\nbcc : x\n")
    sent = composed(asked, keep_bcc=False)
    assert read_back(sent).headers.bcc == ()
    assert b"hidden" not in sent.data
    assert read_back(composed(asked)).headers.bcc == ("hidden@example.org",)


def test_the_same_input_gives_the_same_octets() -> None:
    asked = Composition(subject="Grüße", text="ü\n", attachments=(upload("ü.pdf"), upload()))
    assert composed(asked).data == composed(asked).data
    assert composed(asked).size == len(composed(asked).data)
    assert composed(asked).message_id == MESSAGE_ID


def test_the_octets_do_not_depend_on_the_version_of_python() -> None:
    asked = Composition(
        to=("a@example.org",),
        subject="Grüße 👩‍👩‍👧 =?utf-8?q?x?= " * 6,
        text=".\nFrom ü \n" * 50 + "日本語",
        attachments=(upload("отчёт №1.docx"), upload("a.bin", "application/x", bytes(range(256)))),
    )
    digest = hashlib.sha256(composed(asked, sender=From("Jürgen, der Große")).data).hexdigest()
    assert digest == "699e275e1ddb95ba9e5289b05133202a92f0d876f018c5b0f3fae64279358fea"


@pytest.mark.parametrize("fields", [{}, {"subject": " ", "text": " \n\t\n"}])
def test_an_empty_subject_and_text_are_pointed_out_where_asked(fields: dict[str, str]) -> None:
    asked = Composition(**fields)
    assert composed(asked).warnings == ()
    warned = compose(asked, sender=From(), message_id=MESSAGE_ID, date=DATE, keep_bcc=False, warn_empty=True)
    assert [warning.code for warning in warned.warnings] == ["subject_empty", "text_empty"]


def test_a_repeated_recipient_is_pointed_out() -> None:
    message = composed(Composition(to=("a@example.org",), bcc=("a@example.org",), subject="s", text="t"))
    assert [str(warning) for warning in message.warnings] == [
        "recipient_repeated: A recipient is named more than once; the first role counts."
    ]


def test_every_warning_has_a_sentence() -> None:
    assert set(COMPOSE_SENTENCES) == set(ComposeWarning)


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (datetime(2003, 7, 1, 10, 52, 37, 999, tzinfo=timezone(timedelta(hours=2))), "Tue, 01 Jul 2003 10:52:37 +0200"),
        (datetime(2024, 12, 31, tzinfo=timezone(-timedelta(hours=3, minutes=30))), "Tue, 31 Dec 2024 00:00:00 -0330"),
        (datetime(2024, 1, 7, tzinfo=UTC), "Sun, 07 Jan 2024 00:00:00 +0000"),
    ],
)
def test_the_date_is_the_moment_given(moment: datetime, written: str) -> None:
    message = composed(Composition(), date=moment)
    assert field(message, "Date") == written
    assert read_back(message).headers.date == moment.replace(microsecond=0).isoformat()


@pytest.mark.parametrize("zone", [None, timezone(timedelta(seconds=90))])
def test_a_date_without_a_whole_offset_is_a_fault(zone: timezone | None) -> None:
    with pytest.raises(ValueError, match="offset"):
        composed(Composition(), date=datetime(2024, 1, 1, tzinfo=zone))


def test_a_message_id_names_the_senders_domain() -> None:
    assert make_message_id("a@mail.example.org", "z" * 16) == f"<{'z' * 16}@mail.example.org>"
    for address, token in (("a@example.org", "short"), ("a@example.org", "x" * 15 + "\n"), ("a", "z" * 16)):
        with pytest.raises(ValueError, match="message id"):
            make_message_id(address, token)
    with pytest.raises(ValueError, match="message id"):
        compose(Composition(), sender=From(), message_id="<a@b>\r\nBcc: x@y", date=DATE, keep_bcc=False)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("", OWNER),
        (OWNER, f'"{OWNER}" <{OWNER}>'),
        ("The Owner", f"The Owner <{OWNER}>"),
        ("Owner, The", f'"Owner, The" <{OWNER}>'),
        ('The "Boss"\\', f'"The \\"Boss\\"\\\\" <{OWNER}>'),
        ("Jürgen", f"=?utf-8?q?J=C3=BCrgen?= <{OWNER}>"),
        ("=?utf-8?q?x?=", f"=?utf-8?b?PT91dGYtOD9xP3g/PQ==?= <{OWNER}>"),
        ("other@example.net", f'"other@example.net" <{OWNER}>'),
    ],
)
def test_the_senders_name_stands_beside_the_address(name: str, written: str) -> None:
    message = composed(Composition(), sender=From(name))
    assert field(message, "From") == written
    (parsed,) = second_opinion(message)["From"].addresses
    assert (parsed.display_name, parsed.addr_spec) == (name, OWNER)


@pytest.mark.parametrize("name", ["Jürgen " * 60, "A, B " * 60, "名前" * 90, "name " * 40, "x" * 300, '"' * 40])
def test_a_long_name_is_folded(name: str) -> None:
    message = composed(Composition(), sender=From(name))
    assert max(map(len, message.data.split(b"\r\n"))) <= 78
    assert len(read_back(message).headers.from_) == 1


@pytest.mark.parametrize(
    ("subject", "written"),
    [
        ("Lunch?", "Lunch?"),
        ("Grüße vom Meer", "=?utf-8?q?Gr=C3=BC=C3=9Fe_vom_Meer?="),
        ("日本語", "=?utf-8?b?5pel5pys6Kqe?="),
        ("=?utf-8?q?a=0D=0ABcc:_x@y.z?=", "=?utf-8?b?PT91dGYtOD9xP2E9MEQ9MEFCY2M6X3hAeS56Pz0=?="),
        (" leading", "=?utf-8?q?_leading?="),
        ("two  blanks", "=?utf-8?q?two__blanks?="),
    ],
)
def test_a_subject_is_written_as_plainly_as_is_safe(subject: str, written: str) -> None:
    message = composed(Composition(subject=subject))
    assert field(message, "Subject") == written
    assert second_opinion(message)["Subject"] == subject


@pytest.mark.parametrize(
    "subject", ["word " * 102 + "x", "w" * 512, "ü" * 256, "👩‍👩‍👧" * 28, "a" + "€" * 170, "שלום " * 50]
)
def test_a_long_subject_is_folded_between_whole_characters(subject: str) -> None:
    message = composed(Composition(subject=subject))
    lines = message.data.partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert max(map(len, lines)) <= 76
    assert not any(line.isspace() for line in lines)
    assert second_opinion(message)["Subject"] == subject


def test_fifty_long_recipients_are_folded() -> None:
    long = tuple(f"{'l' * 60}{number}@{'d' * 60}.{'e' * 60}.{'f' * 60}.{'g' * 60}" for number in range(10, 60))
    message = composed(Composition(to=long))
    assert max(map(len, message.data.split(b"\r\n"))) <= 998
    assert read_back(message).headers.to == long


def test_many_references_are_folded() -> None:
    ids = tuple(f"<{'i' * 60}{number}@example.org>" for number in range(90))
    assert read_back(composed(Composition(references=ids))).headers.references[:1] == ids[:1]
    assert second_opinion(composed(Composition(references=ids)))["References"].split() == list(ids)


def test_the_largest_text_and_the_largest_attachment() -> None:
    composed(Composition(text="ü" * (TEXT_WRITE_BYTES_MAX // 2)))
    composed(Composition(text="\n" * TEXT_WRITE_BYTES_MAX))
    composed(Composition(text=". " * (TEXT_WRITE_BYTES_MAX // 2)))
    message = composed(Composition(text="x", attachments=(upload(data=bytes(UPLOAD_BYTES_MAX)),)))
    assert message.size < COMPOSED_BYTES_MAX


def test_a_message_larger_than_can_be_read_back_is_refused() -> None:
    with pytest.raises(LimitExceeded, match=r"larger than 5 MiB: `message\.text` and `message\.attachments`"):
        composed(Composition(text="x" * TEXT_WRITE_BYTES_MAX, attachments=(upload(data=bytes(UPLOAD_BYTES_MAX)),)))


def test_twenty_attachments_come_back_in_order() -> None:
    uploads = tuple(upload(f"file {number}.txt", "text/plain", b"%d" % number) for number in range(20))
    message = composed(Composition(text="hello", attachments=uploads))
    assert [(one.index, one.filename, one.size) for one in read_back(message).attachments] == [
        (number + 1, f"file {number}.txt", len(str(number))) for number in range(20)
    ]
    assert [
        (one.get_filename(), one.get_payload(decode=True)) for one in second_opinion(message).iter_attachments()
    ] == [(one.filename, one.data) for one in uploads]


@pytest.mark.parametrize(
    ("name", "stand_in"),
    [
        ("Rechnung_März.pdf", "Rechnung_M_rz.pdf"),
        ("отчёт.docx", "attachment.docx"),
        ("日本語", "attachment"),
        ("👩‍👩‍👧" * 40, "attachment"),
        ("a; filename=b.exe", "a_filename_b.exe"),
        ('say "hi".txt', "say_hi.txt"),
        ("100%.txt", "100.txt"),
        (" x.txt", "x.txt"),
        ("=?utf-8?q?x?=.txt", "utf-8_q_x.txt"),
        ("n" * 150 + ".tar.gz", "n" * 40 + ".gz"),
        ("\u202egpj.exe", "gpj.exe"),
        ("a*b'c.txt", "a_b_c.txt"),
        (".profile", "attachment.profile"),
    ],
)
def test_an_unusual_file_name_is_kept_exactly_with_a_plain_stand_in(name: str, stand_in: str) -> None:
    message = composed(Composition(attachments=(upload(name, "application/x"),)))
    assert max(map(len, message.data.split(b"\r\n"))) <= 76
    if name == ".profile":
        assert b'filename=".profile"' in message.data
        return
    assert f'name="{stand_in}"'.encode() in message.data
    (attachment,) = second_opinion(message).iter_attachments()
    # The standard library takes outer blanks for decoration.
    assert attachment.get_filename() == name.strip()


@pytest.mark.parametrize(
    "text",
    [
        ".\n",
        "..\n.x\n",
        "a\n.\nb\n",
        "From me\n>From you\n",
        "trailing \t \nblanks\t\n \n",
        "-- \nsignature\n",
        "--=_" + "0" * 32 + "\n",
        "x" * 5000,
        ("word " * 400 + "\n") * 3,
        ". " * 400,
        "x" * 72 + ".From here\n",
        ("x" * 71 + "=" + "." * 80 + "From " * 60),
        "= =3D =\n=",
        "日本語\n" * 100,
        "QUIT\r\nMAIL FROM:<x@y>\r\nDATA\r\n.\r\n",
    ],
)
def test_text_comes_back_and_no_line_means_anything_on_the_way(text: str) -> None:
    asked = Composition(text=text, attachments=(upload(),))
    for message in (composed(asked), composed(Composition(text=text))):
        lines = message.data.split(b"\r\n")
        assert max(map(len, lines)) <= 78
        assert not any(line.startswith((b".", b"From ")) or line.endswith((b" ", b"\t")) for line in lines)
        body = second_opinion(message).get_body()
        assert body is not None
        payload = body.get_payload(decode=True)
        assert isinstance(payload, bytes)
        assert payload.decode().replace("\r\n", "\n").rstrip("\n") == asked.text.rstrip("\n")


def test_short_ascii_text_needs_no_encoding() -> None:
    message = composed(Composition(text="a line of 78\n" + "x" * 78 + "\n\n\ttab"))
    assert field(message, "Content-Transfer-Encoding") == "7bit"
    assert "format" not in field(message, "Content-Type")


def test_a_composed_message_is_fixed_and_shows_no_content() -> None:
    message = composed(Composition(text="secret"))
    assert "secret" not in repr(message)
    with pytest.raises(FrozenInstanceError):
        message.data = b""  # type: ignore[misc]
