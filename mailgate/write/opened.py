"""One message in a folder opened for writing: where every change to a message begins."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mailgate.errors import CapabilityMissing, UpstreamRefused
from mailgate.imap.values import MessageRef
from mailgate.write.ports import Mailbox, WritableFolder

if TYPE_CHECKING:
    from mailgate.imap.writable import MessageState


@dataclass(frozen=True, slots=True)
class OpenedMessage:
    """A message that exists, its state a moment ago, and the folder that can change it."""

    folder: WritableFolder
    reference: MessageRef
    state: MessageState


@asynccontextmanager
async def opened_message(
    mailbox: Mailbox, reference: MessageRef, *, changes_folder: bool = True
) -> AsyncIterator[OpenedMessage]:
    """Select the folder, compare UIDVALIDITY, and see that the message is there, in the session that then changes it.

    `changes_folder` is false where a folder that one may only read will do. Raises `FolderNotFound`,
    `StaleReference`, `MessageNotFound`, `UpstreamRefused` and what the mailbox raises.
    """
    name = await mailbox.resolve(reference.folder.text)
    async with mailbox.select(name, uid_validity=reference.uid_validity) as folder:
        state = await folder.fetch_state(reference.uid)
        if changes_folder and folder.read_only:
            raise UpstreamRefused("The mail server opens this folder for reading only.")
        yield OpenedMessage(folder, MessageRef(folder.name, folder.uid_validity, reference.uid), state)


async def require(mailbox: Mailbox, feature: str, sentence: str) -> None:
    """`CapabilityMissing` with that sentence where the server lacks the feature; no command is sent to find out."""
    if not (await mailbox.capabilities()).features()[feature]:
        raise CapabilityMissing(sentence)
