"""Where the mailbox is and who logs in: values without behaviour, none of which ever prints a secret."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from mailgate.limits import CONNECT_SECONDS

PORT_MAX = 65_535


class Security(StrEnum):
    """How the connection is protected; there is no opportunistic form."""

    TLS = "tls"
    """Implicit TLS, as RFC 8314 recommends."""
    STARTTLS = "starttls"
    """Mandatory: a server that does not offer it, or refuses it, is not used."""
    PLAINTEXT = "plaintext"
    """Only towards a loopback host."""


def is_loopback(host: str) -> bool:
    """Whether a host can only be this machine: `localhost`, or a loopback address."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_endpoint(protocol: str, host: str, port: int, security: Security) -> None:
    """`ValueError` for an impossible port, an empty host, and plaintext to a host that is not loopback."""
    if not host:
        raise ValueError(f"the {protocol} host is empty")
    if not 1 <= port <= PORT_MAX:
        raise ValueError(f"the {protocol} port is out of range")
    if security is Security.PLAINTEXT and not is_loopback(host):
        raise ValueError(f"{protocol} without TLS is only allowed to a loopback host")


@dataclass(frozen=True, slots=True)
class ImapEndpoint:
    """One IMAP server.

    `ca_file`: trust anchors beside the system's. `connect_seconds`: for connecting, TLS and the greeting together.
    Raises `ValueError` for an impossible port, an empty host, and plaintext to a host that is not loopback.
    """

    host: str
    port: int
    security: Security = Security.TLS
    ca_file: Path | None = None
    connect_seconds: float = CONNECT_SECONDS

    def __post_init__(self) -> None:
        check_endpoint("IMAP", self.host, self.port, self.security)


_UNSENDABLE = re.compile("[\x00\r\n\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Credentials:
    """User name and password of the mailbox, sent in UTF-8.

    NUL, CR, LF and lone surrogates cannot be sent in any form of login (`ValueError`).
    """

    username: str = field(repr=False)
    password: str = field(repr=False)

    def __post_init__(self) -> None:
        if not self.username or not self.password:
            raise ValueError("user name and password are needed")
        if _UNSENDABLE.search(self.username + self.password):
            raise ValueError("user name or password holds a character that cannot be sent")
