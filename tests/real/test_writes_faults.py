"""A server that has done what it was told while its answer is lost: unknown, done once, and the next call works."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.peers.dovecot import Dovecot, MailUser
from tests.peers.fault_proxy import Action, Conditions, Direction, Fault, FaultProxy, When
from tests.peers.processes import eventually
from tests.peers.rawlog import sent_since
from tests.real.letters import letter
from tests.real.tools import WRITER, Result, ToolFailed, Tools, refused, writing_settings_for


@dataclass(frozen=True)
class Change:
    """A call, the command that carries it out, and a piece of the answer that is lost."""

    tool: str
    command: str
    answer: bytes
    arguments: dict[str, Any] = field(default_factory=dict)
    takes_reference: bool = True


CHANGES = {
    "store": Change(
        "mail_set_flags", "UID STORE", b"OK Store completed", {"operation": "add", "flags": ["\\Seen", "Word"]}
    ),
    "copy": Change("mail_copy", "UID COPY", b"OK [COPYUID", {"destination": "Archive"}),
    "move": Change("mail_move", "UID MOVE", b"OK [COPYUID", {"destination": "Archive"}),
    "move, its end": Change("mail_move", "UID MOVE", b"OK Move completed", {"destination": "Archive"}),
    "trash": Change("mail_trash", "UID MOVE", b"OK Move completed"),
    "append": Change("mail_save_draft", "APPEND", b"OK [APPENDUID", {"message": {"subject": "Once"}}, False),
    "create": Change("mail_create_folder", "CREATE", b"OK Create completed", {"name": "New"}, False),
    "rename": Change("mail_rename_folder", "RENAME", b"OK Rename completed", {"old": "Work", "new": "Play"}, False),
    "mark": Change("mail_delete_permanently", "UID STORE", b"OK Store completed"),
    "expunge": Change("mail_delete_permanently", "UID EXPUNGE", b"OK Expunge completed"),
}
EACH = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
CHANGING = {
    "UID STORE",
    "UID COPY",
    "UID MOVE",
    "UID EXPUNGE",
    "APPEND",
    "CREATE",
    "RENAME",
    "DELETE",
    "EXPUNGE",
    "CLOSE",
}


@pytest.fixture
async def proxy(dovecot: Dovecot) -> AsyncIterator[FaultProxy]:
    async with FaultProxy(dovecot.plain_port) as proxy:
        yield proxy


@pytest.fixture
async def tools(mail_user: MailUser, proxy: FaultProxy) -> AsyncIterator[Tools]:
    """UIDs 1 to 3 in INBOX, the first marked by another client; a folder; a deadline of one second."""
    mail_user.create("Work")
    mail_user.append_all([bytes(letter(f"Number {number}")) for number in (1, 2, 3)])
    mail_user.mark(1, "\\Deleted", "\\Flagged")
    settings = writing_settings_for(mail_user, MAIL_IMAP_PORT=str(proxy.port), MAIL_UPSTREAM_TIMEOUT_SECONDS="1")
    made = Tools(settings, WRITER)
    yield made
    await made.aclose()


def done(change: Change, before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether the server has carried out exactly this, and nothing else."""
    one = before["INBOX"][2]
    rest = {uid: kept for uid, kept in before["INBOX"].items() if uid != 2}
    inbox = {**before, "INBOX": rest}
    match change.tool:
        case "mail_set_flags":
            kept = after["INBOX"][2]
            return kept.flags == {"\\Seen", "Word"} and {**after, "INBOX": {**after["INBOX"], 2: one}} == before
        case "mail_copy":
            return list(after["Archive"].values()) == [one] and {**after, "Archive": {}} == before
        case "mail_move":
            return list(after["Archive"].values()) == [one] and {**after, "Archive": {}} == inbox
        case "mail_trash":
            return list(after["Trash"].values()) == [one] and {**after, "Trash": {}} == inbox
        case "mail_save_draft":
            return len(after["Drafts"]) == 1 and {**after, "Drafts": {}} == before
        case "mail_create_folder":
            return bool(after == {**before, "New": {}})
        case "mail_rename_folder":
            return bool(after == {**{name: kept for name, kept in before.items() if name != "Work"}, "Play": {}})
        case _ if change.command == "UID EXPUNGE":
            return bool(after == inbox)
        case _:
            kept = after["INBOX"][2]
            return kept.flags == {"\\Deleted"} and {**after, "INBOX": {**after["INBOX"], 2: one}} == before


async def arguments_of(tools: Tools, change: Change) -> Result:
    """What to call with; the connection is a kept one from here on, which reading would replace without a word."""
    reference = await tools.reference(2)
    return {**({"reference": reference} if change.takes_reference else {}), **change.arguments}


@pytest.mark.requirement("W4", "W6", "WX4")
@EACH
@pytest.mark.parametrize("action", [Action.RESET, Action.CLOSE, Action.STALL], ids=lambda action: action.name.lower())
async def test_a_lost_answer_is_unknown_and_done_once(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy, change: Change, action: Action
) -> None:
    arguments = await arguments_of(tools, change)
    before, own = mail_user.everything(), mail_user.commands()
    proxy.conditions.faults = (Fault(Direction.DOWN, action, pattern=change.answer),)
    with refused("outcome_unknown") as failed:
        await tools.call(change.tool, **arguments)
    assert "may" in failed.value.text
    assert proxy.traffic.faults == 1
    proxy.conditions = Conditions()
    after = mail_user.everything()
    assert done(change, before, after)
    names = [command.name for command in sent_since(own, mail_user.commands()) if command.name in CHANGING]
    assert names == (["UID STORE"] if change.command == "UID EXPUNGE" else []) + [change.command]
    await the_next_calls_work(tools)
    assert mail_user.everything() == after


@pytest.mark.requirement("W6")
@EACH
async def test_a_command_that_never_arrived_is_unknown_too_and_not_sent_again(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy, change: Change
) -> None:
    arguments = await arguments_of(tools, change)
    before, own = mail_user.everything(), mail_user.commands()
    # An APPEND whose message never left is no doubt: it is refused before anything could have happened.
    pattern = b"Subject: Once" if change.command == "APPEND" else change.command.encode() + b" "
    proxy.conditions.faults = (Fault(Direction.UP, Action.RESET, pattern=pattern),)
    with refused("outcome_unknown"):
        await tools.call(change.tool, **arguments)
    proxy.conditions = Conditions()
    names = [command.name for command in sent_since(own, mail_user.commands())]
    assert change.command not in names or change.command == "APPEND"
    after = mail_user.everything()
    if change.command == "UID EXPUNGE":
        assert after["INBOX"][2].flags == {"\\Deleted"}
        mail_user.mark(2, "\\Deleted", sign="-")
        after = mail_user.everything()
    assert after == before
    await the_next_calls_work(tools)
    assert mail_user.everything() == before


async def test_an_append_cut_before_the_message_left_is_refused(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    await tools.search()
    before = mail_user.everything()
    proxy.conditions.faults = (Fault(Direction.DOWN, Action.RESET, pattern=b"+ OK"),)
    with refused("upstream_unavailable"):
        await tools.call("mail_save_draft", message={"subject": "Never"})
    proxy.conditions = Conditions()
    assert mail_user.everything() == before
    await the_next_calls_work(tools)


@pytest.mark.requirement("W5")
@EACH
@pytest.mark.parametrize("where", [b"SELECT", b"LIST", b"UID FETCH"], ids=lambda where: where.decode().lower())
async def test_a_connection_lost_before_the_command_refuses(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy, change: Change, where: bytes
) -> None:
    arguments = await arguments_of(tools, change)
    before, own = mail_user.everything(), mail_user.commands()
    proxy.conditions.faults = (Fault(Direction.UP, Action.RESET, pattern=b" " + where + b" ", when=When.BEFORE),)
    result = await tools.attempt(change.tool, **arguments)
    if isinstance(result, ToolFailed):
        assert result.code == "upstream_unavailable"
        names = [command.name for command in sent_since(own, mail_user.commands())]
        assert CHANGING.isdisjoint(names)
        assert mail_user.everything() == before
    else:
        assert proxy.traffic.faults == 0, "a call that lost its connection must not be done"
    proxy.conditions = Conditions()
    await the_next_calls_work(tools)


@pytest.mark.requirement("WX4", "W7")
@pytest.mark.parametrize("name", ["expunge", "create", "rename"])
async def test_an_outcome_that_could_not_be_seen_is_unknown(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy, name: str
) -> None:
    change = CHANGES[name]
    arguments = await arguments_of(tools, change)
    before = mail_user.everything()
    proxy.conditions.faults = (Fault(Direction.DOWN, Action.CLOSE, pattern=change.answer, when=When.AFTER),)
    with refused("outcome_unknown"):
        await tools.call(change.tool, **arguments)
    proxy.conditions = Conditions()
    assert done(change, before, mail_user.everything())
    await the_next_calls_work(tools)


@pytest.mark.parametrize("name", ["store", "copy", "move, its end", "trash"])
async def test_an_answer_that_arrived_counts_though_the_connection_then_ends(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy, name: str
) -> None:
    change = CHANGES[name]
    arguments = await arguments_of(tools, change)
    before = mail_user.everything()
    # The first that is sent after the change.
    proxy.conditions.faults = (Fault(Direction.UP, Action.CLOSE, pattern=b"UNSELECT"),)
    result = await tools.call(change.tool, **arguments)
    assert result["status"] == "done"
    assert await eventually(lambda: proxy.traffic.faults == 1)
    proxy.conditions = Conditions()
    assert done(change, before, mail_user.everything())
    await the_next_calls_work(tools)


async def the_next_calls_work(tools: Tools) -> None:
    assert (await tools.search(folder="INBOX"))["complete"]
    reference = await tools.reference(3)
    result = await tools.call("mail_set_flags", reference=reference, operation="remove", flags=["Never-there"])
    assert result["status"] == "done"
