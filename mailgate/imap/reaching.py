"""From an exception to the fault behind it: what name resolution, TCP and TLS tell when a server is not reached."""

from __future__ import annotations

import errno
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from mailgate.errors import UpstreamError, UpstreamProtocolError, UpstreamRefused, UpstreamTimeout
from mailgate.faults import Fault

# OpenSSL's X509_V_ERR_* (x509_vfy.h), as `SSLCertVerificationError.verify_code` has them.
_CERTIFICATE: Final = {
    9: Fault.CERTIFICATE_NOT_YET,
    10: Fault.CERTIFICATE_EXPIRED,
    18: Fault.CERTIFICATE_AUTHORITY,  # self-signed
    19: Fault.CERTIFICATE_AUTHORITY,  # self-signed somewhere in its chain
    20: Fault.CERTIFICATE_AUTHORITY,  # the issuer is not known here
    21: Fault.CERTIFICATE_AUTHORITY,  # a chain of one
    62: Fault.CERTIFICATE_HOST,
    64: Fault.CERTIFICATE_HOST,
}
# OpenSSL's reasons for octets that are no TLS record: the peer speaks something else, in the clear.
_NO_TLS: Final = frozenset(
    {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNKNOWN_PROTOCOL", "PACKET_LENGTH_TOO_LONG"}
)
_OLD_TLS: Final = frozenset(
    {"UNSUPPORTED_PROTOCOL", "TLSV1_ALERT_PROTOCOL_VERSION", "VERSION_TOO_LOW", "NO_PROTOCOLS_AVAILABLE"}
)
_UNREACHABLE: Final = frozenset(
    {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN, errno.EACCES, errno.EPERM}
    | {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}
)
_ERRNO: Final = re.compile(r"\[Errno (\d+)\]")


@dataclass(slots=True)
class Progress:
    """How far `create_connection` has come: the port has answered, and TLS (if there is any) stands."""

    arrived: bool = False
    established: bool = False

    def fault(self, error: BaseException, *, implicit_tls: bool) -> Fault:
        """The fault behind an exception that ended the attempt, or what its silence means at this point."""
        known = fault_of(error)
        if known is not None:
            return known
        late = isinstance(error, TimeoutError)
        if not self.arrived:
            return Fault.PORT_SILENT if late else Fault.UNREACHABLE
        if implicit_tls and not self.established:
            return Fault.TLS_SILENT if late else Fault.TLS_FAILED
        return Fault.GREETING_SILENT if late else Fault.GREETING_CLOSED


GREETING_FAULTS: Final[Mapping[type[UpstreamError], Fault]] = MappingProxyType(
    {
        UpstreamTimeout: Fault.GREETING_SILENT,
        UpstreamProtocolError: Fault.GREETING_ODD,
        UpstreamRefused: Fault.GREETING_REFUSED,
    }
)
"""What it means, by the kind of error, that a greeting was not as it should be; any other: it was not given."""


@contextmanager
def unless_told(fault: Fault, by_kind: Mapping[type[UpstreamError], Fault] = MappingProxyType({})) -> Iterator[None]:
    """What a failure in here means when whoever raised it did not know."""
    try:
        yield
    except UpstreamError as error:
        error.because(by_kind.get(type(error), fault))
        raise


def fault_of(error: BaseException) -> Fault | None:
    """The fault that an exception, or one behind it, tells of; None when it is about something else.

    Libraries wrap what the system said, some of them more than once; the innermost one knows best.
    """
    told = [fault for each in _chain(error) if (fault := _fault(each)) is not None]
    return told[-1] if told else None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        if isinstance(error, BaseExceptionGroup) and error.exceptions:
            error = error.exceptions[0]
        else:
            error = error.__cause__ or error.__context__


def _fault(error: BaseException) -> Fault | None:
    if isinstance(error, ssl.SSLError):
        return tls_fault(error)
    if isinstance(error, socket.gaierror):
        unknown = error.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
        return Fault.NAME_UNKNOWN if unknown else Fault.NAME_UNANSWERED
    if isinstance(error, UnicodeError):
        return Fault.NAME_UNKNOWN  # no name that DNS could have
    return _network_fault(error) if isinstance(error, OSError) else None


def _network_fault(error: OSError) -> Fault | None:
    # With several addresses asyncio joins several failures into one text, without a number of its own.
    numbers = {error.errno} if error.errno else set(map(int, _ERRNO.findall(str(error))))
    if errno.ECONNREFUSED in numbers:
        return Fault.PORT_CLOSED
    if errno.ETIMEDOUT in numbers:
        return Fault.PORT_SILENT
    return Fault.UNREACHABLE if numbers & _UNREACHABLE else None


def tls_fault(error: ssl.SSLError) -> Fault:
    """Which of the reasons for which a handshake fails this one was."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _CERTIFICATE.get(error.verify_code, Fault.CERTIFICATE_OTHER)
    reason = error.reason or ""
    if reason in _NO_TLS:
        return Fault.TLS_ABSENT
    return Fault.TLS_TOO_OLD if reason in _OLD_TLS else Fault.TLS_FAILED
