"""Plays every file of tests/dialogues/*.smtp: what a server does at each stage, and what must be said about it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from mailgate.errors import StoreUnavailable
from mailgate.imap.endpoint import Credentials, Security
from mailgate.send.record import Envelope
from mailgate.send.smtp import SmtpEndpoint
from mailgate.send.submission import Accepted, NotSent, Rejected, Submission, Unknown
from mailgate.send.submit import SmtpSubmitter
from tests.peers.authority import authority
from tests.peers.scripted_smtp import ScriptedSmtp, SmtpDialogue, load_smtp_dialogue

DIALOGUES = sorted((Path(__file__).parent.parent / "dialogues").glob("*.smtp"))
MESSAGE = b"Subject: x\r\n\r\n.\r\n..two\r\nline\r\n.\r\n"


def message_of(given: dict[str, Any]) -> bytes:
    return MESSAGE + (b"0123456789" * 6 + b"\r\n") * (int(given.get("size", 0)) // 62)


def submitter_for(given: dict[str, Any], port: int) -> SmtpSubmitter:
    security = Security(given.get("security", "plaintext"))
    ca_file = None if security is Security.PLAINTEXT else authority().ca_file
    return SmtpSubmitter(
        SmtpEndpoint("127.0.0.1", port, security, ca_file),
        Credentials(given.get("username", "user"), given.get("password", "secret")),
        command_seconds=given.get("seconds", 5.0),
        farewell_seconds=0.3,
    )


def begin_of(given: dict[str, Any], begun: list[bool]) -> Callable[[], Awaitable[bool]]:
    async def begin() -> bool:
        begun.append(True)
        if given.get("begin") == "unavailable":
            raise StoreUnavailable
        return bool(given.get("begin", True))

    return begin


def plain(submission: Submission) -> dict[str, Any]:
    match submission:
        case Accepted(reply):
            return {"outcome": "accepted", "code": reply.code, "enhanced": reply.enhanced}
        case Rejected(stage, reply, refused):
            listed = [[each.address, each.code] for each in refused]
            said = {"code": reply.code, "enhanced": reply.enhanced}
            return {"outcome": "rejected", "stage": stage.value, "refused": listed} | said
        case NotSent(stage, reason):
            return {"outcome": "not_sent", "stage": stage.value, "reason": reason}
        case Unknown(stage, reason):
            return {"outcome": "unknown", "stage": stage.value, "reason": reason}


async def submitted(dialogue: SmtpDialogue, peer: ScriptedSmtp, begun: list[bool]) -> dict[str, Any]:
    given = dialogue.given
    submitter = submitter_for(given, peer.port)
    envelope = Envelope("me@example.com", tuple(given.get("to", ["a@example.org"])), (), tuple(given.get("bcc", [])))
    deadline = asyncio.get_running_loop().time() + given.get("deadline", 5.0)
    try:
        begin = begin_of(given, begun)
        return plain(await submitter.submit(envelope, peer.message, begin=begin, deadline=deadline))
    except StoreUnavailable as error:
        return {"outcome": "raised", "reason": error.code}
    finally:
        await submitter.aclose()


@pytest.mark.parametrize("path", DIALOGUES, ids=lambda path: path.stem)
async def test_dialogue(path: Path) -> None:
    dialogue = load_smtp_dialogue(path)
    tls = dialogue.given.get("security") == "tls"
    begun: list[bool] = []
    async with ScriptedSmtp([dialogue.steps], tls=tls, message=message_of(dialogue.given)) as peer:
        actual = await submitted(dialogue, peer, begun)
        await peer.done()
        actual |= {"dots": peer.dots, "begun": len(begun), "said": [word.decode() for word in peer.said]}
        assert {key: actual.get(key) for key in dialogue.expected} == dialogue.expected, peer.problems
        assert peer.problems == []
        assert peer.accepted == 1
        # Whatever happens: nothing is accepted that was not begun, and what arrived whole is never "not sent".
        assert actual["outcome"] != "accepted" or (begun and peer.dots == 1)
        assert actual["outcome"] not in ("not_sent", "raised") or peer.dots == 0


def test_every_dialogue_says_what_it_shows_in_words() -> None:
    assert len(DIALOGUES) > 40
    for path in DIALOGUES:
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert first.startswith("# "), path.name
        assert ": " not in first[2:].split(" ")[0], path.name
