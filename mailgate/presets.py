"""Hosts and ports of mail providers, as data: what `MAIL_PROVIDER` fills in.

A provider is here when its own help pages name the hosts and when it still lets a mail program log in with a password
(often an app password). Outlook.com and Microsoft 365 are left out on purpose: they switched password login off.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Security = Literal["tls", "starttls"]


@dataclass(frozen=True, slots=True)
class Preset:
    """One provider: `*_port` are TCP ports; the security modes are the ones its documentation prefers."""

    imap_host: str
    smtp_host: str
    imap_port: int = 993
    imap_security: Security = "tls"
    smtp_port: int = 465
    smtp_security: Security = "tls"

    def variables(self) -> dict[str, str]:
        """The preset written as settings, so that an explicit variable simply wins over it."""
        return {
            "MAIL_IMAP_HOST": self.imap_host,
            "MAIL_IMAP_PORT": str(self.imap_port),
            "MAIL_IMAP_SECURITY": self.imap_security,
            "MAIL_SMTP_HOST": self.smtp_host,
            "MAIL_SMTP_PORT": str(self.smtp_port),
            "MAIL_SMTP_SECURITY": self.smtp_security,
        }


# Each line names its source. RFC 8314, 3.3 prefers implicit TLS (465) for submission; where a provider documents
# both, that port is taken.
PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        # Spaceship knowledge base, Spacemail client settings.
        "spacemail": Preset("mail.spacemail.com", "mail.spacemail.com"),
        # Fastmail Help, "Server names and ports" (465 implicit TLS only).
        "fastmail": Preset("imap.fastmail.com", "smtp.fastmail.com"),
        # Google, "IMAP, POP, and SMTP" for Gmail; needs an app password.
        "gmail": Preset("imap.gmail.com", "smtp.gmail.com"),
        # GMX Hilfe, "IMAP-Serverdaten", and the Mozilla ISP database, gmx.net.
        "gmx": Preset("imap.gmx.net", "mail.gmx.net"),
        # Apple Support, "iCloud Mail server settings": submission is STARTTLS on 587; needs an app-specific password.
        "icloud": Preset("imap.mail.me.com", "smtp.mail.me.com", smtp_port=587, smtp_security="starttls"),
        # mailbox.org knowledge base, "Email configuration".
        "mailbox.org": Preset("imap.mailbox.org", "smtp.mailbox.org"),
        # Delta Chat provider database and Mozilla ISP database, posteo.de; needs an app password.
        "posteo": Preset("posteo.de", "posteo.de"),
        # Yahoo Help, "IMAP server settings", and the Mozilla ISP database, yahoo.com; needs an app password.
        "yahoo": Preset("imap.mail.yahoo.com", "smtp.mail.yahoo.com"),
        # Zoho Mail Help, "IMAP access", personal accounts of the US region; others set their hosts themselves.
        "zoho": Preset("imap.zoho.com", "smtp.zoho.com"),
    }
)
