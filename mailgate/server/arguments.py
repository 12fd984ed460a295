"""What each tool takes, strictly: unknown names, other types and control characters are refused.

An error names the argument and the rule. It never holds a value, and an unknown name only when that name is close to a
known one: everything else in a call was chosen by the caller.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from mailgate.imap.values import UINT32_MAX, FolderName, MessageRef, Uid, UidValidity
from mailgate.limits import (
    FOLDER_NAME_MAX,
    READ_BATCH_MAX,
    READ_CHARS_DEFAULT,
    READ_CHARS_MAX,
    SEARCH_LIMIT_DEFAULT,
    SEARCH_LIMIT_MAX,
    SEARCH_TERM_MAX,
)

_REFERENCE: Final = ("folder", "uid_validity", "uid")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class BrokenRule(ValueError):
    """A rule of ours that a value breaks, as the end of the sentence "`argument` ..."; it holds no value."""


def _clean(text: str) -> str:
    if _CONTROL.search(text):
        raise BrokenRule("must not hold control characters")
    return text


def _at_most(octets: int) -> AfterValidator:
    def check(text: str) -> str:
        if not text:
            raise BrokenRule("must not be empty; leave it out instead")
        if len(text.encode()) > octets:
            raise BrokenRule(f"must have at most {octets} octets")
        return text

    return AfterValidator(check)


def _unsigned(number: int) -> int:
    if number > UINT32_MAX:
        raise BrokenRule("must fit 32 bits")
    return number


Term = Annotated[str, AfterValidator(_clean), _at_most(SEARCH_TERM_MAX)]
Folder = Annotated[str, AfterValidator(_clean), _at_most(FOLDER_NAME_MAX)]
Cursor = Annotated[str, AfterValidator(_clean)]
Number32 = Annotated[int, Field(ge=1), AfterValidator(_unsigned)]
Line = Annotated[str, AfterValidator(_clean)]
Day = Annotated[str, AfterValidator(_clean), WithJsonSchema({"type": "string", "format": "date"})]


class Arguments(BaseModel):
    """The arguments of one call, or an object inside them."""

    # Built when first used: a start that only lists the tools needs none of the validators.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True, defer_build=True)


A = TypeVar("A", bound=Arguments)


class ReferenceArgument(Arguments):
    """A message's name: the object that mail_search gives with each row."""

    folder: Folder
    uid_validity: Number32
    uid: Number32

    def to_reference(self) -> MessageRef:
        """The value that the use cases take. `FolderName` has no rule that validation has not checked."""
        return MessageRef(FolderName(self.folder), UidValidity(self.uid_validity), Uid(self.uid))


class NoArguments(Arguments):
    """mail_capabilities takes none."""


class ListFoldersArguments(Arguments):
    """mail_list_folders."""

    include_counts: bool = Field(False, description="also messages, unseen, uid_next, uid_validity (slower)")


class SearchArguments(Arguments):
    """mail_search."""

    folder: Folder = Field("INBOX", description="exact name, or role:sent, role:trash ...")
    query: Term | None = Field(None, description="one term, anywhere in the message")
    from_: Term | None = Field(None, alias="from", description="in the sender")
    to: Term | None = Field(None, description="in To")
    cc: Term | None = Field(None, description="in Cc")
    subject: Term | None = Field(None, description="in the subject")
    since: Day | None = Field(None, description="arrived on or after")
    before: Day | None = Field(None, description="arrived before")
    unread: bool | None = None
    flagged: bool | None = None
    order: Literal["newest", "oldest"] = "newest"
    limit: int = Field(SEARCH_LIMIT_DEFAULT, ge=1, le=SEARCH_LIMIT_MAX)
    cursor: Cursor | None = Field(None, description="next_cursor; repeat the other arguments")
    previews: bool = Field(False, description="an extract of each text")


class MessageArguments(Arguments):
    """A reference, or its three fields at top level."""

    reference: ReferenceArgument | None = Field(None, description="from mail_search; or its fields at top level")
    folder: Folder | None = None
    uid_validity: Number32 | None = None
    uid: Number32 | None = None

    @model_validator(mode="after")
    def _one_message(self) -> Self:
        self._check_single()
        return self

    def _check_single(self) -> None:
        given = self._at_top()
        if self.reference is None and len(given) < len(_REFERENCE):
            raise BrokenRule("`reference` is required, or `folder`, `uid_validity` and `uid` together")
        if self.reference is not None and not _agree(self.reference, given):
            raise BrokenRule("`reference` and the fields beside it name different messages")

    def _at_top(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in _REFERENCE}
        return {name: value for name, value in fields.items() if value is not None}

    @property
    def named(self) -> ReferenceArgument:
        """The reference, wherever it stood."""
        if self.reference is not None:
            return self.reference
        assert self.folder is not None
        assert self.uid_validity is not None
        assert self.uid is not None
        return ReferenceArgument(folder=self.folder, uid_validity=self.uid_validity, uid=self.uid)


class ReadArguments(MessageArguments):
    """mail_read: one message, or several by `references`."""

    references: list[ReferenceArgument] | None = Field(
        None, min_length=1, max_length=READ_BATCH_MAX, description="several at once, sharing max_chars"
    )
    max_chars: int = Field(READ_CHARS_DEFAULT, ge=1, le=READ_CHARS_MAX)
    offset: int = Field(0, ge=0, le=READ_CHARS_MAX, description="next_offset of the page before")
    headers_only: bool = Field(False, description="no text")
    quoted: Literal["fold", "full"] = Field("fold", description="quoted history; the same on every page")

    @model_validator(mode="after")
    def _one_message(self) -> Self:
        if self.references is None:
            self._check_single()
            return self
        if self.reference is not None or self._at_top():
            raise BrokenRule("`references` stands alone: without `reference`, `folder`, `uid_validity` and `uid`")
        if self.offset:
            raise BrokenRule("`offset` goes with a single reference, not with `references`")
        if len(set(self.several())) < len(self.references):
            raise BrokenRule("`references` names a message twice")
        return self

    def several(self) -> tuple[MessageRef, ...]:
        """The references of a batch; empty for a single message."""
        return tuple(reference.to_reference() for reference in self.references or ())


class AttachmentArguments(Arguments):
    """mail_get_attachment."""

    reference: ReferenceArgument
    index: Number32 = Field(description="from attachments in mail_read")
    as_: Literal["bytes", "text"] = Field("bytes", alias="as", description="text: decoded, from text or HTML")


def _agree(reference: ReferenceArgument, beside: dict[str, Any]) -> bool:
    """Whether fields given twice say the same; INBOX is the same in any case (RFC 9051, 5.1)."""
    for name, value in beside.items():
        named = getattr(reference, name)
        if name == "folder":
            named, value = FolderName(named), FolderName(value)
        if named != value:
            return False
    return True
