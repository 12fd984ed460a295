"""Names for new folders: only such as every tool will then show and take unchanged."""

from __future__ import annotations

from typing import Final

from mailgate.errors import InvalidArgument
from mailgate.imap.mutf7 import of_wire, to_wire
from mailgate.imap.values import FolderName

_RESERVED: Final = ("role:", "wire:")


def new_folder_name(text: str, argument: str) -> FolderName:
    """The name, or `InvalidArgument` that names the argument."""
    if text.lower().startswith(_RESERVED):
        raise InvalidArgument(f"`{argument}` begins with `role:` or `wire:`, which have a meaning of their own.")
    try:
        name = FolderName(text)
        shown = of_wire(to_wire(name))
    except ValueError:
        raise InvalidArgument(f"`{argument}` is empty, too long, or holds control characters.") from None
    if shown != name:
        raise InvalidArgument(f"`{argument}` holds characters that cannot be shown safely.")
    return name
