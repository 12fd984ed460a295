"""The key ring of a local store without MAIL_STORE_KEY: nothing is read or made before something is sealed."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from mailgate.send.local_key import local_key
from mailgate.send.record import Deployment, Owner, PreparedId
from mailgate.send.sealing import KeyRing


class LocalKeyRing(KeyRing):
    """As `KeyRing`, with the one key beside `database`. Sealing and opening can raise `StoreUnavailable`."""

    def __init__(self, database: Path, deployment: Deployment) -> None:
        self._database = database
        self._deployment = deployment

    def seal(self, data: bytes, purpose: str, prepared_id: PreparedId, owner: Owner) -> bytes:
        """See `KeyRing.seal`."""
        return self._ring.seal(data, purpose, prepared_id, owner)

    def open(self, sealed: bytes, purpose: str, prepared_id: PreparedId, owner: Owner) -> bytes:
        """See `KeyRing.open`."""
        return self._ring.open(sealed, purpose, prepared_id, owner)

    @cached_property
    def _ring(self) -> KeyRing:
        return KeyRing([local_key(self._database)], self._deployment)
