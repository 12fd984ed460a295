"""Names for new folders: only such as every tool will then show and take unchanged."""

from __future__ import annotations

import re
from typing import Final

from mailgate.errors import InvalidArgument
from mailgate.imap.mutf7 import of_wire, to_wire
from mailgate.imap.values import FolderName

_RESERVED: Final = ("role:", "wire:")


_INBOX: Final = re.compile(r"\Ainbox(?=\W|\Z)", re.IGNORECASE | re.ASCII)


def same_folder(one: FolderName, other: FolderName) -> bool:
    """Whether a server takes both names for one folder: below INBOX as well, its case does not matter to many."""
    return _INBOX.sub("INBOX", one.text, count=1) == _INBOX.sub("INBOX", other.text, count=1)


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
