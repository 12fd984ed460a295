"""What the changing tools answer. None of it was written by anyone else, but for keywords among a message's flags."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field

from mailgate.server.results import Reference
from mailgate.server.shapes import Result, decimal, sentences

if TYPE_CHECKING:
    from mailgate.write.results import DraftSaved, FlagsSet, FolderChanged, MessageDeleted, MessagePlaced

_DONE = "done"
"""`write.results.Status.DONE`."""


class FlagsResult(Result["FlagsSet"]):
    """mail_set_flags."""

    status: str = Field(description="done")
    reference: Reference = Field(description="this message")
    flags: list[str] = Field(description="what it has now")
    modseq: str | None = Field(None, description="for unchanged_since")
    warnings: list[str] = Field(description="code: sentence")

    @classmethod
    def of(cls, value: FlagsSet) -> Self:
        """The flags as they are now."""
        return cls(
            status=_DONE,
            reference=Reference.of(value.reference),
            flags=list(value.flags),
            modseq=decimal(value.mod_seq),
            warnings=sentences(value.warnings),
        )


class FolderResult(Result["FolderChanged"]):
    """mail_create_folder and mail_rename_folder."""

    status: str = Field(description="done")
    folder: str = Field(description="its name now")
    warnings: list[str] = Field(description="code: sentence")

    @classmethod
    def of(cls, value: FolderChanged) -> Self:
        """The folder by its new name."""
        return cls(status=_DONE, folder=value.folder.text, warnings=sentences(value.warnings))


class PlacedResult(Result["MessagePlaced"]):
    """mail_copy, mail_move and mail_trash."""

    status: str = Field(description="done, or accepted: look in the destination")
    reference: Reference | None = Field(None, description="the new one, when done")
    warnings: list[str] = Field(description="code: sentence")

    @classmethod
    def of(cls, value: MessagePlaced) -> Self:
        """Done with the new reference, or accepted without."""
        return cls(status=value.status.value, reference=_reference(value), warnings=sentences(value.warnings))


class DraftResult(Result["DraftSaved"]):
    """mail_save_draft."""

    status: str = Field(description="done, or accepted: look in the folder")
    reference: Reference | None = Field(None, description="the draft, when done")
    message_id: str = Field(description="of the draft")
    warnings: list[str] = Field(description="code: sentence")

    @classmethod
    def of(cls, value: DraftSaved) -> Self:
        """Done with the draft's reference, or accepted without."""
        return cls(
            status=value.placed.status.value,
            reference=_reference(value.placed),
            message_id=value.message_id,
            warnings=sentences(value.placed.warnings),
        )


class DeletedResult(Result["MessageDeleted"]):
    """mail_delete_permanently."""

    status: str = Field(description="done: seen to be gone")
    reference: Reference = Field(description="of what is gone")
    warnings: list[str] = Field(description="code: sentence")

    @classmethod
    def of(cls, value: MessageDeleted) -> Self:
        """The reference that names nothing any more."""
        return cls(status=_DONE, reference=Reference.of(value.reference), warnings=sentences(value.warnings))


def _reference(value: MessagePlaced) -> Reference | None:
    return None if value.reference is None else Reference.of(value.reference)
