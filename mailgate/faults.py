"""Why a server could not be used: finer than the codes of `errors.py`, and for the operator alone.

A caller is told a code and a sentence. `mailgate doctor` asks the doors the same way as a call does, and reads here
what exactly went wrong. A fault is a fact about the connection; nothing that a server wrote is part of it.
"""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """How far a connection has come, in the order of the work."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    """STARTTLS included."""
    GREETING = "greeting"
    """What the server says first; EHLO included."""
    LOGIN = "login"
    SESSION = "session"
    """What follows the login."""


class Fault(StrEnum):
    """One kind of failure; the word before the dot is its stage."""

    NAME_UNKNOWN = "dns.unknown"
    NAME_UNANSWERED = "dns.unanswered"

    PORT_CLOSED = "connect.closed"
    UNREACHABLE = "connect.unreachable"
    PORT_SILENT = "connect.silent"

    CERTIFICATE_HOST = "tls.wrong_host"
    CERTIFICATE_EXPIRED = "tls.expired"
    CERTIFICATE_NOT_YET = "tls.not_yet_valid"
    CERTIFICATE_AUTHORITY = "tls.unknown_authority"
    CERTIFICATE_OTHER = "tls.not_verified"
    TLS_TOO_OLD = "tls.too_old"
    TLS_ABSENT = "tls.plain_server"
    TLS_SILENT = "tls.silent"
    TLS_FAILED = "tls.failed"
    STARTTLS_MISSING = "tls.starttls_missing"
    STARTTLS_REFUSED = "tls.starttls_refused"
    STARTTLS_INJECTED = "tls.starttls_injected"
    CA_FILE = "tls.ca_file"

    GREETING_SILENT = "greeting.silent"
    GREETING_CLOSED = "greeting.closed"
    GREETING_REFUSED = "greeting.refused"
    GREETING_ODD = "greeting.odd"
    TLS_EXPECTED = "greeting.tls_expected"

    PASSWORD_WRONG = "login.password"  # noqa: S105  a kind of failure
    LOGIN_REFUSED = "login.refused"
    PASSWORD_EXPIRED = "login.expired"  # noqa: S105
    PASSWORD_NOT_FOR_PROGRAMS = "login.app_password"  # noqa: S105
    PASSWORD_LOGIN_OFF = "login.password_off"  # noqa: S105
    OAUTH_ONLY = "login.oauth_only"
    NO_LOGIN_OFFERED = "login.not_offered"
    LOGIN_NEEDS_TLS = "login.needs_tls"
    LOGIN_NEEDS_BROWSER = "login.browser"
    LOGIN_BUSY = "login.busy"
    LOGIN_UNANSWERED = "login.unanswered"

    NOT_PERMITTED = "session.not_permitted"
    SESSION_FAILED = "session.failed"

    @property
    def stage(self) -> Stage:
        """Where it happened; every stage before it went well."""
        return Stage(self.value.partition(".")[0])
