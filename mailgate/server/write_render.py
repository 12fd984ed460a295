"""The text half of what the changing tools answer: done, or accepted and where to look; then the warnings."""

from __future__ import annotations

from collections.abc import Iterable

from mailgate.server.render import shown_reference
from mailgate.server.results import Reference
from mailgate.server.write_results import DeletedResult, DraftResult, FlagsResult, FolderResult, PlacedResult


def flags(result: FlagsResult) -> str:
    """The flags that the message has now."""
    modseq = f"; modseq {result.modseq}" if result.modseq else ""
    shown = " ".join(result.flags) or "none"
    return _lines(f"{result.status}: {shown_reference(result.reference)}, flags now: {shown}{modseq}", result.warnings)


def folder(result: FolderResult) -> str:
    """The folder's name now."""
    return _lines(f"{result.status}: the folder is {result.folder}", result.warnings)


def placed(result: PlacedResult) -> str:
    """Where the message is now."""
    return _lines(_where(result.status, "the message", result.reference), result.warnings)


def draft(result: DraftResult) -> str:
    """Where the draft is, and its Message-ID."""
    where = _where(result.status, "the draft", result.reference)
    return _lines(f"{where}; Message-ID {result.message_id}", result.warnings)


def deleted(result: DeletedResult) -> str:
    """That the message is gone."""
    return _lines(f"{result.status}: {shown_reference(result.reference)} is gone for good", result.warnings)


def _where(status: str, what: str, reference: Reference | None) -> str:
    if reference is None:
        return f"{status}: the mail server took {what} and did not say where it is"
    return f"{status}: {what} is {shown_reference(reference)}"


def _lines(fact: str, warnings: Iterable[str]) -> str:
    return "\n".join([fact, *warnings])
