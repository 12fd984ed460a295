"""What the write tools can have to say beside their result; docs/tools.md lists the codes."""

from __future__ import annotations

from typing import Final

from mailgate.mime.model import ReadWarning

NOT_CONDITIONAL: Final = ReadWarning(
    "not_conditional",
    "The mail server keeps no mod-sequences here, so a change by another client in between would not be noticed.",
)
FLAG_NOT_KEPT: Final = ReadWarning(
    "flag_not_kept", "The mail server accepted the change and did not carry out all of it; flags shows what it kept."
)
GMAIL_LABELS: Final = ReadWarning(
    "gmail_labels",
    "On Gmail a folder is a label: the message may still exist in All Mail, unless it was in Trash or Spam.",
)
FLAGS_CUT: Final = ReadWarning("flags_changed", "Some flags of this message are left out because there are too many.")
