"""The sample mail: deterministic, varied, kept and served byte for byte, and made of reserved names only."""

from __future__ import annotations

import email
import email.policy
import re
from datetime import datetime, timedelta
from email.message import EmailMessage, Message

import pytest

from mailgate.demo.mail.compose import Sample
from mailgate.demo.seed import samples, seed_mailbox
from tests.demo.raw_client import NOW, serving

ALL = samples(NOW)
RESERVED = re.compile(r"(?:^|\.)(?:example\.(?:com|org|net)|example|test)$")


def subject_of(sample: Sample) -> str:
    found = re.search(rb"^Subject: ([^\r]*)", sample.raw, re.M)
    return f"{sample.folder}: {found.group(1).decode('latin-1') if found else sample.raw[:20]!r}"


def payload_of(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


every_sample = pytest.mark.parametrize("sample", ALL, ids=subject_of)


def test_there_are_enough_of_them_in_every_folder() -> None:
    mailbox = seed_mailbox(NOW)
    counts = {name: len(folder.messages) for name, folder in mailbox.folders.items()}
    assert sum(counts.values()) == len(ALL) >= 60
    assert all(counts[name] for name, folder in mailbox.folders.items() if folder.selectable)
    assert {
        "INBOX",
        "Drafts",
        "Sent",
        "Trash",
        "Junk",
        "Archive",
        "Projects/Aurora",
        "Réunions & Budget",
        "日本語",
    } <= set(counts)
    assert not mailbox.folder("Projects").selectable


def test_the_same_reference_date_gives_the_same_mailbox() -> None:
    assert samples(NOW) == ALL
    one, two = seed_mailbox(NOW), seed_mailbox(NOW)
    assert {name: vars(folder) for name, folder in one.folders.items()} == {
        name: vars(folder) for name, folder in two.folders.items()
    }


def test_another_reference_date_moves_them_all() -> None:
    later = samples(NOW + timedelta(days=1))
    assert [sample.arrived + timedelta(days=1) for sample in ALL] == [sample.arrived for sample in later]
    assert max(sample.arrived for sample in ALL) < NOW


def test_a_reference_date_without_offset_is_refused() -> None:
    with pytest.raises(ValueError, match="offset"):
        samples(datetime(2026, 7, 1))  # noqa: DTZ001


def test_flags_vary() -> None:
    flags = [set(sample.flags) for sample in ALL if sample.folder == "INBOX"]
    for flag in ("\\Seen", "\\Flagged", "\\Answered", "$Forwarded"):
        assert any(flag in some for some in flags), flag
    assert sum("\\Seen" not in some for some in flags) > 10


@every_sample
def test_only_crlf_ends_a_line(sample: Sample) -> None:
    assert not re.search(rb"(?<!\r)\n|\r(?!\n)|\0", sample.raw)


@every_sample
def test_addresses_and_links_are_of_reserved_domains(sample: Sample) -> None:
    parsed = email.message_from_bytes(sample.raw)
    texts = [sample.raw.decode("latin-1")]
    texts += [payload_of(part).decode("latin-1") for part in parsed.walk() if not part.is_multipart()]
    for text in texts:
        for host in re.findall(r"@([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)|https?://([A-Za-z0-9.-]+)", text):
            assert RESERVED.search("".join(host).rstrip(".")), host


@every_sample
def test_the_standard_library_reads_it(sample: Sample) -> None:
    message = email.message_from_bytes(sample.raw, policy=email.policy.compat32)
    assert [part.get_content_type() for part in message.walk()]
    for part in message.walk():
        part.get_payload(decode=True)


def parsed(name: str) -> EmailMessage:
    """The sample of that Message-ID, by the standard library's modern parser."""
    raw = next(
        one.raw for one in ALL if f"Message-ID: <{name}@example.org>".encode() in one.raw.partition(b"\r\n\r\n")[0]
    )
    return email.message_from_bytes(raw, policy=email.policy.default)


@pytest.mark.parametrize(
    ("name", "charset", "words"),
    [
        ("ja-1", "iso-2022-jp", "東京駅の近く"),
        ("ru-1", "koi8-r", "расписание поездов"),
        ("zh-1", "gb2312", "日程安排"),
        ("zh-2", "big5", "訂單已經出貨"),
        ("ko-1", "euc-kr", "확인 부탁드립니다"),
        ("he-1", "windows-1255", "תודה רבה"),
        ("charset-3", "utf-16", "Ωmega"),
        ("de-1", "iso-8859-1", "Größere Änderungen"),
    ],
)
def test_each_charset_decodes_to_what_its_author_wrote(name: str, charset: str, words: str) -> None:
    message = parsed(name)
    assert message.get_content_charset() == charset
    assert words in message.get_content()


@pytest.mark.parametrize(
    ("name", "subject"),
    [
        ("de-1", "Grüße aus Zürich"),
        ("ja-1", "来週の会議について"),
        ("zh-1", "日程安排"),
        ("ru-1", "Расписание поездов"),
        ("charset-5", "Ein Zeichen in zwei Hälften: Übergröße"),
        ("own-1", "Re: Grüße aus Zürich"),
    ],
)
def test_each_encoded_subject_decodes_to_what_its_author_wrote(name: str, subject: str) -> None:
    assert str(parsed(name)["subject"]) == subject


def test_attachments_carry_their_names() -> None:
    names = [part.get_filename() for part in parsed("names-1").iter_attachments()]
    assert names == ["Protokoll Grünhänger.txt", "写真.png"]
    pdf = next(iter(parsed("report-1").iter_attachments())).get_content()
    assert pdf.startswith(b"%PDF-1.4")
    table = int(pdf.rsplit(b"startxref\n", 1)[1].split(b"\n")[0])
    assert pdf[table:].startswith(b"xref\n0 6\n")


def test_the_kinds_of_mail_that_were_promised_are_there() -> None:
    structures = {part.get_content_type() for one in ALL for part in email.message_from_bytes(one.raw).walk()}
    assert {
        *("text/calendar", "message/rfc822", "message/delivery-status", "multipart/related", "multipart/digest"),
        *("multipart/report", "application/pdf", "image/png", "text/csv", "text/html"),
    } <= structures
    assert any(290_000 < len(one.raw) < 400_000 for one in ALL)
    heads = [one.raw.partition(b"\r\n\r\n")[0] for one in ALL]
    for field in (b"From:", b"Date:", b"Subject:", b"Message-ID:"):
        assert any(field not in head for head in heads), field
    assert any(not head.isascii() for head in heads)
    assert any(b"format=flowed" in head for head in heads)
    assert any(b"Ignore previous instructions" in one.raw for one in ALL)


async def test_every_sample_is_served_byte_for_byte_by_section_size_and_in_pieces() -> None:
    mailbox = seed_mailbox(NOW)
    async with serving(mailbox) as peer:
        client = await peer.connect(b"")
        rows = (await client.do(b'LIST "" *')).rows
        for folder, row in zip(mailbox.folders.values(), rows, strict=True):
            assert (await client.do(b"EXAMINE " + row.partition(b' "/" ')[2])).ok is folder.selectable
            for message in folder.messages.values():
                fetched = await client.do(b"UID FETCH %d (RFC822.SIZE BODY.PEEK[] BODY.PEEK[]<20.70>)" % message.uid)
                size = len(message.raw)
                assert b"RFC822.SIZE %d BODY[] {%d}\r\n%b BODY[]<20> " % (size, size, message.raw) in fetched.rows[0]
                assert fetched.rows[0].endswith(message.raw[20:90] + b")")
