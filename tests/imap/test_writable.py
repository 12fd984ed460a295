"""Changing commands over a failing connection: refused before the command is whole, unknown after, and run once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from mailgate.errors import (
    CapabilityMissing,
    FolderExists,
    FolderNotFound,
    MessageNotFound,
    OutcomeUnknown,
    UpstreamRefused,
    UpstreamTimeout,
    UpstreamUnavailable,
)
from mailgate.imap.endpoint import Credentials, ImapEndpoint, Security
from mailgate.imap.hidden import HiddenFolders
from mailgate.imap.mailbox import Mailbox
from mailgate.imap.placement import Placed, placement_of_append, placement_of_copy
from mailgate.imap.values import INBOX, FlagDelta, FlagOperation, FolderName, ModSeq, Uid
from mailgate.imap.writable import WritableFolder
from tests.imap.sessions import mailbox_on
from tests.peers.dovecot import Dovecot, MailUser
from tests.peers.scripted_imap import ScriptedImap

ARCHIVE = FolderName("Archive")
RAW = FolderName("wire:%FF")
"""A name that cannot be quoted, so that it goes as a literal."""
SEEN = FlagDelta(FlagOperation.ADD, ("\\Seen",))
MESSAGE = b"A: b\r\n\r\n"

LOGIN = "@login IMAP4rev1 MOVE UIDPLUS CONDSTORE\n"
LOOK = "@examine\n"
SELECT = "@select modseq=90\n"
PLUS = "S: +\n"
DELIMITER = 'C: $ LIST "" ""\nS: * LIST (\\Noselect) "/" ""\nS: $ OK done\n'

Call = Callable[[Mailbox], Awaitable[object]]


def on_inbox(call: Callable[[WritableFolder], Awaitable[object]]) -> Call:
    async def run(mailbox: Mailbox) -> object:
        async with mailbox.select(INBOX) as folder:
            return await call(folder)

    return run


@dataclass(frozen=True)
class Change:
    """`call` makes the connection play `before` and then send `first`, with a `+` before each line of `rest`."""

    call: Call
    before: str
    first: str
    rest: tuple[str, ...] = ()
    after: str = ""
    """What a look at the outcome takes, once the change was acknowledged."""

    @property
    def name(self) -> bytes:
        return self.first.partition(" ...")[0].encode()

    @property
    def whole(self) -> str:
        return self.before + f"C: $ {self.first}\n" + "".join(PLUS + line for line in self.rest)


CHANGES = {
    "store": Change(on_inbox(lambda inbox: inbox.store(Uid(5), SEEN)), SELECT, "UID STORE ..."),
    "conditional store": Change(on_inbox(lambda inbox: inbox.store(Uid(5), SEEN, ModSeq(90))), SELECT, "UID STORE ..."),
    "mark": Change(on_inbox(lambda inbox: inbox.mark_deleted(Uid(5))), SELECT, "UID STORE ..."),
    "expunge": Change(on_inbox(lambda inbox: inbox.expunge(Uid(5))), SELECT, "UID EXPUNGE ..."),
    "copy": Change(on_inbox(lambda inbox: inbox.copy(Uid(5), ARCHIVE)), SELECT, "UID COPY ..."),
    "move": Change(on_inbox(lambda inbox: inbox.move(Uid(5), ARCHIVE)), SELECT, "UID MOVE ..."),
    "copy with a literal": Change(
        on_inbox(lambda inbox: inbox.copy(Uid(5), RAW)), SELECT, "UID COPY ... {1}", ("C: \\xFF\n",)
    ),
    "move with a literal": Change(
        on_inbox(lambda inbox: inbox.move(Uid(5), RAW)), SELECT, "UID MOVE ... {1}", ("C: \\xFF\n",)
    ),
    "create": Change(
        lambda mailbox: mailbox.create_folder(ARCHIVE),
        DELIMITER + 'C: $ LIST "" "Archive"\nS: $ OK done\n',
        "CREATE ...",
        after='C: $ LIST "" "Archive"\nS: * LIST () "/" Archive\nS: $ OK done\n',
    ),
    "rename": Change(
        lambda mailbox: mailbox.rename_folder(FolderName("Old"), ARCHIVE),
        DELIMITER + 'C: $ LIST "" "Old"\nS: * LIST () "/" Old\nS: $ OK done\nC: $ LIST "" "Archive"\nS: $ OK done\n',
        "RENAME ...",
        after='C: $ LIST "" "Archive"\nS: * LIST () "/" Archive\nS: $ OK done\n',
    ),
    "append": Change(
        lambda mailbox: mailbox.append(ARCHIVE, MESSAGE),
        "C: $ NOOP\nS: $ OK done\n",
        "APPEND ... {8}",
        ("C: A: b\nC:\nC:\n",),
    ),
}
CHANGE = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
WITH_LITERAL = pytest.mark.parametrize(
    "change", [change for change in CHANGES.values() if change.rest], ids=[k for k, c in CHANGES.items() if c.rest]
)

FAILURES = {
    "reset": "S-cut\n",
    "closed": "S-close\n",
    "silence": "S-stall\n",
    "goodbye": "S: * BYE later\nC-gone\n",
    "half an answer": "S-raw: $ OK do\nS-close\n",
    "an answer to a tag nobody sent": "S: zzz OK done\nC-gone\n",
    "a tagged line that cannot be read": "S: $ MAYBE\nC-gone\n",
    "a plus nobody waits for": "S: +\nC-gone\n",
    "news and then nothing": "S: * 2 FETCH (UID 5 FLAGS (\\Seen))\nS: * OK [COPYUID 77 5 9] x\nS: * 2 EXPUNGE\nS-cut\n",
}


def sent(peer: ScriptedImap, change: Change) -> int:
    """How often the change was sent."""
    return sum(command.startswith(change.name) for command in peer.commands)


async def look(mailbox: Mailbox) -> None:
    async with mailbox.examine(INBOX):
        pass


@CHANGE
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
async def test_a_change_that_left_whole_and_was_not_answered_is_unknown_and_never_repeated(
    change: Change, failure: str
) -> None:
    kept = LOGIN + LOOK + change.whole + failure
    async with mailbox_on(kept, LOGIN + LOOK, command_seconds=0.15 if "stall" in failure else 5.0) as (mailbox, peer):
        await look(mailbox)  # so that the connection is a kept one, which reading would replace
        with pytest.raises(OutcomeUnknown):
            await change.call(mailbox)
        await look(mailbox)
        assert peer.problems == []
        assert (sent(peer, change), peer.accepted) == (1, 2)


@WITH_LITERAL
@pytest.mark.parametrize(
    ("failure", "error"),
    [("S-cut\n", UpstreamUnavailable), ("S: * BYE\nC-gone\n", UpstreamUnavailable), ("S-stall\n", UpstreamTimeout)],
)
async def test_a_change_that_never_left_whole_is_refused_and_never_repeated(
    change: Change, failure: str, error: type[Exception]
) -> None:
    kept = LOGIN + LOOK + change.before + f"C: $ {change.first}\n" + failure
    async with mailbox_on(kept, LOGIN + LOOK, command_seconds=0.15 if "stall" in failure else 5.0) as (mailbox, peer):
        await look(mailbox)
        with pytest.raises(error):
            await change.call(mailbox)
        await look(mailbox)
        assert peer.problems == []
        assert (sent(peer, change), peer.accepted) == (1, 2)


@WITH_LITERAL
async def test_a_literal_refused_with_no_is_refused_and_costs_nothing(change: Change) -> None:
    text = LOGIN + change.before + f"C: $ {change.first}\nS: $ NO [OVERQUOTA] full\n" + LOOK
    async with mailbox_on(text) as (mailbox, peer):
        with pytest.raises(UpstreamRefused):
            await change.call(mailbox)
        await look(mailbox)
        assert peer.problems == []
        assert (sent(peer, change), peer.accepted) == (1, 1)


@CHANGE
@pytest.mark.parametrize("status", ["NO", "BAD"])
async def test_a_refused_change_is_refused_and_sent_once(change: Change, status: str) -> None:
    refused = f"S: $ {status} [CANNOT] no\n"
    async with mailbox_on(LOGIN + change.whole + refused + LOOK) as (mailbox, peer):
        with pytest.raises(UpstreamRefused) as raised:
            await change.call(mailbox)
        assert raised.value.effect == "refused"
        await look(mailbox)
        assert peer.problems == []
        assert (sent(peer, change), peer.accepted) == (1, 1)


@CHANGE
async def test_a_change_that_is_acknowledged_is_sent_once(change: Change) -> None:
    async with mailbox_on(LOGIN + change.whole + "S: $ OK done\n" + change.after) as (mailbox, peer):
        await change.call(mailbox)
        assert peer.problems == []
        assert (sent(peer, change), peer.accepted) == (1, 1)


@CHANGE
async def test_a_cancelled_change_drops_the_connection_and_is_never_repeated(change: Change) -> None:
    async with mailbox_on(LOGIN + change.whole + "C-gone\n", LOGIN + LOOK) as (mailbox, peer):
        running = asyncio.ensure_future(change.call(mailbox))
        while len(peer.received) < sum(step.verb == "C:" for step in peer.connections[0]):
            await asyncio.sleep(0)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        await look(mailbox)
        await mailbox.aclose()
        await peer.done()
        assert peer.problems == []
        assert (sent(peer, change), peer.accepted) == (1, 2)


async def test_a_folder_that_was_given_back_changes_nothing_more() -> None:
    async with mailbox_on(LOGIN + SELECT) as (mailbox, peer):
        async with mailbox.select(INBOX) as folder:
            pass
        for call in (folder.store(Uid(5), SEEN), folder.move(Uid(5), ARCHIVE), folder.expunge(Uid(5))):
            with pytest.raises(RuntimeError):
                await call
        assert peer.problems == []


async def test_a_name_that_no_server_can_have_is_no_destination() -> None:
    async with mailbox_on(LOGIN + SELECT) as (mailbox, peer):
        async with mailbox.select(INBOX) as folder:
            for name in ("wire:%0D%0A", "wire:%4", "wire:INBOX"):
                with pytest.raises(FolderNotFound):
                    await folder.copy(Uid(5), FolderName(name))
        with pytest.raises(FolderNotFound):
            await mailbox.append(FolderName("wire:%0D"), MESSAGE)
        assert peer.problems == []


async def test_a_message_that_cannot_be_appended_is_not_begun() -> None:
    async with mailbox_on(LOGIN) as (mailbox, peer):
        with pytest.raises(ValueError, match="line ends"):
            await mailbox.append(ARCHIVE, b"A: b\n\n")
        with pytest.raises(ValueError, match="flag"):
            await mailbox.append(ARCHIVE, MESSAGE, ["\\Deleted"])
        assert [command.split()[0] for command in peer.commands] == [b"LOGIN"]


async def test_refusals_of_a_lacking_server_come_before_any_command() -> None:
    async with mailbox_on("@login IMAP4rev1\n@select") as (mailbox, peer):
        async with mailbox.select(INBOX) as folder:
            for call in (
                folder.move(Uid(5), ARCHIVE),
                folder.mark_deleted(Uid(5)),
                folder.expunge(Uid(5)),
                folder.store(Uid(5), SEEN, ModSeq(1)),
            ):
                with pytest.raises(CapabilityMissing):
                    await call
        assert peer.problems == []


@pytest.mark.parametrize(("name", "above"), [("A", True), ("a/", True), ("A/B", True), ("A/B/C", False), ("AB", False)])
def test_a_folder_above_a_hidden_one_is_known(name: str, above: bool) -> None:
    assert HiddenFolders(frozenset({FolderName("A/B")})).has_below(FolderName(name), "/") is above


async def test_dovecot_carries_out_every_change(dovecot: Dovecot, mail_user: MailUser) -> None:
    kept = FolderName("Kept & sorted")
    endpoint = ImapEndpoint("127.0.0.1", dovecot.plain_port, Security.PLAINTEXT)
    mailbox = Mailbox(endpoint, Credentials(mail_user.name, mail_user.password))
    try:
        await mailbox.create_folder(FolderName("Müll"))
        with pytest.raises(FolderExists):
            await mailbox.create_folder(FolderName("Müll"))
        await mailbox.rename_folder(FolderName("Müll"), kept)
        added = placement_of_append(await mailbox.append(INBOX, MESSAGE, ["\\Draft"]), INBOX)
        assert isinstance(added, Placed)
        reference = added.reference
        async with mailbox.select(INBOX, uid_validity=reference.uid_validity) as folder:
            before = await folder.fetch_state(reference.uid)
            assert before.flags == ("\\Draft",)
            done = await folder.store(reference.uid, SEEN, before.mod_seq)
            assert done.state is not None
            assert SEEN.is_done_by(done.state.flags)
            again = await folder.store(reference.uid, FlagDelta(FlagOperation.ADD, ("$x",)), before.mod_seq)
            assert again.modified
            with pytest.raises(FolderNotFound):
                await folder.copy(reference.uid, FolderName("Nowhere"))
            copied = placement_of_copy(await folder.copy(reference.uid, kept), reference.uid, kept)
            moved = placement_of_copy(await folder.move(reference.uid, kept), reference.uid, kept)
            with pytest.raises(MessageNotFound):
                await folder.fetch_state(reference.uid)
        assert isinstance(copied, Placed)
        assert isinstance(moved, Placed)
        async with mailbox.select(kept, uid_validity=copied.reference.uid_validity) as folder:
            await folder.mark_deleted(copied.reference.uid)
            await folder.expunge(copied.reference.uid)
            with pytest.raises(MessageNotFound):
                await folder.fetch_state(copied.reference.uid)
            assert (await folder.fetch_state(moved.reference.uid)).flags
    finally:
        await mailbox.aclose()
