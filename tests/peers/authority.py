"""A throw-away certificate authority, made once per test session.

`authority().ca_file` goes into a client's extra trust anchors; `authority().certificate()` gives what a server needs.
"""

from __future__ import annotations

import atexit
import datetime
import functools
import shutil
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path

import trustme

LOOPBACK = ("localhost", "127.0.0.1")


@dataclass(frozen=True)
class Certificate:
    """A server's certificate chain and key, in memory and as PEM files."""

    chain: bytes
    key: bytes
    chain_file: Path
    key_file: Path

    def server_context(self, *, maximum: ssl.TLSVersion | None = None) -> ssl.SSLContext:
        """A server-side context; `maximum` makes an old server, which needs OpenSSL's lowest security level."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.chain_file, self.key_file)
        if maximum is not None:
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
            context.maximum_version = maximum
        return context


class Authority:
    """One CA and the certificates it has issued, kept in a folder that goes when the process ends."""

    def __init__(self) -> None:
        self._ca = trustme.CA()
        self._folder = Path(tempfile.mkdtemp(prefix="mailgate-ca-"))
        atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        self.ca_file = self._folder / "ca.pem"
        self._ca.cert_pem.write_to_path(self.ca_file)
        self._issued: dict[tuple[tuple[str, ...], bool], Certificate] = {}

    def certificate(self, *names: str, expired: bool = False) -> Certificate:
        """For the given names (loopback when none are given); cached."""
        wanted = (names or LOOPBACK, expired)
        if wanted not in self._issued:
            self._issued[wanted] = self._issue(*wanted)
        return self._issued[wanted]

    def _issue(self, names: tuple[str, ...], expired: bool) -> Certificate:
        past = datetime.datetime(2001, 1, 1, tzinfo=datetime.UTC)
        leaf = self._ca.issue_cert(
            *names, **({"not_before": past, "not_after": past.replace(year=2002)} if expired else {})
        )
        chain = b"".join(blob.bytes() for blob in leaf.cert_chain_pems)
        key = leaf.private_key_pem.bytes()
        stem = self._folder / str(len(self._issued))
        chain_file, key_file = stem.with_suffix(".chain.pem"), stem.with_suffix(".key.pem")
        chain_file.write_bytes(chain)
        key_file.write_bytes(key)
        return Certificate(chain, key, chain_file, key_file)


@functools.cache
def authority() -> Authority:
    """The session's authority."""
    return Authority()


@functools.cache
def foreign_authority() -> Authority:
    """One that nobody trusts."""
    return Authority()
