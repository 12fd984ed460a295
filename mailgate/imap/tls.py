"""The one way mailgate does TLS towards a mail server: verified, TLS 1.2 or later, no switch to turn it off."""

from __future__ import annotations

import asyncio
import functools
import ssl
from dataclasses import dataclass
from pathlib import Path

from mailgate.errors import UpstreamTimeout, UpstreamUnavailable
from mailgate.faults import Fault
from mailgate.imap.reaching import tls_fault


@dataclass(frozen=True, slots=True)
class Validity:
    """From when to when a certificate is valid, in seconds since 1970."""

    begins: int
    ends: int


def client_context(ca_file: Path | None = None) -> ssl.SSLContext:
    """The system's trust anchors plus those in `ca_file` (PEM); host names are checked.

    Raises `UpstreamUnavailable` when the file cannot be used.
    """
    # RFC 8314, 4.1 and RFC 9325, 3.1.1: nothing below TLS 1.2; RFC 7817: the certificate must name the host.
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if ca_file is not None:
        try:
            context.load_verify_locations(cafile=ca_file)
        except (OSError, ValueError):
            raise UpstreamUnavailable(
                "MAIL_TLS_CA_FILE cannot be used.", next_step="The operator names a readable PEM file."
            ).because(Fault.CA_FILE) from None
    return context


@functools.lru_cache(maxsize=8)
def session_context(ca_file: Path | None = None) -> ssl.SSLContext:
    """As `client_context`, made once in this process: reading the system's trust anchors takes tens of milliseconds."""
    return client_context(ca_file)


def tls_failure(error: ssl.SSLError) -> UpstreamUnavailable:
    """What a failed handshake means to a caller; certificate contents never become part of the sentence."""
    if isinstance(error, ssl.SSLCertVerificationError):
        unusable = UpstreamUnavailable(
            "The mail server's certificate is not trusted, has expired, or is for another host.",
            next_step="The operator runs `mailgate doctor`; a private authority goes into MAIL_TLS_CA_FILE.",
        )
    else:
        unusable = UpstreamUnavailable("TLS with the mail server could not be established.")
    return unusable.because(tls_fault(error))


def validity_of(transport: asyncio.BaseTransport | None) -> Validity | None:
    """When the certificate of the peer is valid; None without TLS."""
    certificate = transport.get_extra_info("peercert") if transport is not None else None
    if not certificate:
        return None
    return Validity(*(ssl.cert_time_to_seconds(certificate[name]) for name in ("notBefore", "notAfter")))


def connect_failure(error: BaseException, fault: Fault) -> BaseException:
    """What went wrong while connecting, as an error a caller may see; cancellation stays what it is."""
    if isinstance(error, TimeoutError):
        return UpstreamTimeout("The mail server did not accept the connection in time.").because(fault)
    if isinstance(error, ssl.SSLError):
        return tls_failure(error)
    return UpstreamUnavailable().because(fault) if isinstance(error, OSError | UnicodeError) else error
