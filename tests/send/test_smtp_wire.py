"""What arrives at a real SMTP server, for hundreds of compositions: those octets, for those people and nobody else."""

from __future__ import annotations

import asyncio
import random
from email import message_from_bytes

import pytest

from mailgate.imap.endpoint import Credentials, Security
from mailgate.mime.compose import compose, make_message_id
from mailgate.mime.composition import AttachmentUpload, Composition
from mailgate.send.record import Envelope
from mailgate.send.smtp import SmtpEndpoint
from mailgate.send.submission import Accepted, NotSent, SubmissionStage
from mailgate.send.submit import SmtpSubmitter
from tests.mime.composing import DATE, From
from tests.peers.authority import authority
from tests.peers.scripted_smtp import ScriptedSmtp, parse_smtp_dialogue
from tests.peers.smtp_sink import PASSWORD, USERNAME, SmtpSink, TakenMail

PIECES = [
    ".",
    "..",
    "\n.\n",
    "\r\n.\r\n",
    "\r.\r",
    "\n..\n",
    "\nQUIT\n",
    "\nMAIL FROM:<x@example.net>\nRCPT TO:<x@example.net>\nDATA\n",
    "From me",
    "=0D=0A.",
    "x" * 2000,
    "é" * 500,
    "日本語",
    " ",
    "\t",
    "\n",
    "Bcc: x@example.net\n",
    "word " * 40,
    "\u2028",
]


def composition_of(random_: random.Random) -> Composition:
    """Anything that may be asked, with a liking for what ends a message or a line somewhere."""
    people = [f"{name}@example.{ending}" for name in ("a", "b.c", "x+y", "o'n") for ending in ("org", "net", "com")]
    random_.shuffle(people)
    cut, end = sorted(random_.sample(range(1, len(people)), 2))
    uploads = [
        AttachmentUpload(f"{index}.bin", "application/octet-stream", random_.randbytes(random_.choice([0, 1, 57, 900])))
        for index in range(random_.choice([0, 0, 1, 3]))
    ]
    if random_.random() < 0.3:
        uploads.append(AttachmentUpload("dots.txt", "text/plain", b".\r\n..\n\r.\r\n" * random_.randrange(1, 9)))
    return Composition(
        to=tuple(people[:cut]) if random_.random() < 0.8 else (),
        cc=tuple(people[cut:end]) if random_.random() < 0.5 else (),
        bcc=tuple(people[end:]),
        subject="".join(random_.choices([".", "x", "é", "=?utf-8?q?x?=", " ", "Bcc: "], k=random_.randrange(20))),
        text="".join(random_.choices(PIECES, k=random_.randrange(12))),
        attachments=tuple(uploads),
    )


def composed(random_: random.Random, number: int) -> tuple[Envelope, bytes]:
    asked = composition_of(random_)
    message_id = make_message_id("owner@example.org", f"{number:016d}")
    message = compose(asked, sender=From(), message_id=message_id, date=DATE, keep_bcc=False)
    return Envelope("owner@example.org", asked.to, asked.cc, asked.bcc), message.data


def submitter_to(sink: SmtpSink, *, password: str = PASSWORD) -> SmtpSubmitter:
    endpoint = SmtpEndpoint("127.0.0.1", sink.port, sink.security, authority().ca_file)
    return SmtpSubmitter(endpoint, Credentials(USERNAME, password), farewell_seconds=1)


async def leave_given() -> bool:
    return True


@pytest.mark.parametrize("seed", range(10))
async def test_what_arrives_is_what_was_composed_for_whom_it_was_composed(seed: int) -> None:
    random_ = random.Random(seed)
    security = Security.TLS if seed % 2 else Security.STARTTLS
    sent = [composed(random_, number) for number in range(30)]
    async with SmtpSink(security) as sink:
        submitter = submitter_to(sink)
        deadline = asyncio.get_running_loop().time() + 60
        for envelope, message in sent:
            outcome = await submitter.submit(envelope, message, begin=leave_given, deadline=deadline)
            assert isinstance(outcome, Accepted)
        await submitter.aclose()
    assert sink.taken == [TakenMail(envelope.sender, envelope.recipients, message) for envelope, message in sent]
    assert sink.logins == len(sent)
    for _, message in sent:
        assert not {"bcc", "resent-bcc"} & {name.lower() for name in message_from_bytes(message).keys()}  # noqa: SIM118


async def test_any_octets_in_lines_arrive_as_they_are() -> None:
    """Beyond what is ever composed: every way a dot can stand."""
    random_ = random.Random(0)
    script = parse_smtp_dialogue("# expect: {}\n@hello -\n@mail\n@rcpt\n@data\nC-message\nS: 250 ok").steps
    messages = [b"".join(random_.choices([b".", b"\r\n", b"a", b"\r\n."], k=20)) + b"\r\n" for _ in range(200)]
    async with ScriptedSmtp([script] * len(messages)) as peer:
        submitter = SmtpSubmitter(SmtpEndpoint("127.0.0.1", peer.port, Security.PLAINTEXT), Credentials("u", "p"))
        deadline = asyncio.get_running_loop().time() + 60
        for message in messages:
            envelope = Envelope("a@example.org", ("b@example.org",))
            await submitter.submit(envelope, message, begin=leave_given, deadline=deadline)
        await submitter.aclose()
        assert peer.problems == []
        assert peer.bodies == messages


async def test_the_real_server_refuses_a_wrong_password_once() -> None:
    async with SmtpSink() as sink:
        submitter = submitter_to(sink, password="wrong")
        envelope, message = composed(random.Random(1), 1)
        deadline = asyncio.get_running_loop().time() + 10
        outcome = await submitter.submit(envelope, message, begin=leave_given, deadline=deadline)
        await submitter.aclose()
    assert outcome == NotSent(SubmissionStage.AUTH, "upstream_auth_failed")
    assert (sink.logins, sink.taken) == (1, [])
