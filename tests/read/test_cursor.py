from __future__ import annotations

import hashlib
from base64 import urlsafe_b64decode
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailgate.errors import CursorInvalid, CursorMismatch
from mailgate.imap.criteria import SearchCriteria
from mailgate.imap.values import INBOX, UINT32_MAX, FolderName, Uid, UidValidity
from mailgate.read.cursor import CursorCodec, SearchCursor, SearchOrder, derive_cursor_key

from .fakes import codec

PLAIN = SearchCriteria()
CURSOR = SearchCursor(UidValidity(9), Uid(5000), Uid(321), 1000, codec().digest(INBOX, PLAIN, SearchOrder.NEWEST))
LARGEST = SearchCursor(UidValidity(UINT32_MAX), Uid(UINT32_MAX), Uid(UINT32_MAX), UINT32_MAX, b"\xff" * 16)


@given(st.integers(1, UINT32_MAX), st.integers(1, UINT32_MAX), st.data())
def test_a_cursor_comes_back_as_it_went(uid_validity: int, bound: int, data: st.DataObject) -> None:
    position = data.draw(st.integers(1, bound))
    cursor = replace(CURSOR, uid_validity=UidValidity(uid_validity), bound=Uid(bound), position=Uid(position))
    assert codec().decode(codec().encode(cursor)) == cursor


def test_a_cursor_is_at_most_a_hundred_url_safe_characters() -> None:
    token = codec().encode(LARGEST)
    assert len(token) <= 100
    assert token.replace("-", "a").replace("_", "a").isalnum()


def test_every_altered_character_makes_a_cursor_invalid() -> None:
    token = codec().encode(CURSOR)
    for place, char in enumerate(token):
        other = "A" if char != "A" else "B"
        with pytest.raises(CursorInvalid):
            codec().decode(token[:place] + other + token[place + 1 :])


def test_another_spelling_of_the_same_octets_is_invalid() -> None:
    token = codec().encode(CURSOR)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    twins = [token[:-1] + char for char in alphabet if char != token[-1]]
    same = [twin for twin in twins if urlsafe_b64decode(twin + "=") == urlsafe_b64decode(token + "=")]
    assert same, "the last character has unused bits"
    for twin in (*same, token + "=", token + "\n", " " + token[1:]):
        with pytest.raises(CursorInvalid):
            codec().decode(twin)


@pytest.mark.parametrize("token", ["", "x", "é" * 71, "A" * 71, "!" * 71, "A" * 100_000])
def test_what_was_never_a_cursor_is_invalid(token: str) -> None:
    with pytest.raises(CursorInvalid):
        codec().decode(token)


def test_a_cursor_of_another_mailbox_or_key_is_invalid() -> None:
    token = codec().encode(CURSOR)
    for other in (codec("other@imap.example"), CursorCodec(b"K" * 32, "owner@imap.example")):
        with pytest.raises(CursorInvalid):
            other.decode(token)


def test_a_cursor_of_another_version_is_invalid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailgate.read.cursor._VERSION", 2)
    token = codec().encode(CURSOR)
    monkeypatch.undo()
    with pytest.raises(CursorInvalid):
        codec().decode(token)


@pytest.mark.parametrize(
    "criteria",
    [
        SearchCriteria(query="x"),
        SearchCriteria(from_="x"),
        SearchCriteria(to="x"),
        SearchCriteria(cc="x"),
        SearchCriteria(subject="x"),
        SearchCriteria(since=date(2024, 1, 1)),
        SearchCriteria(before=date(2024, 1, 1)),
        SearchCriteria(unread=True),
        SearchCriteria(unread=False),
        SearchCriteria(flagged=True),
        SearchCriteria(flagged=False),
    ],
)
def test_another_filter_is_a_mismatch(criteria: SearchCriteria) -> None:
    with pytest.raises(CursorMismatch):
        codec().check(CURSOR, INBOX, criteria, SearchOrder.NEWEST)


def test_another_folder_or_order_is_a_mismatch_and_the_same_search_is_not() -> None:
    codec().check(CURSOR, INBOX, SearchCriteria(), SearchOrder.NEWEST)
    with pytest.raises(CursorMismatch):
        codec().check(CURSOR, FolderName("Sent"), PLAIN, SearchOrder.NEWEST)
    with pytest.raises(CursorMismatch):
        codec().check(CURSOR, INBOX, PLAIN, SearchOrder.OLDEST)


def test_a_cursor_does_not_show_what_was_searched() -> None:
    digests = {CursorCodec(key, "m").digest(INBOX, PLAIN, SearchOrder.NEWEST) for key in (b"a" * 32, b"b" * 32)}
    assert len(digests) == 2, "a digest without a key could be guessed from common terms"


def test_the_key_is_made_once_and_only_when_it_is_needed() -> None:
    made: list[int] = []

    def slow() -> bytes:
        made.append(1)
        return b"k" * 32

    lazy = CursorCodec(slow, "owner@imap.example")
    assert not lazy.ready
    assert not made
    assert lazy.encode(CURSOR) == codec().encode(CURSOR)
    assert lazy.decode(lazy.encode(CURSOR)) == CURSOR
    assert lazy.ready
    assert len(made) == 1


@pytest.mark.parametrize("stretch", [True, False])
def test_a_derived_key_follows_from_secret_purpose_and_identity_alone(stretch: bool) -> None:
    def key(secret: bytes = b"s", identity: str = "a", purpose: str = "p") -> bytes:
        return derive_cursor_key(secret, identity=identity, purpose=purpose, stretch=stretch)

    assert key() == key()
    assert len({key(), key(secret=b"t"), key(identity="b"), key(purpose="q")}) == 4
    assert len(key()) == 32


def test_a_store_key_is_expanded_by_hkdf() -> None:
    """RFC 5869, SHA-256, no salt; the expected octets were computed with another implementation."""
    key = derive_cursor_key(b"\x0b" * 32, identity="i", purpose="p", stretch=False)
    assert key.hex() == "5608452c3a0d73af088c0dc5392a7a5aef6f2f14e8f1318da881bd72dcca4507"


def test_a_password_is_stretched_unless_told_otherwise() -> None:
    key = derive_cursor_key(b"password", identity="i", purpose="p")
    assert key == hashlib.scrypt(b"password", salt=b"p\0i", n=2**14, r=8, p=1, dklen=32)
    assert key != derive_cursor_key(b"password", identity="i", purpose="p", stretch=False)


@pytest.mark.parametrize(
    "change", [{"position": Uid(5001)}, {"width": 0}, {"width": UINT32_MAX + 1}, {"digest": b"short"}]
)
def test_a_cursor_that_cannot_be_is_not_built(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="cursor"):
        replace(CURSOR, **change)  # type: ignore[arg-type]
