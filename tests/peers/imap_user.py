"""A mailbox as a second client sees it: the standard library's imaplib, next to whatever is under test."""

from __future__ import annotations

import base64
import imaplib
import re
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from tests.peers.rawlog import SentCommand


class ClientFailed(RuntimeError):
    """The server refused what the second client asked."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A message as the server keeps it; \\Recent, which belongs to a session, aside."""

    flags: frozenset[str]
    raw: bytes


@dataclass(frozen=True, slots=True)
class ImapUser:
    """One account on a loopback port without TLS. Folders are named as on the wire (`wire_name`)."""

    name: str
    password: str
    port: int

    delimiter: ClassVar[str] = "/"
    lacks: ClassVar[frozenset[str]] = frozenset()
    """Extensions that this server truly does not have, by their capability."""
    refused_names: ClassVar[frozenset[str]] = frozenset()
    """Folder names that this server does not create, though others do."""
    deadly_names: ClassVar[frozenset[str]] = frozenset()
    """Refused names that make this server's process crash."""
    refuses_rubbish: ClassVar[bool] = False
    """Whether APPEND takes only what looks like a message."""

    def folder(self, *levels: str) -> str:
        """The name of a folder of the user's own, from the top down, as this server spells it."""
        return "/".join(levels)

    @contextmanager
    def client(self, folder: str | None = None) -> Iterator[imaplib.IMAP4]:
        """A second client, logged in; with `folder` selected for writing."""
        client = imaplib.IMAP4("127.0.0.1", self.port, timeout=30)
        # imaplib sends a literal and its line end apart, which Nagle's algorithm turns into 40 ms a message.
        client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            client.login(self.name, self.password)
            if folder is not None:
                checked(client.select(quoted(folder)))
            yield client
        finally:
            client.shutdown()

    def append(
        self,
        raw: bytes,
        folder: str = "INBOX",
        *,
        flags: Sequence[str] = (),
        date: datetime | None = None,
    ) -> int:
        """APPEND exactly these octets and give the new UID (APPENDUID, RFC 4315)."""
        return self.append_all([raw], folder, flags=flags, date=date)[0]

    def append_all(
        self,
        messages: Sequence[bytes],
        folder: str = "INBOX",
        *,
        flags: Sequence[str] = (),
        date: datetime | None = None,
    ) -> list[int]:
        """APPEND each over one connection; the UIDs in order."""
        with self.client() as client:
            return [append_raw(client, folder, raw, flags, date) for raw in messages]

    def create(self, *folders: str) -> None:
        """Create folders."""
        with self.client() as client:
            for folder in folders:
                checked(client.create(quoted(folder)))

    def expunge(self, *uids: int, folder: str = "INBOX") -> None:
        """Remove messages for good."""
        with self.client(folder) as client:
            checked(client.uid("STORE", ",".join(map(str, uids)), "+FLAGS.SILENT", "(\\Deleted)"))
            checked(client.expunge())

    def flags(self, uid: int, folder: str = "INBOX") -> set[str]:
        """The flags of one message, looked up without changing any; \\Recent aside, which belongs to a session."""
        with self.client() as client:
            checked(client.select(quoted(folder), readonly=True))
            rows = checked(client.uid("FETCH", str(uid), "(FLAGS)"))
            return {flag.decode() for row in rows for flag in imaplib.ParseFlags(row)} - {"\\Recent"}

    def contents(self, folder: str = "INBOX") -> dict[int, Kept]:
        """Every message of a folder by its UID, looked at without changing anything."""
        with self.client() as client:
            return _contents(client, folder)

    def everything(self) -> dict[str, dict[int, Kept]]:
        """Every folder by its wire name, with every message: equal before and after means that nothing changed."""
        with self.client() as client:
            names = [name for row in checked(client.list()) for name in _selectable(row)]
            return {name: _contents(client, name) for name in names}

    def mark(self, uid: int, *flags: str, folder: str = "INBOX", sign: str = "+") -> None:
        """Add flags to a message, or with `sign` take them away."""
        with self.client(folder) as client:
            checked(client.uid("STORE", str(uid), f"{sign}FLAGS", f"({' '.join(flags)})"))

    def commands(self) -> list[SentCommand]:
        """Everything sent to the server for this account, as far as the server keeps it."""
        raise NotImplementedError

    def renew_uid_validity(self, folder: str, value: int) -> None:
        """Rebuild a folder under another UIDVALIDITY (`value` where the server lets one choose)."""
        raise NotImplementedError


def wire_name(text: str) -> str:
    """A folder's name in modified UTF-7 (RFC 3501, 5.1.3), by an encoder that shares nothing with the product."""

    def shift(run: re.Match[str]) -> str:
        if run[0] == "&":
            return "&-"
        return "&" + base64.b64encode(run[0].encode("utf-16-be")).decode().rstrip("=").replace("/", ",") + "-"

    return re.sub("&|[^ -~]+", shift, text)


def quoted(wire: str) -> str:
    """A quoted string (RFC 9051, 4.3)."""
    return '"' + wire.replace("\\", "\\\\").replace('"', '\\"') + '"'


def checked(answer: tuple[str, list[Any]]) -> list[bytes]:
    """The rows of an OK; `ClientFailed` for anything else."""
    status, rows = answer
    if status != "OK":
        raise ClientFailed(f"{status} {rows!r}")
    return [row for row in rows if isinstance(row, bytes)]


def _selectable(row: bytes) -> list[str]:
    """The folder of a LIST row, unless it holds no messages."""
    found = re.fullmatch(rb'\(([^)]*)\) (?:"."|NIL) ("(?:[^"\\]|\\.)*"|\S+)', row)
    if found is None:
        raise ClientFailed(f"LIST: {row!r}")
    name = found[2].decode("latin-1")
    text = re.sub(r"\\(.)", r"\1", name[1:-1]) if name.startswith('"') else name
    return [] if b"\\noselect" in found[1].lower() else [text]


def _contents(client: imaplib.IMAP4, folder: str) -> dict[int, Kept]:
    checked(client.select(quoted(folder), readonly=True))
    uids = b" ".join(checked(client.uid("SEARCH", "ALL"))).split()
    return {int(uid): _kept(client, uid.decode()) for uid in uids}


def _kept(client: imaplib.IMAP4, uid: str) -> Kept:
    status, rows = client.uid("FETCH", uid, "(FLAGS BODY.PEEK[])")
    heads = b" ".join(part for row in rows for part in ([row[0]] if isinstance(row, tuple) else [row]) if part)
    flags = {flag.decode() for flag in imaplib.ParseFlags(heads)} - {"\\Recent"}
    bodies = [row[1] for row in rows if isinstance(row, tuple)]
    if status != "OK" or len(bodies) != 1:
        raise ClientFailed(f"FETCH: {status}")
    return Kept(frozenset(flags), bodies[0])


def append_raw(client: Any, folder: str, raw: bytes, flags: Sequence[str] = (), date: datetime | None = None) -> int:
    """APPEND over a client that is already there; the UID."""
    # imaplib's own append() rewrites line ends; the octets of a hostile message have to arrive as they are.
    client.literal = raw
    parts = [f"({' '.join(flags)})"]
    if date is not None:
        parts.append(imaplib.Time2Internaldate(date))
    status, rows = client._simple_command("APPEND", quoted(folder), *parts)
    found = re.search(rb"APPENDUID \d+ (\d+)", b" ".join(row or b"" for row in rows))
    if status != "OK" or found is None:
        raise ClientFailed(f"APPEND: {status} {rows!r}")
    return int(found[1])
