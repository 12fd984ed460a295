"""Replies and forwards: the thread and the subject come from the source, and nothing else that it could choose."""

from __future__ import annotations

import pytest

from mailgate.errors import InvalidArgument, MessageNotFound, SourceTruncated, StaleReference
from mailgate.limits import REFERENCES_BYTES_MAX, REFERENCES_MAX, SOURCE_BYTES_MAX
from mailgate.mime.composition import Composition
from mailgate.mime.threading import forward_subject, reply_subject, thread_of
from mailgate.send.prepare import prepare_forward, prepare_reply
from mailgate.send.replying import FORWARDED, Answering, forward, reply
from tests.read.fakes import FakeMessage
from tests.send.fakes import OWNER, flow
from tests.write.fakes import WritableFakeMailbox, mailbox, reference

ASKED = Composition(to=("ann@example.com",), text="My words.")
SOURCE = (
    b"From: Ann Other <ann@example.com>\r\nTo: owner@example.org\r\nCc: c@example.com\r\nBcc: hidden@example.com\r\n"
    b"Reply-To: elsewhere@example.net\r\nSubject: Plans\r\nDate: Thu, 1 Feb 2024 11:59:58 +0000\r\n"
    b"Message-ID: <3@example.com>\r\nReferences: <1@example.com>\r\n <2@example.com>\r\n"
    b"In-Reply-To: <2@example.com>\r\n"
)
PLAIN = SOURCE + b"\r\nTheir words.\r\nTwo lines.\r\n"
WITH_FILE = (
    SOURCE + b'MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="b"\r\n\r\n'
    b"--b\r\nContent-Type: text/plain\r\n\r\nTheir words.\r\n"
    b'--b\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename="secret.csv"\r\n\r\n1,2\r\n--b--\r\n'
)


def box(source: bytes) -> WritableFakeMailbox:
    return mailbox(FakeMessage(source=source))


def codes(answering: Answering) -> list[str]:
    return [warning.code for warning in answering.warnings]


# --- replies -----------------------------------------------------------------------------------------------------


async def test_a_reply_continues_the_thread_and_takes_nothing_else() -> None:
    made = await reply(box(PLAIN), reference(), ASKED)
    composition = made.composition
    assert composition.in_reply_to == "<3@example.com>"
    assert composition.references == ("<1@example.com>", "<2@example.com>", "<3@example.com>")
    assert (composition.to, composition.cc, composition.bcc) == (("ann@example.com",), (), ())
    assert (composition.subject, composition.text) == ("Re: Plans", "My words.")
    assert made.warnings == ()


async def test_a_subject_of_its_own_stays() -> None:
    asked = Composition(to=("a@example.com",), subject="Another matter")
    assert (await reply(box(PLAIN), reference(), asked)).composition.subject == "Another matter"
    assert (await forward(box(PLAIN), reference(), asked)).composition.subject == "Another matter"


async def test_a_thread_of_the_callers_is_not_used_and_that_is_said() -> None:
    asked = Composition(to=("a@example.com",), in_reply_to="<9@example.com>", references=("<9@example.com>",))
    made = await reply(box(PLAIN), reference(), asked)
    assert made.composition.in_reply_to == "<3@example.com>"
    assert codes(made) == ["thread_replaced"]


async def test_a_source_without_a_usable_id_is_said() -> None:
    made = await reply(box(PLAIN.replace(b"<3@example.com>", b"<\xff 3>")), reference(), ASKED)
    assert made.composition.in_reply_to is None
    assert made.composition.references == ("<1@example.com>", "<2@example.com>")
    assert codes(made) == ["thread_incomplete"]


async def test_what_is_reviewed_is_in_the_message() -> None:
    at = flow()
    result = await prepare_reply(at.desk, box(PLAIN), reference(), ASKED, OWNER)
    assert result.content.subject == "Re: Plans"
    assert (result.content.to, result.content.cc, result.envelope.bcc) == (("ann@example.com",), (), ())


@pytest.mark.parametrize("prepare", [prepare_reply, prepare_forward])
async def test_recipients_are_never_taken_from_the_source(prepare: object) -> None:
    at, mails = flow(), box(PLAIN)
    with pytest.raises(InvalidArgument):
        await prepare(at.desk, mails, reference(), Composition(text="x"), OWNER)  # type: ignore[operator]
    assert (mails.inbox.calls, at.store.calls) == ([], [])


@pytest.mark.parametrize("answer", [reply, forward])
async def test_a_source_that_is_not_there_whole_is_refused(answer: object) -> None:
    large = SOURCE + b"\r\n" + b"x" * SOURCE_BYTES_MAX
    with pytest.raises(SourceTruncated):
        await answer(box(large), reference(), ASKED)  # type: ignore[operator]
    with pytest.raises(StaleReference):
        await answer(box(PLAIN), reference(uid_validity=8), ASKED)  # type: ignore[operator]
    with pytest.raises(MessageNotFound):
        await answer(box(PLAIN), reference(9), ASKED)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("head", "in_reply_to", "references"),
    [
        (b"Message-ID: <m@x>\r\n", "<m@x>", ("<m@x>",)),
        (b"Message-ID: <m@x>\r\nIn-Reply-To: <p@x>\r\n", "<m@x>", ("<p@x>", "<m@x>")),
        (b"Message-ID: <m@x>\r\nIn-Reply-To: <p@x> <q@x>\r\n", "<m@x>", ("<m@x>",)),
        (b"Message-ID: <m@x>\r\nReferences: <m@x> <a@x> <a@x>\r\n", "<m@x>", ("<a@x>", "<m@x>")),
        (b"References: <a@x>\r\n", None, ("<a@x>",)),
        (b"Message-ID: <m@x> <n@x>\r\n", "<m@x>", ("<m@x>",)),
        (b"Message-ID: no brackets\r\n", None, ()),
        (b"Subject: <m@x>\r\n", None, ()),
        (b"Message-ID: <m@x>\r\nReferences: <a@x>\r\n\tcomment <b@x>\r\n", "<m@x>", ("<a@x>", "<b@x>", "<m@x>")),
    ],
)
def test_a_thread_is_made_from_the_sources_fields(
    head: bytes, in_reply_to: str | None, references: tuple[str, ...]
) -> None:
    thread = thread_of(head + b"\r\n<body@x>\r\n")
    assert (thread.in_reply_to, thread.references) == (in_reply_to, references)


def test_of_a_long_thread_the_first_and_the_latest_stay() -> None:
    chain = " ".join(f"<{number}.{'x' * 60}@example.com>" for number in range(1000))
    thread = thread_of(f"Message-ID: <m@x>\r\nReferences: {chain}\r\n\r\n".encode())
    assert thread.references[0].startswith("<0.")
    assert thread.references[-2].startswith("<999.")
    assert thread.references[-1] == "<m@x>"
    assert len(thread.references) <= REFERENCES_MAX
    assert sum(map(len, thread.references)) <= REFERENCES_BYTES_MAX
    Composition(references=thread.references)


# --- subjects ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Plans", "Re: Plans"),
        ("Re: Plans", "Re: Plans"),
        ("RE : re: Re:Plans", "Re: Plans"),
        ("AW: SV: Odp: Plans", "Re: Plans"),
        ("Re[2]: Plans", "Re: Plans"),
        ("Re (3): Plans", "Re: Plans"),
        ("回复：计划", "Re: 计划"),
        ("Ответ: План", "Re: План"),
        ("[list] Re: [list] Plans", "Re: [list] Plans"),
        ("Fwd: Re: Plans", "Re: Fwd: Plans"),
        ("Report: Plans", "Re: Report: Plans"),
        ("Reply", "Re: Reply"),
        ("", "Re:"),
        ("Re:", "Re:"),
        ("re" * 4000, "Re: " + ("re" * 4000)[:508]),
        ("Re: " * 4000 + "x", "Re: x"),
    ],
)
def test_re_stands_there_once_however_it_was_spelt(source: str, expected: str) -> None:
    taken = reply_subject(source)
    assert taken.text == expected
    assert taken.cut == (len(source) > 5000 and source.startswith("rere"))
    assert reply_subject(taken.text).text == expected
    Composition(subject=taken.text)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("Plans", "Fwd: Plans"),
        ("WG: FW: Plans", "Fwd: Plans"),
        ("Re: Plans", "Fwd: Re: Plans"),
        ("转发: 计划", "Fwd: 计划"),
    ],
)
def test_fwd_stands_there_once(source: str, expected: str) -> None:
    assert forward_subject(source).text == expected
    assert forward_subject(expected).text == expected


# --- forwards ----------------------------------------------------------------------------------------------------


async def test_a_forward_has_the_text_and_who_wrote_it_and_no_bcc() -> None:
    made = await forward(box(PLAIN), reference(), ASKED)
    own, _, quoted = made.composition.text.partition(FORWARDED)
    assert own == "My words.\n\n"
    assert quoted.splitlines()[1:6] == [
        "From: Ann Other <ann@example.com>",
        "Date: 2024-02-01T11:59:58+00:00",
        "Subject: Plans",
        "To: owner@example.org",
        "Cc: c@example.com",
    ]
    assert quoted.rstrip().endswith("\n\nTheir words.\nTwo lines.")
    assert "hidden@example.com" not in quoted
    assert made.composition.subject == "Fwd: Plans"
    assert (made.composition.in_reply_to, made.composition.references) == (None, ())
    assert made.warnings == ()


async def test_attachments_are_not_copied_and_that_is_said_without_their_names() -> None:
    made = await forward(box(WITH_FILE), reference(), ASKED)
    assert made.composition.attachments == ()
    assert codes(made) == ["attachments_not_copied"]
    assert "(1)" in made.warnings[0].sentence
    assert "secret" not in str(made.warnings)


async def test_what_was_hidden_in_the_source_is_not_forwarded_and_said() -> None:
    markup = b"<p>Shown</p><p style='display:none'>Hidden orders</p>\r\n"
    source = SOURCE + b"MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + markup
    made = await forward(box(source), reference(), ASKED)
    assert "Shown" in made.composition.text
    assert "Hidden" not in made.composition.text
    assert "hidden_text_removed" in codes(made)


async def test_a_text_that_is_cut_is_not_forwarded() -> None:
    long = SOURCE + b"\r\n" + b"word " * 60_000
    with pytest.raises(SourceTruncated):
        await forward(box(long), reference(), ASKED)
    assert (await reply(box(long), reference(), ASKED)).composition.subject == "Re: Plans"


async def test_a_hostile_source_makes_a_message_of_the_plainest_form() -> None:
    hostile = (
        b"From: =?utf-8?q?a=0D=0ABcc=3A_x=40evil.example?= <a@example.com>\r\n"
        b"Subject: =?utf-8?b?SGVsbG8NCkJjYzogZXZpbEBleGFtcGxlLmNvbQ==?= \xe2\x80\xaex\r\n"
        b"Message-ID: <a@b\x00c>\r\n\r\nFrom me\r\n.\r\nBcc: evil@example.com\r\n\x07\x1b[31m\xff\r\n"
    )
    at = flow()
    for prepare in (prepare_reply, prepare_forward):
        result = await prepare(at.desk, box(hostile), reference(), ASKED, OWNER)
        assert result.envelope.recipients == ("ann@example.com",)
        assert (result.content.to, result.content.cc) == (("ann@example.com",), ())
        assert "\n" not in result.content.subject
