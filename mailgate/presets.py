"""Hosts and ports of mail providers, as data: what `MAIL_PROVIDER` fills in.

A provider is here when it still lets a mail program log in with a password (often an app password). Outlook.com and
Microsoft 365 are left out on purpose: they switched password login off.
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


# RFC 8314, 3.3 prefers implicit TLS (465) for submission; where a provider offers both, that port is taken. Hosts are
# as public client databases and published set-ups have them; `mailgate config` shows what a preset fills in, and an
# explicit variable wins when a provider has moved.
PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "spacemail": Preset("mail.spacemail.com", "mail.spacemail.com"),
        "fastmail": Preset("imap.fastmail.com", "smtp.fastmail.com"),
        # Needs an app password.
        "gmail": Preset("imap.gmail.com", "smtp.gmail.com"),
        "gmx": Preset("imap.gmx.net", "mail.gmx.net"),
        # Submission is STARTTLS on 587 only; needs an app-specific password.
        "icloud": Preset("imap.mail.me.com", "smtp.mail.me.com", smtp_port=587, smtp_security="starttls"),
        "mailbox.org": Preset("imap.mailbox.org", "smtp.mailbox.org"),
        # Needs an app password for some accounts.
        "posteo": Preset("posteo.de", "posteo.de"),
        # Needs an app password.
        "yahoo": Preset("imap.mail.yahoo.com", "smtp.mail.yahoo.com"),
        # Personal accounts of the US region; others set their hosts themselves.
        "zoho": Preset("imap.zoho.com", "smtp.zoho.com"),
    }
)
