"""Sealing: what a store holds can be neither read nor exchanged without the key.

AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce. The additional data binds the octets to their purpose, the
record, the deployment and the owner: moved to another record, they no longer open.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from mailgate.send.record import Deployment, Owner, PreparedId, frame

KEY_BYTES = 32
_FORMAT = b"\x01"
_NONCE_BYTES = 12
_TAG_BYTES = 16


class SealBroken(Exception):
    """The octets were altered, belong elsewhere, or were sealed with a key that is no longer in the ring."""


class KeyRing:
    """Keys of 32 octets: the first one seals, every one opens, so a new key can be put in front of the old one."""

    def __init__(self, keys: Sequence[bytes], deployment: Deployment) -> None:
        if not keys or any(len(key) != KEY_BYTES for key in keys):
            raise ValueError("a key ring needs keys of 32 octets")
        self._ciphers = tuple(AESGCM(key) for key in keys)
        self._deployment = deployment

    def seal(self, data: bytes, purpose: str, prepared_id: PreparedId, owner: Owner) -> bytes:
        """Sealed octets: format, nonce, ciphertext with tag."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        bound = self._bound(purpose, prepared_id, owner)
        return _FORMAT + nonce + self._ciphers[0].encrypt(nonce, data, bound)

    def open(self, sealed: bytes, purpose: str, prepared_id: PreparedId, owner: Owner) -> bytes:
        """What was sealed. Raises `SealBroken`."""
        nonce, rest = sealed[1 : 1 + _NONCE_BYTES], sealed[1 + _NONCE_BYTES :]
        if sealed[:1] != _FORMAT or len(rest) < _TAG_BYTES:
            raise SealBroken
        bound = self._bound(purpose, prepared_id, owner)
        for cipher in self._ciphers:
            try:
                return cipher.decrypt(nonce, rest, bound)
            except InvalidTag:
                continue
        raise SealBroken

    def _bound(self, purpose: str, prepared_id: PreparedId, owner: Owner) -> bytes:
        deployment = self._deployment
        parts = (purpose, prepared_id.value, deployment.login, deployment.public_url, owner.issuer, owner.subject)
        return frame(*(part.encode() for part in parts))
