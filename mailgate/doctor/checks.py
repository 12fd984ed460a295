"""THE TABLE of checks: one row each, in the order in which they are printed. docs/doctor.md follows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mailgate.imap.values import SpecialUse


@dataclass(frozen=True, slots=True)
class Check:
    """One check. The part of `id` before the dot is the area that looks."""

    id: str
    looks_at: str

    @property
    def area(self) -> str:
        """Who looks."""
        return self.id.partition(".")[0]


ROLES: Final = tuple(role for role in SpecialUse if role is not SpecialUse.INBOX)

CHECKS: Final = (
    Check("settings", "every variable, and what contradicts or is unsafe"),
    Check("http", "what the HTTP endpoint needs to start"),
    Check("gates", "whether what is switched on can work"),
    Check("public_url", "MAIL_PUBLIC_URL"),
    Check("imap.dns", "the name of the IMAP server"),
    Check("imap.connect", "its port"),
    Check("imap.tls", "its certificate and TLS, or STARTTLS"),
    Check("imap.greeting", "that an IMAP server answers there"),
    Check("imap.login", "user and password, tried once"),
    Check("imap.session", "the session after the login, and the list of folders"),
    Check("imap.move", "MOVE"),
    Check("imap.uidplus", "UIDPLUS"),
    Check("imap.condstore", "CONDSTORE"),
    Check("imap.special_use", "SPECIAL-USE"),
    *(Check(f"role.{role}", f"which folder is `role:{role}`") for role in ROLES),
    Check("smtp.dns", "the name of the SMTP server"),
    Check("smtp.connect", "its port"),
    Check("smtp.tls", "its certificate and TLS, or STARTTLS"),
    Check("smtp.greeting", "that an SMTP server answers there, EHLO included"),
    Check("smtp.login", "user and password, tried once"),
    Check("smtp.size", "the largest message it takes"),
    Check("store.reach", "that the store answers, or its file can be used"),
    Check("store.eviction", "that the store removes nothing before its time"),
    Check("store.kept", "that records outlive a restart"),
    Check("issuer.metadata", "the issuer's metadata, and that it names itself as MAIL_OAUTH_ISSUER does"),
    Check("issuer.keys", "the issuer's keys"),
    Check("clock", "this machine's clock against the servers it talks to"),
)


def checks_of(*areas: str) -> tuple[str, ...]:
    """The ids of some areas' checks."""
    return tuple(check.id for check in CHECKS if check.area in areas)
