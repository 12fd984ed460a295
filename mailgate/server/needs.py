"""What a tool needs beyond authority: an extension of the mail server, a folder with a role, a sender.

Told by mail_capabilities before anyone calls; the use cases check for themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mailgate.imap.values import SpecialUse
    from mailgate.read.capabilities import MailboxReport
    from mailgate.settings import Settings


@dataclass(frozen=True, slots=True)
class Needs:
    """`feature`: a key of `imap.features`. `sender`: MAIL_FROM. `store`: one for prepared messages."""

    feature: str | None = None
    role: SpecialUse | None = None
    sender: bool = False
    store: bool = False

    def unmet(self, settings: Settings, report: MailboxReport | None, *, has_store: bool) -> str | None:
        """Why the tool cannot be called, or None. Nothing is held against a mail server that was not reached."""
        if self.sender and settings.mail_from is None:
            return "not configured: MAIL_FROM"
        if self.store and not has_store:
            return "not configured: no store for prepared messages"
        if report is None:
            return None
        if self.feature is not None and not report.imap.features[self.feature]:
            return f"the mail server lacks {self.feature.upper()}"
        if self.role is not None and report.roles[self.role].missing is not None:
            return f"no folder with the role {self.role}: {report.roles[self.role].missing}"
        return None


NOTHING = Needs()
