"""`mail_create_folder`: a new folder, where none of that name is."""

from __future__ import annotations

from typing import Final

from mailgate.errors import FolderExists
from mailgate.imap.values import INBOX
from mailgate.write.change import Change
from mailgate.write.names import new_folder_name
from mailgate.write.ports import Mailbox
from mailgate.write.results import FolderChanged

MAY_EXIST: Final = "The mail server's answer did not arrive; the folder may have been created."
LOOK: Final = "Look for the folder with mail_list_folders before creating it again."


async def create_folder(mailbox: Mailbox, name: str, *, change: Change) -> FolderChanged:
    """CREATE (RFC 9051, 6.3.4). Raises `InvalidArgument`, `FolderExists`, `FolderNotFound` for a hidden name."""
    folder = new_folder_name(name, "name")
    if folder == INBOX:
        raise FolderExists
    # Connected beforehand, so that a server that cannot be reached is no reason to doubt.
    await mailbox.capabilities()
    with change.under_way(MAY_EXIST, look=LOOK):
        await mailbox.create_folder(folder)
    return FolderChanged(folder)
