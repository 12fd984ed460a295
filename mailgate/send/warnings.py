"""What the sending tools can have to say beside their result; docs/tools.md lists the codes."""

from __future__ import annotations

from typing import Final

from mailgate.mime.model import ReadWarning

THREAD_REPLACED: Final = ReadWarning(
    "thread_replaced", "`message.in_reply_to` and `message.references` were not used; a reply's come from its source."
)
THREAD_INCOMPLETE: Final = ReadWarning(
    "thread_incomplete", "The source has no usable Message-ID, or an odd one in its thread, so the thread may break."
)
SUBJECT_CUT: Final = ReadWarning("subject_cut", "The source's subject is too long and was cut.")
HAS_INVISIBLE: Final = ReadWarning(
    "invisible_characters",
    "Subject, text or a file name holds characters that nobody sees. Here each stands as [U+...] in its place; "
    "what is sent holds the character itself.",
)
SEND_UNKNOWN: Final = ReadWarning(
    "look_first",
    "Whether the mail server took the message cannot be known. Look for its Message-ID in Sent and for answers or "
    "bounces before anything else; never send it again on a guess.",
)
SEND_UNDER_WAY: Final = ReadWarning(
    "send_under_way", "An attempt to send this message may be alive; call again with the same arguments to learn more."
)
RECORD_NOT_SAVED: Final = ReadWarning(
    "record_not_saved",
    "The outcome could not be stored. What is said here is true; a later call with this id may not know it.",
)
RECORD_LOST: Final = ReadWarning(
    "record_lost", "The store no longer has a record of this message. What is said here is true; keep it."
)
COPY_NOT_RECORDED: Final = ReadWarning(
    "copy_not_recorded",
    "What became of the copy in Sent could not be stored; a later call with this id says that there is none.",
)
