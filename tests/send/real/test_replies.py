"""Every kind of reply at every step of the submission, from the tool to the record that a repeat is told.

`tests/dialogues` shows what one attempt makes of each; here a wrong digest comes first, and a service of its own,
as after a restart, is asked last.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.contract.deployment import Deployment, Result, demo_server, deployed, mailbox_with
from tests.peers.scripted_smtp import ScriptedSmtp, parse_smtp_dialogue

TO = ("ann@example.com", "bob@example.com")


@dataclass(frozen=True)
class Stage:
    """Where the odd reply comes: the script up to it, the script after it when all is well, and what ends it."""

    name: str
    before: str
    after: str
    proceeds: str
    """The code that lets the client go on."""


STAGES = (
    Stage("MAIL", "@hello -\nC: MAIL FROM:<...", "@rcpt\n@rcpt\n@data\nC-message\nS: 250 ok", "250"),
    Stage("RCPT", "@hello -\n@mail\n@rcpt\nC: RCPT TO:<bob...", "@data\nC-message\nS: 250 ok", "250"),
    Stage("DATA", "@hello -\n@mail\n@rcpt\n@rcpt\nC: DATA", "C-message\nS: 250 ok", "354"),
    Stage("dot", "@hello -\n@mail\n@rcpt\n@rcpt\n@data\nC-message", "", "250"),
)
REPLIES = {
    "421": "S: 421 4.3.2 closing",
    "450": "S: 450 4.2.0 later",
    "451": "S: 451 4.7.1 later",
    "452": "S: 452 4.2.2 full",
    "550": "S: 550 5.1.1 no",
    "552": "S: 552 5.3.4 too large",
    "554": "S: 554 5.7.1 no",
    "several lines of 550": "S: 550-no\nS: 550-and no\nS: 550 again",
    "250": "S: 250 2.0.0 ok",
    "251": "S: 251 will forward",
    "252": "S: 252 2.1.5 may be",
    "several lines of 250": "S: 250-ok\nS: 250 ok",
    "354": "S: 354 go on",
    "unfinished, then closed": "S: {proceeds}-ok\nS-close",
    "half a line, then closed": "S-raw: {proceeds} o\nS-close",
    "yes and no in one reply": "S: {proceeds}-ok\nS: 550 no",
    "no and yes in one reply": "S: 550-no\nS: {proceeds} ok",
    "silence": "S-stall",
    "reset": "S-cut",
    "closed": "S-close",
    "garbage": "S: welcome",
    "four digits": "S: 2500 ok",
}
NOT_SENT, REJECTED, ACCEPTED, UNKNOWN = "not_sent", "rejected", "accepted", "unknown"
REFUSED, GONE, ODD, LATE = "upstream_refused", "upstream_unavailable", "upstream_protocol_error", "upstream_timeout"
ENDS = {
    "silence": LATE,
    "reset": GONE,
    "closed": GONE,
    "unfinished, then closed": GONE,
    "half a line, then closed": GONE,
}


def expected(stage: Stage, reply: str) -> tuple[str, str | None]:
    """Status and reason, from what RFC 5321 says and not from the product."""
    code = re.search(r"\d{3}", reply)
    refused = code is not None and code[0][0] in "45"
    welcome = code is not None and (code[0][0] == "2") == (stage.name != "DATA") and code[0][0] in "23"
    if reply in ENDS:
        return (UNKNOWN if stage.name == "dot" else NOT_SENT), ENDS[reply]
    if refused and stage.name == "MAIL":
        return NOT_SENT, GONE if reply == "421" else REFUSED
    if refused:
        return REJECTED, REFUSED
    if welcome:
        return ACCEPTED, None
    # What is no reply, or one to another question.
    return (UNKNOWN if stage.name == "dot" else NOT_SENT), ODD


CASES = [
    pytest.param(stage, reply, id=f"{stage.name}-{reply.replace(' ', '_')}") for stage in STAGES for reply in REPLIES
]


def confirmation(review: Result, **changes: object) -> Result:
    named = {"prepared_id": review["prepared_id"], "confirmed_digest": review["digest"], "append_sent": False}
    return {**named, **changes}


async def prepared(box: Deployment) -> Result:
    message = {"to": [TO[0]], "bcc": [TO[1]], "subject": "S", "text": "One.\n.\nTwo."}
    return await box.ok("mail_prepare_send", {"message": message})


@pytest.mark.requirement("SC1", "SC2", "SC3", "SC4", "SC5")
@pytest.mark.parametrize(("stage", "reply"), CASES)
async def test_the_status_is_true_and_a_repeat_is_told_the_same(stage: Stage, reply: str, tmp_path: Path) -> None:
    status, reason = expected(stage, reply)
    goes_on = status == ACCEPTED
    said = REPLIES[reply].format(proceeds=stage.proceeds)
    script = "\n".join([stage.before, said, *([stage.after] if goes_on else [])])
    steps = parse_smtp_dialogue("# expect: {}\n" + script).steps
    async with demo_server(mailbox_with()) as (imap_port, _), ScriptedSmtp([steps]) as peer:
        variables = {
            "MAIL_ENABLE_SEND": "1",
            "MAIL_FROM": "owner@example.org",
            "MAIL_SMTP_HOST": "127.0.0.1",
            "MAIL_SMTP_PORT": str(peer.port),
            "MAIL_SMTP_SECURITY": "plaintext",
            "MAIL_STORE": f"sqlite:{tmp_path / 'send.sqlite3'}",
            "MAIL_SEND_DEADLINE_SECONDS": "1" if reply == "silence" else "30",
        }
        async with deployed(imap_port, **variables) as box:
            review = await prepared(box)
            wrong = confirmation(review, confirmed_digest="0" * 64)
            await box.fails("digest_mismatch", "mail_send_confirmed", wrong)
            assert peer.accepted == 0
            report = await box.ok("mail_send_confirmed", confirmation(review))
            await box.fails("digest_mismatch", "mail_send_confirmed", wrong)
        assert (report["status"], report.get("reason")) == (status, reason), peer.problems
        async with deployed(imap_port, **variables) as restarted:
            assert await restarted.ok("mail_send_confirmed", confirmation(review)) == report
        await peer.done()
    assert peer.accepted == 1
    assert peer.dots == (1 if stage.name == "dot" or goes_on else 0)
    assert [len(body) for body in peer.bodies] == [review["size"]] * peer.dots
    told = [(refused["address"], refused["code"]) for refused in report["refused"]]
    assert told == ([(TO[1], int(reply[-3:]))] if stage.name == "RCPT" and status == REJECTED else [])
    assert report["message_id"] == review["message_id"]
    assert [warning.partition(":")[0] for warning in report["warnings"]] == ["look_first"] * (status == UNKNOWN)
