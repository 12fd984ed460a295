"""Folders and their roles: what the server says about them, and nothing guessed (RFC 9051, 7.3.1; RFC 6154)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

from mailgate.errors import SpecialUseMissing
from mailgate.imap.list_data import ListData
from mailgate.imap.mutf7 import of_wire
from mailgate.imap.values import INBOX, FolderName, HierarchyDelimiter, SpecialUse

# use-attr = "\All" / "\Archive" / "\Drafts" / "\Flagged" / "\Junk" / "\Sent" / "\Trash" / use-attr-ext (RFC 6154, 6)
_ROLES: Final[Mapping[str, SpecialUse]] = {f"\\{role.value}": role for role in SpecialUse if role != SpecialUse.INBOX}
_ATTRIBUTES: Final[Mapping[str, str]] = {
    word.lower(): word
    for word in (
        "\\Noinferiors \\Noselect \\NonExistent \\Marked \\Unmarked \\HasChildren \\HasNoChildren \\Subscribed "
        "\\Remote \\All \\Archive \\Drafts \\Flagged \\Junk \\Sent \\Trash \\Important"
    ).split()
}
_NOT_SELECTABLE: Final = frozenset({"\\Noselect", "\\NonExistent"})


@dataclass(frozen=True, slots=True)
class Folder:
    """One folder of the mailbox.

    `wire`: the exact octets of its name. `delimiter`: one character, or None where the server has no hierarchy.
    `attributes`: known ones in their canonical spelling, each once, in the server's order. `selectable`: whether it
    can hold messages. `has_children`: None when the server does not say.
    """

    name: FolderName
    wire: bytes
    delimiter: HierarchyDelimiter | None = None
    attributes: tuple[str, ...] = ()
    selectable: bool = True
    has_children: bool | None = None

    @classmethod
    def of(cls, data: ListData, *, utf8: bool = False) -> Self:
        """The folder of a LIST row. `ValueError` when its name is empty or too long to be shown."""
        attributes = tuple(dict.fromkeys(_ATTRIBUTES.get(word.lower(), word) for word in data.attributes))
        return cls(
            name=of_wire(data.wire, utf8=utf8),
            wire=data.wire,
            delimiter=None if data.delimiter is None else HierarchyDelimiter(data.delimiter),
            attributes=attributes,
            selectable=_NOT_SELECTABLE.isdisjoint(attributes),
            has_children=_has_children(attributes),
        )

    @property
    def roles(self) -> tuple[SpecialUse, ...]:
        """Every role that the server gives this folder; none to one that cannot hold messages."""
        inbox = (SpecialUse.INBOX,) if self.name == INBOX else ()
        words = (word.lower() for word in self.attributes) if self.selectable else ()
        return (*inbox, *(_ROLES[word] for word in words if word in _ROLES))

    @property
    def role(self) -> SpecialUse | None:
        """The first role, or None."""
        return next(iter(self.roles), None)


def _has_children(attributes: tuple[str, ...]) -> bool | None:
    """`\\Noinferiors` says that there can be none, `\\HasNoChildren` that there are none (RFC 9051, 7.3.1)."""
    if "\\HasChildren" in attributes:
        return True
    if "\\HasNoChildren" in attributes or "\\Noinferiors" in attributes:
        return False
    return None


@dataclass(frozen=True, slots=True)
class RoleFolder:
    """The one folder of a role. `mapped`: the operator said so, not the server."""

    role: SpecialUse
    folder: FolderName
    mapped: bool = False


@dataclass(frozen=True, slots=True)
class RoleMissing:
    """No folder has the role; `why` is a sentence for the caller. `mapped`: the operator named one, in vain."""

    role: SpecialUse
    why: str
    mapped: bool = False

    @property
    def error(self) -> SpecialUseMissing:
        """The error for a caller who asks for the role."""
        if not self.mapped:
            return SpecialUseMissing()
        return SpecialUseMissing(
            f"{self.why[0].upper()}{self.why[1:]}.",
            next_step="Name the folder itself, or ask the operator to correct MAIL_FOLDER_ROLES.",
        )


@dataclass(frozen=True, slots=True)
class RoleAmbiguous:
    """More than one folder has the role."""

    role: SpecialUse
    folders: tuple[FolderName, ...]

    @property
    def why(self) -> str:
        """A sentence for the caller."""
        return f"the mail server names {len(self.folders)} folders for this role"


Role: TypeAlias = RoleFolder | RoleMissing | RoleAmbiguous


def roles(folders: Iterable[Folder], operator_map: Mapping[SpecialUse, FolderName]) -> dict[SpecialUse, Role]:
    """Who holds each role: the operator's word, else the one folder that the server names, never a guess.

    A folder that was listed twice is one folder; that one row calls it not selectable is enough.
    """
    rows = tuple(folders)
    barred = {folder.name for folder in rows if not folder.selectable}
    usable = tuple(folder for folder in rows if folder.name not in barred)
    found: dict[SpecialUse, Role] = {role: _advertised(role, usable) for role in SpecialUse}
    found |= {role: _mapped(role, name, rows, barred) for role, name in operator_map.items()}
    return found | {SpecialUse.INBOX: RoleFolder(SpecialUse.INBOX, INBOX)}


def _advertised(role: SpecialUse, usable: Iterable[Folder]) -> Role:
    names = tuple(dict.fromkeys(folder.name for folder in usable if role in folder.roles))
    if not names:
        return RoleMissing(role, "the mail server names no folder for this role")
    return RoleFolder(role, names[0]) if len(names) == 1 else RoleAmbiguous(role, names)


def _mapped(role: SpecialUse, name: FolderName, rows: Iterable[Folder], barred: AbstractSet[FolderName]) -> Role:
    if name in barred:
        return RoleMissing(role, "the folder that MAIL_FOLDER_ROLES names holds no messages", mapped=True)
    if all(folder.name != name for folder in rows):
        return RoleMissing(role, "the folder that MAIL_FOLDER_ROLES names does not exist", mapped=True)
    return RoleFolder(role, name, mapped=True)
