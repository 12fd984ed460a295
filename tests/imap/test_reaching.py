"""From an exception to its fault: what the system, TLS and the libraries in between say."""

from __future__ import annotations

import errno
import socket
import ssl

import pytest

from mailgate.errors import StoreUnavailable, UpstreamTimeout, UpstreamUnavailable
from mailgate.faults import Fault, Stage
from mailgate.imap.reaching import Progress, fault_of, unless_told

SYSTEM = {
    Fault.NAME_UNKNOWN: socket.gaierror(socket.EAI_NONAME, "x"),
    Fault.NAME_UNANSWERED: socket.gaierror(socket.EAI_AGAIN, "x"),
    Fault.PORT_CLOSED: ConnectionRefusedError(errno.ECONNREFUSED, "x"),
    Fault.PORT_SILENT: OSError(errno.ETIMEDOUT, "x"),
    Fault.UNREACHABLE: OSError(errno.ENETUNREACH, "x"),
}


@pytest.mark.parametrize("fault", SYSTEM)
def test_what_the_system_says_is_understood(fault: Fault) -> None:
    assert fault_of(SYSTEM[fault]) is fault


def test_a_host_name_that_dns_cannot_have_is_unknown() -> None:
    with pytest.raises(UnicodeError) as raised:
        ("a" * 70 + ".example").encode("idna")
    assert fault_of(raised.value) is Fault.NAME_UNKNOWN


def test_failures_of_several_addresses_joined_into_one_text_are_understood() -> None:
    joined = "Multiple exceptions: [Errno 101] Network is unreachable, [Errno 111] Connect call failed"
    assert fault_of(OSError(joined)) is Fault.PORT_CLOSED


def test_the_innermost_failure_counts() -> None:
    outer = RuntimeError("library")
    outer.__cause__ = OSError("All connection attempts failed")
    outer.__cause__.__context__ = ExceptionGroup("x", [SYSTEM[Fault.PORT_CLOSED]])
    assert fault_of(outer) is Fault.PORT_CLOSED


def test_a_chain_that_bites_its_tail_ends() -> None:
    one, other = RuntimeError("1"), RuntimeError("2")
    one.__cause__, other.__cause__ = other, one
    assert fault_of(one) is None


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        (9, Fault.CERTIFICATE_NOT_YET),
        (10, Fault.CERTIFICATE_EXPIRED),
        (18, Fault.CERTIFICATE_AUTHORITY),
        (19, Fault.CERTIFICATE_AUTHORITY),
        (20, Fault.CERTIFICATE_AUTHORITY),
        (62, Fault.CERTIFICATE_HOST),
        (64, Fault.CERTIFICATE_HOST),
        (26, Fault.CERTIFICATE_OTHER),
    ],
)
def test_openssls_reasons_to_reject_a_certificate(code: int, fault: Fault) -> None:
    error = ssl.SSLCertVerificationError()
    error.verify_code = code
    assert fault_of(error) is fault


def test_silence_means_another_thing_at_each_point() -> None:
    late = TimeoutError()
    assert Progress().fault(late, implicit_tls=True) is Fault.PORT_SILENT
    assert Progress(arrived=True).fault(late, implicit_tls=True) is Fault.TLS_SILENT
    assert Progress(arrived=True).fault(late, implicit_tls=False) is Fault.GREETING_SILENT
    assert Progress(arrived=True, established=True).fault(late, implicit_tls=True) is Fault.GREETING_SILENT
    assert Progress(arrived=True).fault(ConnectionResetError(), implicit_tls=True) is Fault.TLS_FAILED


def test_the_first_fault_that_is_told_stays() -> None:
    with pytest.raises(UpstreamTimeout) as raised, unless_told(Fault.LOGIN_UNANSWERED):
        raise UpstreamTimeout().because(Fault.TLS_SILENT)
    assert raised.value.fault is Fault.TLS_SILENT


def test_who_did_not_know_is_told_by_where_it_happened() -> None:
    by_kind = {UpstreamTimeout: Fault.GREETING_SILENT}
    with pytest.raises(UpstreamUnavailable) as raised, unless_told(Fault.GREETING_CLOSED, by_kind):
        raise UpstreamUnavailable
    assert raised.value.fault is Fault.GREETING_CLOSED
    with pytest.raises(UpstreamTimeout) as late, unless_told(Fault.GREETING_CLOSED, by_kind):
        raise UpstreamTimeout
    assert late.value.fault is Fault.GREETING_SILENT


def test_a_fault_is_no_part_of_what_a_caller_reads() -> None:
    assert StoreUnavailable().because(Fault.PASSWORD_WRONG).render() == StoreUnavailable().render()
    assert UpstreamUnavailable().fault is None


def test_every_fault_belongs_to_a_stage() -> None:
    assert {fault.stage for fault in Fault} == set(Stage)
