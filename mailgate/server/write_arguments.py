"""What each changing tool takes. The fields of a message are checked by `mime/composition.py`, which names them too."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import AfterValidator, Field

from mailgate.imap.values import FlagDelta, FlagOperation, ModSeq, settable_flag
from mailgate.limits import FLAGS_MAX, KEYWORD_CHARS_MAX
from mailgate.server.arguments import Arguments, BrokenRule, Folder, Line, MessageArguments, ReferenceArgument

if TYPE_CHECKING:
    from mailgate.mime.composition import Composition

_DECIMAL: Final = re.compile(r"[1-9][0-9]{0,18}")


def _flag(text: str) -> str:
    try:
        return settable_flag(text)
    except ValueError:
        raise BrokenRule(
            "must be \\Seen, \\Answered, \\Flagged, \\Draft or a keyword: "
            f"an ASCII atom of at most {KEYWORD_CHARS_MAX} characters"
        ) from None


def _mod_seq(text: str) -> str:
    try:
        ModSeq(int(text) if _DECIMAL.fullmatch(text) else 0)
    except ValueError:
        raise BrokenRule("must be a modseq as the tools give it, in decimal digits") from None
    return text


Flag = Annotated[str, AfterValidator(_flag)]
Sequence = Annotated[str, AfterValidator(_mod_seq)]


class SetFlagsArguments(Arguments):
    """mail_set_flags."""

    reference: ReferenceArgument
    operation: Literal["add", "remove"]
    flags: list[Flag] = Field(
        min_length=1, max_length=FLAGS_MAX, description="\\Seen \\Answered \\Flagged \\Draft or keywords"
    )
    unchanged_since: Sequence | None = Field(None, description="modseq last seen; needs CONDSTORE")

    @property
    def delta(self) -> FlagDelta:
        """The change, with the flags in canonical spelling."""
        return FlagDelta(FlagOperation(self.operation), tuple(self.flags))

    @property
    def since(self) -> ModSeq | None:
        """The condition, if there is one."""
        return None if self.unchanged_since is None else ModSeq(int(self.unchanged_since))


class CreateFolderArguments(Arguments):
    """mail_create_folder."""

    name: Folder = Field(description="whole name, with its parents'")


class RenameFolderArguments(Arguments):
    """mail_rename_folder."""

    old: Folder
    new: Folder = Field(description="whole name; must not exist")


class TransferArguments(Arguments):
    """mail_copy and mail_move."""

    reference: ReferenceArgument
    destination: Folder = Field(description="existing folder, or role:archive ...")


class TrashArguments(MessageArguments):
    """mail_trash."""


class DeleteArguments(MessageArguments):
    """mail_delete_permanently."""


class UploadArgument(Arguments):
    """A file to attach."""

    filename: Line
    content_type: Line = Field(description="type/subtype")
    data_base64: str


class CompositionArgument(Arguments):
    """A message to write; every field can be left out."""

    to: list[Line] = Field(default_factory=list, description="addr@host, no names")
    cc: list[Line] = Field(default_factory=list)
    bcc: list[Line] = Field(default_factory=list)
    subject: Line = Field("")
    text: str = Field("", description="plain text")
    attachments: list[UploadArgument] = Field(default_factory=list)
    in_reply_to: Line | None = Field(None, description="Message-ID with brackets")
    references: list[Line] = Field(default_factory=list)

    def to_composition(self) -> Composition:
        """The checked value. Raises `InvalidArgument` and `LimitExceeded`, which name the field."""
        from mailgate.mime.composition import AttachmentUpload, Composition, decode_upload

        return Composition(
            to=tuple(self.to),
            cc=tuple(self.cc),
            bcc=tuple(self.bcc),
            subject=self.subject,
            text=self.text,
            attachments=tuple(
                AttachmentUpload(each.filename, each.content_type, decode_upload(each.data_base64, position))
                for position, each in enumerate(self.attachments)
            ),
            in_reply_to=self.in_reply_to,
            references=tuple(self.references),
        )


class SaveDraftArguments(Arguments):
    """mail_save_draft."""

    message: CompositionArgument
    folder: Folder | None = Field(None, description="default role:drafts")
