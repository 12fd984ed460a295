"""`mail_rename_folder`: another name for a folder, which nothing may have yet."""

from __future__ import annotations

from typing import Final

from mailgate.errors import FolderExists, InvalidArgument
from mailgate.imap.values import INBOX
from mailgate.write.change import Change
from mailgate.write.names import new_folder_name
from mailgate.write.ports import Mailbox
from mailgate.write.results import FolderChanged

MAY_BE_RENAMED: Final = "The mail server's answer did not arrive; the folder may have been renamed."
LOOK: Final = "See with mail_list_folders which of the two names exists before renaming again."


async def rename_folder(mailbox: Mailbox, old: str, new: str, *, change: Change) -> FolderChanged:
    """RENAME (RFC 9051, 6.3.6). INBOX is refused: renaming it would empty it into the new folder.

    Raises `InvalidArgument`, `FolderNotFound`, `FolderExists`.
    """
    target = new_folder_name(new, "new")
    source = await mailbox.resolve(old)
    if source == INBOX:
        raise InvalidArgument("`old` is INBOX, which cannot be renamed.")
    if target in (INBOX, source):
        raise FolderExists
    await mailbox.capabilities()
    with change.under_way(MAY_BE_RENAMED, look=LOOK):
        await mailbox.rename_folder(source, target)
    return FolderChanged(target)
