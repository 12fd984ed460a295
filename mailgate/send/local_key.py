"""The key that seals a local store when the operator gave none: a file beside the database, for this account alone.

It keeps the content of the database from whoever gets only that file (a copy, a deleted block); it is no help against
somebody who can read the directory. `MAIL_STORE_KEY` takes its place once it is set.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from mailgate.errors import StoreUnavailable
from mailgate.send.sealing import KEY_BYTES


def local_key(database: Path) -> bytes:
    """The key beside `database` (its name and `.key`), made at the first call, the same one for every process.

    Raises `StoreUnavailable` when it cannot be read or made, is no key, or can be read by others.
    """
    path = database.with_name(database.name + ".key")
    try:
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make(path)
        return _read(path)
    except OSError:
        raise _unusable("cannot be read or made") from None


def _make(path: Path) -> None:
    """Written aside and linked into place, so that of two processes one wins and nobody reads half a key."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            raise _unusable("can be read by other accounts")
        key = file.read(KEY_BYTES + 1)
    if len(key) != KEY_BYTES:
        raise _unusable("does not hold a key")
    return key


def _unusable(why: str) -> StoreUnavailable:
    return StoreUnavailable(
        f"The key file of the local store {why}; this call sent no message.",
        next_step="The operator looks at the file beside the database, or sets MAIL_STORE_KEY.",
    )
