"""Every dialogue of tests/dialogues, played against a real mailbox object over a real socket."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mailgate.errors import MailgateError
from mailgate.imap.criteria import SearchCriteria
from mailgate.imap.endpoint import Credentials, ImapEndpoint, Security
from mailgate.imap.mailbox import Mailbox
from mailgate.imap.placement import Placement, Unverified, placement_of_append, placement_of_copy
from mailgate.imap.rows import FolderRow, SourceRow, SummaryRow
from mailgate.imap.values import (
    INBOX,
    FlagDelta,
    FlagOperation,
    FolderName,
    ModSeq,
    ScanWindow,
    SpecialUse,
    Uid,
    UidValidity,
)
from mailgate.imap.writable import MessageState, StoreOutcome
from tests.peers.authority import authority
from tests.peers.scripted_imap import Dialogue, ScriptedImap, load_dialogue

# What reading may ever send. FETCH is looked at more closely: without PEEK it would set \\Seen.
READING = re.compile(
    rb"(CAPABILITY|ID|LOGIN|AUTHENTICATE|STARTTLS|ENABLE|LIST|STATUS|EXAMINE|UID SEARCH|NOOP|UNSELECT|LOGOUT)\b"
    rb"|UID FETCH [0-9:,]+ \((UID|FLAGS|INTERNALDATE|RFC822\.SIZE|MODSEQ|BODYSTRUCTURE|BODY\.PEEK\[[^]]*\]<[0-9.]+>| )*"
    rb"\)$"
)
# What a dialogue with `changes` may send beside it. Its changing commands are compared with the list one by one, and
# anything else is never sent by anyone: CLOSE, EXPUNGE without UID, DELETE, a STORE that replaces flags or names a set.
SELECTING = re.compile(rb"SELECT\b")
CHANGING = re.compile(
    rb"(?P<kind>UID STORE|UID COPY|UID MOVE|UID EXPUNGE|CREATE|RENAME|APPEND)(?= )"
    rb"(?:(?<=UID STORE) [0-9]+ (\(UNCHANGEDSINCE [0-9]+\) )?[+-]FLAGS(\.SILENT)? \([^()]+\)"
    rb"|(?<=UID COPY) [0-9]+ .*|(?<=UID MOVE) [0-9]+ .*|(?<=UID EXPUNGE) [0-9]+"
    rb"|(?<=CREATE) .*|(?<=RENAME) .*|(?<=APPEND) .*)",
    re.DOTALL,
)

DIALOGUES = sorted((Path(__file__).parent.parent / "dialogues").glob("*.imap"))


class Clock:
    """Time as an argument: it stands still until a dialogue says `wait`."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def mailbox_for(dialogue: Dialogue, port: int, clock: Clock) -> Mailbox:
    options = dict(dialogue.mailbox)
    security = Security(options.get("security", "plaintext"))
    endpoint = ImapEndpoint(
        "127.0.0.1", port, security, None if security is Security.PLAINTEXT else authority().ca_file
    )
    return Mailbox(
        endpoint,
        Credentials(options.get("username", "user"), options.get("password", "secret")),
        connections=options.get("connections", 2),
        command_seconds=options.get("seconds", 5.0),
        roles={SpecialUse(role): FolderName(name) for role, name in options.get("roles", {}).items()},
        hidden=frozenset(map(FolderName, options.get("hidden", []))),
        clock=clock,
    )


class Caller:
    """Makes the calls of a dialogue and says what came of them as plain data."""

    def __init__(self, mailbox: Mailbox, clock: Clock, expected: UidValidity | None = None) -> None:
        self.mailbox = mailbox
        self.clock = clock
        self.expected = expected
        """Under which UIDVALIDITY to read; known, EXAMINE leaves together with what is read."""

    async def call(self, do: str, **arguments: Any) -> dict[str, Any]:
        try:
            return await getattr(self, do)(**arguments)
        except MailgateError as error:
            return {"error": error.code, "sentence": error.sentence}

    async def wait(self, seconds: float) -> dict[str, Any]:
        self.clock.now += seconds
        return {}

    async def search(self, folder: str = "INBOX", window: tuple[int, int] = (1, 100), **terms: Any) -> dict[str, Any]:
        for name in ("since", "before"):
            if name in terms:
                terms[name] = datetime.date.fromisoformat(terms[name])
        criteria = SearchCriteria(**terms)
        async with self.mailbox.examine(FolderName(folder), uid_validity=self.expected) as lent:
            return {"uids": list(await lent.uid_search(criteria, ScanWindow(Uid(window[0]), Uid(window[1]))))}

    async def summaries(self, uids: list[int], folder: str = "INBOX") -> dict[str, Any]:
        async with self.mailbox.examine(FolderName(folder)) as lent:
            return {"rows": [summary(row) for row in await lent.fetch_summaries([Uid(uid) for uid in uids])]}

    async def source(self, uid: int, limit: int = 1000, folder: str = "INBOX") -> dict[str, Any]:
        async with self.mailbox.examine(FolderName(folder), uid_validity=self.expected) as lent:
            return source(await lent.fetch_source(Uid(uid), limit))

    async def examine(self, folder: str = "INBOX", uid_validity: int | None = None) -> dict[str, Any]:
        expected = None if uid_validity is None else UidValidity(uid_validity)
        async with self.mailbox.examine(FolderName(folder), uid_validity=expected) as lent:
            await lent.open()
            return {
                "uid_validity": lent.uid_validity,
                "uid_next": lent.uid_next,
                "messages": lent.messages,
                "highest_modseq": lent.highest_modseq,
            }

    async def last_uid(self, folder: str = "INBOX") -> dict[str, Any]:
        async with self.mailbox.examine(FolderName(folder)) as lent:
            return {"last_uid": await lent.last_uid()}

    async def folders(self, counts: bool = False) -> dict[str, Any]:
        listed = await self.mailbox.list_folders(counts=counts)
        return {"folders": [folder(row) for row in listed.folders], "truncated": listed.truncated}

    async def roles(self) -> dict[str, Any]:
        return {role.value: type(holder).__name__ for role, holder in (await self.mailbox.roles()).items()}

    async def resolve(self, folder: str) -> dict[str, Any]:
        return {"folder": (await self.mailbox.resolve(folder)).text}

    async def capabilities(self) -> dict[str, Any]:
        return {"capabilities": list(await self.mailbox.capabilities())}

    async def state(self, uid: int, folder: str = "INBOX", uid_validity: int | None = None) -> dict[str, Any]:
        expected = None if uid_validity is None else UidValidity(uid_validity)
        async with self.mailbox.select(FolderName(folder), uid_validity=expected) as lent:
            return message_state(await lent.fetch_state(Uid(uid)))

    async def store(
        self, uid: int, add: Sequence[str] = (), remove: Sequence[str] = (), since: int | None = None
    ) -> dict[str, Any]:
        operation = FlagOperation.ADD if add else FlagOperation.REMOVE
        delta = FlagDelta(operation, tuple(add or remove))
        async with self.mailbox.select(INBOX) as lent:
            return stored(await lent.store(Uid(uid), delta, None if since is None else ModSeq(since)))

    async def copy(self, uid: int, to: str) -> dict[str, Any]:
        async with self.mailbox.select(INBOX) as lent:
            return placed(placement_of_copy(await lent.copy(Uid(uid), FolderName(to)), Uid(uid), FolderName(to)))

    async def move(self, uid: int, to: str) -> dict[str, Any]:
        async with self.mailbox.select(INBOX) as lent:
            return placed(placement_of_copy(await lent.move(Uid(uid), FolderName(to)), Uid(uid), FolderName(to)))

    async def mark_deleted(self, uid: int) -> dict[str, Any]:
        async with self.mailbox.select(INBOX) as lent:
            return stored(await lent.mark_deleted(Uid(uid)))

    async def remove(self, uid: int) -> dict[str, Any]:
        """What removing for good is made of: the mark, UID EXPUNGE, and a look."""
        async with self.mailbox.select(INBOX) as lent:
            await lent.mark_deleted(Uid(uid))
            await lent.expunge(Uid(uid))
            return message_state(await lent.fetch_state(Uid(uid)))

    async def create(self, name: str) -> dict[str, Any]:
        await self.mailbox.create_folder(FolderName(name))
        return {}

    async def rename(self, old: str, new: str) -> dict[str, Any]:
        await self.mailbox.rename_folder(FolderName(old), FolderName(new))
        return {}

    async def append(self, folder: str, text: str = "A: b\n\nc\n", flags: Sequence[str] = ()) -> dict[str, Any]:
        message = text.replace("\n", "\r\n").encode()
        return placed(
            placement_of_append(await self.mailbox.append(FolderName(folder), message, flags), FolderName(folder))
        )


def message_state(state: MessageState) -> dict[str, Any]:
    return {"flags": list(state.flags), "mod_seq": state.mod_seq}


def stored(outcome: StoreOutcome) -> dict[str, Any]:
    return {"modified": outcome.modified, "state": outcome.state and message_state(outcome.state)}


def placed(placement: Placement) -> dict[str, Any]:
    if isinstance(placement, Unverified):
        return {"warning": placement.code}
    reference = placement.reference
    return {"reference": [reference.folder.text, reference.uid_validity, reference.uid]}


def summary(row: SummaryRow) -> dict[str, Any]:
    return {
        "uid": row.uid,
        "flags": list(row.flags),
        "date": row.internal_date and row.internal_date.isoformat(),
        "size": row.size,
        "mod_seq": row.mod_seq,
        "header": None if row.header is None else row.header.decode("latin-1"),
        "has_attachments": row.has_attachments,
    }


def source(row: SourceRow) -> dict[str, Any]:
    return {
        "uid": row.uid,
        "flags": list(row.flags),
        "size": row.size,
        "mod_seq": row.mod_seq,
        "source": row.source.decode("latin-1"),
        "truncated": row.truncated,
    }


def folder(row: FolderRow) -> dict[str, Any]:
    return {
        "name": row.folder.name.text,
        "delimiter": row.folder.delimiter,
        "attributes": list(row.folder.attributes),
        "selectable": row.folder.selectable,
        "has_children": row.folder.has_children,
        "role": row.role and row.role.value,
        "messages": row.messages,
        "unseen": row.unseen,
        "uid_next": row.uid_next,
        "uid_validity": row.uid_validity,
        "status_failed": row.status_failed,
    }


def as_expected(actual: Any, expected: Any) -> Any:
    """The actual answer reduced to what the dialogue has an opinion on."""
    if isinstance(actual, dict) and isinstance(expected, dict):
        return {key: as_expected(actual.get(key), expected[key]) for key in expected} | (
            {"error": actual["error"]} if "error" in actual else {}
        )
    if isinstance(actual, list) and isinstance(expected, list) and len(actual) == len(expected):
        return [as_expected(one, other) for one, other in zip(actual, expected, strict=True)]
    return actual


@pytest.mark.parametrize("path", DIALOGUES, ids=lambda path: path.stem)
async def test_dialogue(path: Path) -> None:
    await play(load_dialogue(path))


def reads_only_an_open_folder(path: Path) -> bool:
    """Whether a dialogue is about reading from a folder that opens, and about no command that has to be repeated."""
    text = path.read_text(encoding="utf-8")
    calls = {call["do"] for call in load_dialogue(path).calls}
    return calls <= {"source", "search"} and not re.search("EXAMINE|uidvalidity=|LIST|S: \\$ BAD|S-c|S-stall", text)


@pytest.mark.parametrize("path", list(filter(reads_only_an_open_folder, DIALOGUES)), ids=lambda path: path.stem)
async def test_dialogue_in_one_flight_with_the_opening(path: Path) -> None:
    await play(load_dialogue(path), UidValidity(7))


async def play(dialogue: Dialogue, expected_validity: UidValidity | None = None) -> None:
    clock = Clock()
    tls = dialogue.mailbox.get("security") == "tls"
    async with ScriptedImap(dialogue.connections, tls=tls) as peer:
        mailbox = mailbox_for(dialogue, peer.port, clock)
        caller = Caller(mailbox, clock, expected_validity)
        for call, expected in zip(dialogue.calls, dialogue.expectations, strict=True):
            actual = await caller.call(**call)
            assert as_expected(actual, expected) == expected, peer.problems
        await mailbox.aclose()
        await peer.done()
        assert peer.problems == []
        more = [command for command in peer.commands if not READING.match(command)]
        if dialogue.changes is not None:
            more = [command for command in more if not SELECTING.match(command)]
        changes = [found["kind"].decode() for found in map(CHANGING.fullmatch, more) if found]
        assert changes == list(dialogue.changes or ()), more
        assert len(changes) == len(more), more


def test_every_dialogue_says_what_it_shows_in_words() -> None:
    for path in DIALOGUES:
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert first.startswith("# "), path.name
        assert ": " not in first[2:].split(" ")[0], path.name
        assert load_dialogue(path).calls, path.name


@pytest.mark.parametrize(
    "command",
    [
        rb"CLOSE",
        rb"EXPUNGE",
        rb'DELETE "x"',
        rb'SUBSCRIBE "x"',
        rb"STORE 5 +FLAGS (\Seen)",
        rb"UID STORE 5 FLAGS (\Seen)",
        rb"UID STORE 5:6 +FLAGS (\Seen)",
        rb"UID EXPUNGE 5:6",
        rb"UID EXPUNGE 5,6",
        rb'UID MOVE 5:* "x"',
        rb'UID COPY 5,6 "x"',
    ],
)
def test_what_no_dialogue_permits(command: bytes) -> None:
    assert not READING.match(command)
    assert not SELECTING.match(command)
    assert not CHANGING.fullmatch(command)
