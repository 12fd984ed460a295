"""`mail_capabilities`, the mailbox's part of it: what this mail server can do, and which folder has which role.

Gates, scopes, tools and limits are the surface's own knowledge and are added there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from mailgate.imap.folders import Role, RoleFolder
from mailgate.imap.values import FolderName, SpecialUse
from mailgate.mime.clean import clean
from mailgate.read.ports import Mailbox

CAPABILITIES_MAX: Final = 200
"""Capabilities shown; the longest list seen (Cyrus) has about ninety."""
CAPABILITY_CHARS_MAX: Final = 64


@dataclass(frozen=True, slots=True)
class ImapReport:
    """`capabilities` as announced after the login, sorted; `features` by short names, true where usable."""

    capabilities: tuple[str, ...]
    features: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class RoleReport:
    """Either the folder with this role, or one sentence that says why there is none."""

    folder: FolderName | None = None
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class MailboxReport:
    """What the mail server told about itself, every role included."""

    imap: ImapReport
    roles: Mapping[SpecialUse, RoleReport]


async def describe_mailbox(mailbox: Mailbox | None) -> MailboxReport | None:
    """The report, or None where no mailbox is configured. Raises what the mailbox raises."""
    if mailbox is None:
        return None
    announced = await mailbox.capabilities()
    roles = await mailbox.roles()
    shown = tuple(clean(str(name)[:CAPABILITY_CHARS_MAX]).text for name in list(announced)[:CAPABILITIES_MAX])
    return MailboxReport(
        imap=ImapReport(shown, dict(announced.features())),
        roles={use: _role(roles.get(use)) for use in SpecialUse},
    )


def _role(found: Role | None) -> RoleReport:
    if isinstance(found, RoleFolder):
        return RoleReport(folder=found.folder)
    return RoleReport(missing="the mail server names no folder for this role" if found is None else found.why)
