"""What the IMAP server lacks, and what that costs: as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from mailgate.doctor.notes import Notes
from mailgate.imap.capabilities import CapabilitySet
from mailgate.settings import Settings


@dataclass(frozen=True, slots=True)
class Feature:
    """A key of `CapabilitySet.features`, and what a mailbox without it cannot do."""

    name: str
    cost: str


FEATURES: Final = (
    Feature(
        "move",
        "The IMAP server has no MOVE: mail_move and mail_trash are refused, because copying and deleting is no safe "
        "substitute.",
    ),
    Feature(
        "uidplus",
        "The IMAP server has no UIDPLUS: mail_delete_permanently is refused, and copies, moves and drafts are accepted "
        "without the new reference.",
    ),
    Feature(
        "condstore",
        "The IMAP server has no CONDSTORE: changes of flags are not protected against another program's change at the "
        "same moment, and unchanged_since is refused.",
    ),
    Feature(
        "special_use",
        "The IMAP server has no SPECIAL-USE: it may not say which folder is Sent or Trash.",
    ),
)
NO_CURE: Final = "Nothing to set here: use a provider whose server has it, or do without."
ROLES_CURE: Final = "See the checks of the roles; MAIL_FOLDER_ROLES says it in the server's place."


def judge_features(notes: Notes, offered: CapabilitySet, settings: Settings) -> None:
    """A line for each feature of the table."""
    features = offered.features()
    for feature in FEATURES:
        check = f"imap.{feature.name}"
        if features[feature.name]:
            notes.ok(check)
        elif feature.name == "special_use":
            notes.warn(check, feature.cost, ROLES_CURE)
        else:
            idle = "" if settings.gates else " Nothing of this is switched on now."
            notes.warn(check, feature.cost + idle, NO_CURE)
