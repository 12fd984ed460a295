"""What a message is wrapped in that is not opened here, named for what it is: TNEF, encryption, signatures."""

from __future__ import annotations

import re
from typing import Final

from mailgate.mime.content import Content
from mailgate.mime.structure import MessagePart
from mailgate.mime.transfer import decode_up_to
from mailgate.mime.warnings import WarningCode, WarningLog

_TNEF: Final = frozenset({"application/ms-tnef", "application/vnd.ms-tnef", "application/x-tnef"})
_TNEF_NAME: Final = "winmail.dat"
_TNEF_SIGNATURE: Final = b"\x78\x9f\x3e\x22"
"""0x223E9F78, little-endian (MS-OXTNEF, 2.1.3.1)."""
_SMIME: Final = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_SMIME_NAME: Final = ".p7m"
_SIGNED_DATA: Final = bytes.fromhex("2a864886f70d010702")
"""The object identifier of signedData (RFC 5652, 5.1)."""
_HEAD: Final = 64
HEAD_OCTETS: Final = 4 * _HEAD
"""Encoded octets in which `_HEAD` decoded ones are."""
_PGP_ENCRYPTED: Final = re.compile(r"^-----BEGIN PGP MESSAGE-----[ \t]*$", re.MULTILINE)
_PGP_SIGNED: Final = re.compile(r"^-----BEGIN PGP SIGNED MESSAGE-----[ \t]*$", re.MULTILINE)


def note_structure(root: MessagePart, log: WarningLog) -> None:
    """Multiparts that say what they are (RFC 1847). Their depth is bounded by `limits.MIME_DEPTH_MAX`."""
    pending = [root]
    while pending:
        part = pending.pop()
        kind = part.content.content_type
        log.add(WarningCode.ENCRYPTED_NOT_DECODED, when=kind == "multipart/encrypted")
        log.add(WarningCode.SIGNATURE_NOT_CHECKED, when=kind == "multipart/signed")
        pending.extend(part.children)


def note_leaf(source: bytes, part: MessagePart, filename: str | None, log: WarningLog) -> None:
    """One attachment, by its type, its name, and its first octets."""
    kind, name = part.content.content_type, (filename or "").lower()
    # Outlook's container often comes as application/octet-stream, under its fixed name or none.
    if kind in _TNEF or name == _TNEF_NAME or (_opaque(kind) and _head(source, part).startswith(_TNEF_SIGNATURE)):
        log.add(WarningCode.TNEF_NOT_DECODED)
    if kind in _SMIME or (_opaque(kind) and name.endswith(_SMIME_NAME)):
        signed = part.content.smime_type in ("signed-data", "signed-receipt", "certs-only")
        if part.content.smime_type is None:
            signed = _SIGNED_DATA in _head(source, part)
        log.add(WarningCode.SIGNED_NOT_OPENED if signed else WarningCode.ENCRYPTED_NOT_DECODED)
    log.add(WarningCode.ENCRYPTED_NOT_DECODED, when=kind == "application/pgp-encrypted")


def needs_head(content: Content) -> bool:
    """Whether the first octets of an attachment are wanted to say whether it is signed or encrypted."""
    kind = content.content_type
    return content.smime_type is None and (
        kind in _SMIME or (_opaque(kind) and (content.filename or "").lower().endswith(_SMIME_NAME))
    )


def note_text(text: str, log: WarningLog) -> None:
    """PGP within the text itself (RFC 9580, 6.2 and 7)."""
    if "-----BEGIN PGP" in text:
        log.add(WarningCode.ENCRYPTED_NOT_DECODED, when=_PGP_ENCRYPTED.search(text) is not None)
        log.add(WarningCode.SIGNATURE_NOT_CHECKED, when=_PGP_SIGNED.search(text) is not None)


def _opaque(kind: str) -> bool:
    return kind in ("application/octet-stream", "application/x-octet-stream")


def _head(source: bytes, part: MessagePart) -> bytes:
    return decode_up_to(source, part.start, min(part.end, part.start + HEAD_OCTETS), part.content.encoding, _HEAD).data
