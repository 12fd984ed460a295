"""Faults in plain words: what happened, and what to do about it. Nothing that a server wrote is part of either."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from mailgate.doctor.notes import Notes
from mailgate.faults import Fault, Stage

_TWICE: Final = re.compile(r"\b([A-Z_]{4,}+) (?:and|or) \1\b")
"""One variable that stands for both of what a sentence names."""
_SCHEME: Final = "Correct {host_variable}: its scheme says whether the connection begins with TLS."
_USUAL_PORTS: Final = {"http": 80, "https": 443, "redis": 6379, "rediss": 6379}


@dataclass(frozen=True, slots=True)
class Subject:
    """One server, and the variables that lead to it; every field can stand in a sentence of the table."""

    name: str
    host: str
    port: int
    host_variable: str
    port_variable: str
    security_variable: str
    user_variable: str
    password_variable: str
    tls_port: int = 0
    clear_port: int = 0

    @classmethod
    def of_url(cls, name: str, url: str, variable: str, *, secret_variable: str | None = None) -> Subject:
        """A server that one variable leads to."""
        parts = urlsplit(url)
        port = parts.port or _USUAL_PORTS.get(parts.scheme, 443)
        host = parts.hostname or "localhost"
        return cls(name, host, port, variable, variable, variable, variable, secret_variable or variable, port, port)


@dataclass(frozen=True, slots=True)
class Cause:
    """Two sentences, with the fields of a `Subject` in braces."""

    cause: str
    next_step: str

    def about(self, subject: Subject) -> tuple[str, str]:
        """Both, said of one server."""
        fields = {name: getattr(subject, name) for name in Subject.__dataclass_fields__}
        step = self.next_step
        if subject.security_variable == subject.host_variable and "{security_variable}=" in step:
            # Host, port and TLS are all in one address: it cannot be set to `tls`.
            step = _SCHEME
        return self.cause.format(**fields), _TWICE.sub(r"\1", step.format(**fields))


_CORRECT_LOGIN: Final = "Correct {user_variable} and {password_variable}"

CAUSES: Final[Mapping[Fault, Cause]] = MappingProxyType(
    {
        Fault.NAME_UNKNOWN: Cause(
            "DNS knows no host {host}.", "Correct {host_variable}; your provider's help pages have the name."
        ),
        Fault.NAME_UNANSWERED: Cause(
            "The name {host} could not be looked up: no name server answered.",
            "Check this machine's DNS and network, then run the doctor again.",
        ),
        Fault.PORT_CLOSED: Cause(
            "{host} refuses connections on port {port}: nothing listens there, or a firewall says no.",
            "Correct {port_variable} and {host_variable}, or start the server.",
        ),
        Fault.UNREACHABLE: Cause(
            "There is no way from here to port {port} of {host}.",
            "Check this machine's network, its firewall and IPv6, then {host_variable}.",
        ),
        Fault.PORT_SILENT: Cause(
            "Port {port} of {host} is blocked: nothing answered the attempt to connect, not even with a refusal.",
            "Have port {port} opened by your hosting provider or firewall (many block mail ports), or correct "
            "{port_variable}.",
        ),
        Fault.CERTIFICATE_HOST: Cause(
            "The certificate of the {name} is for another host than {host}.",
            "Set {host_variable} to a name that is in the certificate; your provider's help pages have it.",
        ),
        Fault.CERTIFICATE_EXPIRED: Cause(
            "The certificate of the {name} has expired, by this machine's clock.",
            "Look at the check of the clock first; if that is right, the {name} needs a new certificate.",
        ),
        Fault.CERTIFICATE_NOT_YET: Cause(
            "The certificate of the {name} is not valid yet, by this machine's clock.",
            "This machine's clock is most likely behind: set it, and keep it right with NTP.",
        ),
        Fault.CERTIFICATE_AUTHORITY: Cause(
            "The certificate of the {name} is self-signed, or from an authority that this machine does not know.",
            "If the server is yours, put the certificate of its authority (PEM) into a file and name that file in "
            "MAIL_TLS_CA_FILE; if not, do not trust it.",
        ),
        Fault.CERTIFICATE_OTHER: Cause(
            "The certificate of the {name} cannot be verified.",
            "Have the server's certificate chain put right; verification cannot be turned off.",
        ),
        Fault.TLS_TOO_OLD: Cause(
            "The {name} speaks no TLS newer than 1.1.", "Use a server with TLS 1.2 or later; older TLS is not used."
        ),
        Fault.TLS_ABSENT: Cause(
            "Port {port} of {host} speaks without TLS, but the settings say that it begins with TLS.",
            "Set {security_variable}=starttls, or {port_variable} to the port that begins with TLS "
            "(usually {tls_port}).",
        ),
        Fault.TLS_SILENT: Cause(
            "Port {port} of {host} is open, but nothing answers the TLS handshake: the port is blocked on the way, or "
            "it does not begin with TLS.",
            "Have port {port} opened by your hosting provider or firewall; or check {port_variable} and "
            "{security_variable}.",
        ),
        Fault.TLS_FAILED: Cause(
            "The {name} broke off the TLS handshake; its TLS may be too old (1.2 or later is needed).",
            "Check {port_variable}, and the TLS set-up of the server.",
        ),
        Fault.STARTTLS_MISSING: Cause(
            "The {name} offers no STARTTLS on port {port}, and without it the password would be readable on the way.",
            "Set {security_variable}=tls with the port that begins with TLS (usually {tls_port}); if the server "
            "should offer STARTTLS, something between strips it.",
        ),
        Fault.STARTTLS_REFUSED: Cause(
            "The {name} offers STARTTLS and then refuses it.",
            "Set {security_variable}=tls with the port that begins with TLS (usually {tls_port}).",
        ),
        Fault.STARTTLS_INJECTED: Cause(
            "Something sent data between STARTTLS and TLS, as an attacker on the way would.",
            "Do not use this network or server until that is explained; prefer {security_variable}=tls.",
        ),
        Fault.CA_FILE: Cause("MAIL_TLS_CA_FILE cannot be used.", "Name a readable PEM file with certificates."),
        Fault.GREETING_SILENT: Cause(
            "Port {port} of {host} is open, but no {name} greets there: the traffic is blocked on the way, or "
            "another service listens.",
            "Have port {port} opened by your hosting provider or firewall; or check {port_variable} and "
            "{security_variable}.",
        ),
        Fault.GREETING_CLOSED: Cause(
            "{host} took the connection on port {port} and closed it without a greeting.",
            "Check {port_variable}; if it is right, the server turns this machine away: ask its operator.",
        ),
        Fault.GREETING_REFUSED: Cause(
            "The {name} greets with a refusal: it takes no connection from here now.",
            "Wait and run the doctor again; if it stays so, the server's operator knows why.",
        ),
        Fault.GREETING_ODD: Cause(
            "What answers on port {port} of {host} is no {name}.", "Correct {port_variable} and {host_variable}."
        ),
        Fault.TLS_EXPECTED: Cause(
            "Port {port} of {host} begins with TLS, but the settings say that it begins in the clear.",
            "Set {security_variable}=tls, or {port_variable} to the port that begins in the clear "
            "(usually {clear_port}).",
        ),
        Fault.PASSWORD_WRONG: Cause(
            "The {name} says that user and password do not belong together. It was tried once.",
            _CORRECT_LOGIN + "; many providers want an app password here, made in the account's settings.",
        ),
        Fault.LOGIN_REFUSED: Cause(
            "The {name} refused the login and does not say why. It was tried once.",
            _CORRECT_LOGIN + "; check that the provider still allows passwords for mail programs: some want an app "
            "password, some allow only OAuth.",
        ),
        Fault.PASSWORD_EXPIRED: Cause(
            "The {name} says that the password has expired.", "Set a new one at the provider, then {password_variable}."
        ),
        Fault.PASSWORD_NOT_FOR_PROGRAMS: Cause(
            "The provider wants an app password here, not the one of the account.",
            "Make an app password in the account's security settings and put it into {password_variable}.",
        ),
        Fault.PASSWORD_LOGIN_OFF: Cause(
            "The provider does not let this account log in with a password from a mail program.",
            "Switch on access for mail programs in the account's settings; if the provider allows only OAuth "
            "(Outlook, Microsoft 365), mailgate cannot use this mailbox.",
        ),
        Fault.OAUTH_ONLY: Cause(
            "The {name} offers only OAuth, no login with a password.",
            "mailgate logs in with a password: see whether the provider has app passwords; else it cannot use this "
            "mailbox.",
        ),
        Fault.NO_LOGIN_OFFERED: Cause(
            "The {name} offers no login with a password on this connection.",
            "Check {security_variable} and {port_variable}: logins may be allowed on another port only. Else the "
            "provider has switched password logins off.",
        ),
        Fault.LOGIN_NEEDS_TLS: Cause(
            "The {name} takes a login only inside TLS.", "Set {security_variable} to tls or starttls."
        ),
        Fault.LOGIN_NEEDS_BROWSER: Cause(
            "The provider wants the owner to confirm something in a browser before it lets a program log in.",
            "Log in to the account's web page, confirm what it asks, then run the doctor again.",
        ),
        Fault.LOGIN_BUSY: Cause(
            "The {name} takes no login at the moment: too many connections, or a fault of its own. The password was "
            "not judged.",
            "Close other mail programs of this account or wait some minutes, then run the doctor again.",
        ),
        Fault.LOGIN_UNANSWERED: Cause(
            "The {name} did not answer the login as it should; whether the password is right is not known. It was "
            "tried once.",
            "Run the doctor again later; if it stays so, ask the server's operator.",
        ),
        Fault.NOT_PERMITTED: Cause(
            "The {name} lets this user in, but not do what is needed.",
            "Give the user the rights that docs/doctor.md names, or use another one in {user_variable}.",
        ),
        Fault.SESSION_FAILED: Cause(
            "The {name} let us in and then did not do its part.",
            "Run the doctor again later; if it stays so, ask the server's operator.",
        ),
    }
)


def tell(notes: Notes, check: str, fault: Fault, subject: Subject) -> None:
    """Write the fault down as the failure of a check."""
    notes.fail(check, *CAUSES[fault].about(subject))


def tell_stages(notes: Notes, area: str, order: tuple[Stage, ...], fault: Fault | None, subject: Subject) -> None:
    """A line for each stage: well up to the fault's, which failed; what follows was not reached."""
    if fault is None:
        for stage in order:
            notes.ok(f"{area}.{stage}")
        return
    # Without trust anchors nobody even tries to connect.
    reached = order.index(fault.stage)
    unreached = order if fault is Fault.CA_FILE else order[reached:]
    for stage in order:
        check = f"{area}.{stage}"
        if stage is order[reached]:
            tell(notes, check, fault, subject)
        elif stage in unreached:
            notes.skip(check, f"Not reached: see {area}.{order[reached]}.")
        else:
            notes.ok(check)
