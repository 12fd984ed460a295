"""Which IMAP extensions a demo server speaks; each can be taken away, and is then truly absent."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Extension(StrEnum):
    """The removable capabilities, by their capability name."""

    SASL_IR = "SASL-IR"
    """RFC 4959: the first SASL response on the AUTHENTICATE line."""
    LITERAL_PLUS = "LITERAL+"
    """RFC 7888: literals that wait for no continuation."""
    ID = "ID"
    """RFC 2971."""
    ENABLE = "ENABLE"
    """RFC 5161."""
    UIDPLUS = "UIDPLUS"
    """RFC 4315: UID EXPUNGE, APPENDUID, COPYUID."""
    MOVE = "MOVE"
    """RFC 6851."""
    CONDSTORE = "CONDSTORE"
    """RFC 7162, section 3.1."""
    SPECIAL_USE = "SPECIAL-USE"
    """RFC 6154."""
    LIST_EXTENDED = "LIST-EXTENDED"
    """RFC 5258."""
    LIST_STATUS = "LIST-STATUS"
    """RFC 5819; needs LIST-EXTENDED."""
    ESEARCH = "ESEARCH"
    """RFC 4731."""
    UNSELECT = "UNSELECT"
    """RFC 3691."""
    NAMESPACE = "NAMESPACE"
    """RFC 2342."""
    CHILDREN = "CHILDREN"
    """RFC 3348."""


BEFORE_LOGIN = (Extension.SASL_IR, Extension.LITERAL_PLUS, Extension.ID, Extension.ENABLE)
"""What is told before login; the rest only after it, as most servers do."""


class Extensions:
    """The extensions of one server: all of `Extension` without the named ones (any case).

    Raises `ValueError` for a name that is no removable extension.
    """

    def __init__(self, without: Iterable[str] = ()) -> None:
        removed = {Extension(name.upper()) for name in without}
        # RFC 5819, section 2: STATUS is a return option, so there is no LIST-STATUS without LIST-EXTENDED.
        if Extension.LIST_EXTENDED in removed:
            removed.add(Extension.LIST_STATUS)
        self._present = frozenset(Extension) - removed

    def __contains__(self, extension: Extension) -> bool:
        return extension in self._present

    def advertised(self, *, logged_in: bool) -> bytes:
        """The capability list, space separated, `IMAP4rev1` first (RFC 3501, 7.2.1)."""
        pool: Iterable[Extension] = Extension if logged_in else BEFORE_LOGIN
        names = ["IMAP4rev1", *(name.value for name in pool if name in self._present)]
        if not logged_in:
            names.append("AUTH=PLAIN")
        return " ".join(names).encode()
