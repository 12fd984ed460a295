"""What is sealed opens only where it belongs, and only unaltered."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mailgate.errors import StoreUnavailable
from mailgate.send.local_key import local_key
from mailgate.send.record import Deployment, Owner, PreparedId
from mailgate.send.sealing import KeyRing, SealBroken

NEW, OLD = bytes(range(32)), bytes(range(1, 33))
HERE = Deployment("me@example.org", "https://mail.example.org/mcp")
OWNER = Owner("https://issuer.example.org", "owner")
ID = PreparedId.new()
TEXT = b"the message"


def _sealed(keys: KeyRing | None = None) -> bytes:
    return (keys or KeyRing([OLD], HERE)).seal(TEXT, "content", ID, OWNER)


def test_what_was_sealed_opens_and_cannot_be_read() -> None:
    assert KeyRing([OLD], HERE).open(_sealed(), "content", ID, OWNER) == TEXT
    assert TEXT not in _sealed()
    assert _sealed() != _sealed()


def test_a_new_key_in_front_still_opens_what_the_old_one_sealed_and_seals_itself() -> None:
    both = KeyRing([NEW, OLD], HERE)
    assert both.open(_sealed(), "content", ID, OWNER) == TEXT
    assert KeyRing([NEW], HERE).open(_sealed(both), "content", ID, OWNER) == TEXT


@pytest.mark.parametrize(
    ("keys", "purpose", "prepared_id", "owner"),
    [
        (KeyRing([NEW], HERE), "content", ID, OWNER),
        (KeyRing([OLD], HERE), "kept", ID, OWNER),
        (KeyRing([OLD], HERE), "content", PreparedId.new(), OWNER),
        (KeyRing([OLD], HERE), "content", ID, Owner(OWNER.issuer, "other")),
        (KeyRing([OLD], HERE), "content", ID, Owner("https://other.example.org", OWNER.subject)),
        (KeyRing([OLD], Deployment("other@example.org", HERE.public_url)), "content", ID, OWNER),
        (KeyRing([OLD], Deployment(HERE.login)), "content", ID, OWNER),
    ],
    ids=["key", "purpose", "record", "subject", "issuer", "mailbox", "public URL"],
)
def test_it_opens_nowhere_else(keys: KeyRing, purpose: str, prepared_id: PreparedId, owner: Owner) -> None:
    with pytest.raises(SealBroken):
        keys.open(_sealed(), purpose, prepared_id, owner)


def test_no_altered_octet_goes_unnoticed() -> None:
    keys, sealed = KeyRing([NEW, OLD], HERE), _sealed()
    broken = [sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :] for at in range(len(sealed))]
    broken += [sealed[:length] for length in range(len(sealed))] + [sealed + b"\0"]
    for each in broken:
        with pytest.raises(SealBroken):
            keys.open(each, "content", ID, OWNER)


@pytest.mark.parametrize("keys", [[], [b"short"], [OLD, b""], [OLD + b"x"]], ids=range(4))
def test_a_ring_takes_only_keys_of_32_octets(keys: list[bytes]) -> None:
    with pytest.raises(ValueError, match="32 octets"):
        KeyRing(keys, HERE)


# --- the key file of a local store -----------------------------------------------------------------------------


def test_the_local_key_is_made_once_beside_the_database_for_this_account_alone(tmp_path: Path) -> None:
    database = tmp_path / "made" / "store.sqlite3"
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(lambda _: local_key(database), range(32)))
    assert len(keys) == 1
    assert len(keys.pop()) == 32
    (file,) = database.parent.iterdir()
    assert file.name == "store.sqlite3.key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"x" * 31, b"x" * 33])
def test_a_file_that_holds_no_key_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "store.key"
    file.write_bytes(content)
    file.chmod(0o600)
    with pytest.raises(StoreUnavailable, match="does not hold a key"):
        local_key(tmp_path / "store")


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    local_key(tmp_path / "store")
    (tmp_path / "store.key").chmod(0o640)
    with pytest.raises(StoreUnavailable, match="other accounts"):
        local_key(tmp_path / "store")


def test_a_key_that_cannot_be_made_is_refused_without_its_path(tmp_path: Path) -> None:
    os.symlink(tmp_path / "nowhere" / "else", tmp_path / "folder")
    with pytest.raises(StoreUnavailable, match="cannot be read or made") as caught:
        local_key(tmp_path / "folder" / "store")
    assert str(tmp_path) not in caught.value.render()
