"""The search cursor: opaque, authenticated, and good for one search in one state of one folder.

On the wire it is base64url without padding (RFC 4648, 5) of 53 octets, 71 characters:

    version 1 | UIDVALIDITY 4 | bound 4 | position 4 | width 4 | digest 16 | tag 20

The tag is HMAC-SHA256 over everything before it, keyed for this mailbox and cut to 160 bits (RFC 2104, 5 allows no less
than half). The digest stands for folder, filters and order; it is keyed too, so that a cursor left in a chat
history tells nobody what was searched for.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from mailgate.errors import CursorInvalid, CursorMismatch
from mailgate.imap.values import UINT32_MAX, FolderName, Uid, UidValidity

if TYPE_CHECKING:
    from mailgate.imap.criteria import SearchCriteria

_VERSION: Final = 1
_FIELDS: Final = struct.Struct(">BIIII16s")
_DIGEST_BYTES: Final = 16
_TAG_BYTES: Final = 20
_TOKEN_CHARS: Final = (_FIELDS.size + _TAG_BYTES) * 8 // 6 + 1
_KEY_BYTES: Final = 32

CURSOR_PURPOSE: Final = "mailgate search cursor 1"
"""Keeps a cursor's key apart from every other key made from the same secret."""


class SearchOrder(StrEnum):
    """By UID: `newest` walks down from the bound, `oldest` up to it."""

    NEWEST = "newest"
    OLDEST = "oldest"


@dataclass(frozen=True, slots=True)
class SearchCursor:
    """Where a search goes on.

    `bound`: the highest UID when the search began, so that new mail never enters it. `position`: the next UID to look
    at. `width`: UIDs in the next window, as learnt so far. `digest`: what `CursorCodec.digest` says of the search.
    """

    uid_validity: UidValidity
    bound: Uid
    position: Uid
    width: int
    digest: bytes

    def __post_init__(self) -> None:
        if self.position > self.bound:
            raise ValueError("a cursor's position lies within its bound")
        if not 1 <= self.width <= UINT32_MAX:
            raise ValueError("a cursor's width is out of range")
        if len(self.digest) != _DIGEST_BYTES:
            raise ValueError("a cursor's digest has a fixed size")


class CursorCodec:
    """Makes and opens the cursors of one mailbox.

    `key`: 32 octets, or a function that gives them and is called once, when the first cursor is made or opened. It
    may be slow (`derive_cursor_key` from a password is): `ready` tells whether the next call will be quick.
    """

    def __init__(self, key: bytes | Callable[[], bytes], mailbox_identity: str) -> None:
        self._source = key
        self._identity = mailbox_identity.encode()
        self._key: bytes | None = None

    @property
    def ready(self) -> bool:
        """Whether the key is there already."""
        return self._key is not None

    def prepare(self) -> None:
        """Make the key now. Safe in a worker thread; a second call does nothing."""
        if self._key is None:
            secret = self._source if isinstance(self._source, bytes) else self._source()
            # The mailbox is part of the key, so another mailbox's cursor is as wrong as a forged one.
            self._key = hmac.digest(secret, b"mailbox\0" + self._identity, "sha256")

    def digest(self, folder: FolderName, criteria: SearchCriteria, order: SearchOrder) -> bytes:
        """Sixteen octets that stand for folder, filters and order; the page's `limit` is free to change."""
        filters = {name: _plain(value) for name, value in asdict(criteria).items()}
        canonical = json.dumps([folder.text, order.value, filters], sort_keys=True).encode()
        return self._hmac(b"search\0" + canonical)[:_DIGEST_BYTES]

    def encode(self, cursor: SearchCursor) -> str:
        """The cursor as text: letters, digits, `-` and `_`."""
        body = _FIELDS.pack(_VERSION, cursor.uid_validity, cursor.bound, cursor.position, cursor.width, cursor.digest)
        return urlsafe_b64encode(body + self._tag(body)).rstrip(b"=").decode("ascii")

    def decode(self, token: str) -> SearchCursor:
        """The cursor in `token`, or `CursorInvalid` when it was not made here for this mailbox, unaltered."""
        raw = _octets(token)
        body, tag = raw[: _FIELDS.size], raw[_FIELDS.size :]
        if not hmac.compare_digest(tag, self._tag(body)):
            raise CursorInvalid
        version, uid_validity, bound, position, width, digest = _FIELDS.unpack(body)
        if version != _VERSION:
            raise CursorInvalid
        return SearchCursor(UidValidity(uid_validity), Uid(bound), Uid(position), width, digest)

    def check(self, cursor: SearchCursor, folder: FolderName, criteria: SearchCriteria, order: SearchOrder) -> None:
        """`CursorMismatch` unless the cursor continues exactly this search."""
        if not hmac.compare_digest(cursor.digest, self.digest(folder, criteria, order)):
            raise CursorMismatch

    def _tag(self, body: bytes) -> bytes:
        return self._hmac(b"cursor\0" + body)[:_TAG_BYTES]

    def _hmac(self, message: bytes) -> bytes:
        self.prepare()
        assert self._key is not None
        return hmac.digest(self._key, message, "sha256")


def derive_cursor_key(secret: bytes, *, identity: str, purpose: str = CURSOR_PURPOSE, stretch: bool = True) -> bytes:
    """Thirty-two octets for `CursorCodec`, the same in every process that knows the secret.

    `stretch` must be true when the secret is a password: scrypt (RFC 7914; 16 MiB, some 50 ms) makes a cursor in a chat
    history no cheap way to try passwords. A random store key needs none: HKDF (RFC 5869) suffices.
    """
    context = purpose.encode() + b"\0" + identity.encode()
    if stretch:
        return hashlib.scrypt(secret, salt=context, n=2**14, r=8, p=1, dklen=_KEY_BYTES)
    extracted = hmac.digest(b"\0" * _KEY_BYTES, secret, "sha256")
    return hmac.digest(extracted, context + b"\x01", "sha256")


def _octets(token: str) -> bytes:
    """The octets of a token in the one spelling `encode` uses; unused low bits must be zero (RFC 4648, 3.5)."""
    if len(token) != _TOKEN_CHARS or not token.isascii():
        raise CursorInvalid
    try:
        raw = urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except ValueError:
        raise CursorInvalid from None
    if urlsafe_b64encode(raw).rstrip(b"=") != token.encode("ascii"):
        raise CursorInvalid
    return raw


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value
