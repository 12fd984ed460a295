"""Everything the reading layer can have to say about a message: a stable code and one sentence each.

`SENTENCES` is the whole list; docs/tools.md is checked against it. A sentence never holds anything from the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from mailgate.mime.model import ReadWarning


class WarningCode(StrEnum):
    """The codes, as they appear before the colon."""

    SOURCE_TRUNCATED = "source_truncated"
    TIME_LIMIT = "time_limit"
    HEADER_LIMIT = "header_limit"
    PARTS_LIMIT = "parts_limit"
    DEPTH_LIMIT = "depth_limit"
    BOUNDARY_MISSING = "boundary_missing"
    ADDRESS_LIMIT = "address_limit"
    ADDRESS_INVALID = "address_invalid"
    DISPLAY_NAME_HAS_OTHER_ADDRESS = "display_name_has_other_address"
    MULTIPLE_FROM = "multiple_from"
    DATE_INVALID = "date_invalid"
    CHARSET_UNKNOWN = "charset_unknown"
    CHARSET_DAMAGED = "charset_damaged"
    TRANSFER_UNKNOWN = "transfer_unknown"
    TRANSFER_DAMAGED = "transfer_damaged"
    HTML_LIMIT = "html_limit"
    HTML_UNREADABLE = "html_unreadable"
    HIDDEN_TEXT_REMOVED = "hidden_text_removed"
    HTML_NOT_SHOWN = "html_not_shown"
    PLAIN_NOT_SHOWN = "plain_not_shown"
    NO_TEXT = "no_text"
    TNEF_NOT_DECODED = "tnef_not_decoded"
    ENCRYPTED_NOT_DECODED = "encrypted_not_decoded"
    PART_UNREADABLE = "part_unreadable"
    LINK_TEXT_DIFFERS = "link_text_differs"
    CHARSET_GUESSED = "charset_guessed"
    ALTERNATIVES_DIFFER = "alternatives_differ"
    UUENCODED_FILE = "uuencoded_file"
    SIGNED_NOT_OPENED = "signed_not_opened"
    SIGNATURE_NOT_CHECKED = "signature_not_checked"


SENTENCES: Final[Mapping[WarningCode, str]] = MappingProxyType(
    {
        WarningCode.SOURCE_TRUNCATED: "Only the first part of the message was examined; later parts are not listed.",
        WarningCode.TIME_LIMIT: "Reading took too long and was stopped; what was found until then is shown.",
        WarningCode.HEADER_LIMIT: "The header, or a field of it, is longer than is read and was cut.",
        WarningCode.PARTS_LIMIT: "The message has more parts than are read; the rest is not listed.",
        WarningCode.DEPTH_LIMIT: "Parts are nested deeper than is read; the deepest one is listed unopened.",
        WarningCode.BOUNDARY_MISSING: "A multipart has no closing or no usable boundary and was read to its end.",
        WarningCode.ADDRESS_LIMIT: "An address field names more addresses than are listed.",
        WarningCode.ADDRESS_INVALID: "An address field holds something that is no address.",
        WarningCode.DISPLAY_NAME_HAS_OTHER_ADDRESS: "A display name contains an address other than the real one.",
        WarningCode.MULTIPLE_FROM: "The message names more than one author.",
        WarningCode.DATE_INVALID: "The date field cannot be understood; it is given as it stands.",
        WarningCode.CHARSET_UNKNOWN: "A part names a charset that is not known or not safe; another was tried.",
        WarningCode.CHARSET_DAMAGED: "Some bytes are not valid in the charset of their part and were replaced.",
        WarningCode.TRANSFER_UNKNOWN: "A part names an unknown transfer encoding and is given undecoded.",
        WarningCode.TRANSFER_DAMAGED: "A part's transfer encoding is damaged; what could be decoded is given.",
        WarningCode.HTML_LIMIT: "The HTML is larger or deeper than is read; the rest is left out.",
        WarningCode.HTML_UNREADABLE: "The HTML could not be turned into text.",
        WarningCode.HIDDEN_TEXT_REMOVED: "The HTML holds text that a reader would not see; it was left out.",
        WarningCode.HTML_NOT_SHOWN: "The plain text is shown; the message also has an HTML form, which may differ.",
        WarningCode.PLAIN_NOT_SHOWN: "The text comes from the HTML form; the plain text form says little or nothing.",
        WarningCode.NO_TEXT: "The message has no readable text.",
        WarningCode.TNEF_NOT_DECODED: "An attachment is in Outlook's TNEF container, which is not opened.",
        WarningCode.ENCRYPTED_NOT_DECODED: "The message is encrypted, or wrapped in a signature that is not opened.",
        WarningCode.PART_UNREADABLE: "Some of the message could not be read and was left out.",
        WarningCode.LINK_TEXT_DIFFERS: "The text of a link names another host than the one the link leads to.",
        WarningCode.CHARSET_GUESSED: "A part names no charset, or a wrong one; it was guessed from the bytes.",
        WarningCode.ALTERNATIVES_DIFFER: "The plain and HTML forms differ: in amounts, link hosts or most words.",
        WarningCode.UUENCODED_FILE: "The text holds a uuencoded file; a line with its name stands in its place.",
        WarningCode.SIGNED_NOT_OPENED: "Content is wrapped in an S/MIME signature, which is not opened.",
        WarningCode.SIGNATURE_NOT_CHECKED: "The message carries a signature, which was not checked.",
    }
)

COUNTED: Final[Mapping[WarningCode, str]] = MappingProxyType(
    {WarningCode.HIDDEN_TEXT_REMOVED: "{} characters of HTML text that a reader would not see were left out."}
)
"""The sentences that hold a number, where it is known: one that was counted here, never one from the message."""


def read_warning(code: WarningCode, count: int = 0) -> ReadWarning:
    """The warning with its sentence; `count`: the number in it, zero where none is known."""
    return ReadWarning(code.value, COUNTED[code].format(count) if count and code in COUNTED else SENTENCES[code])


class WarningLog:
    """Collects codes while one message is read: each once, in the order in which they came up."""

    __slots__ = ("_codes",)

    def __init__(self) -> None:
        self._codes: dict[WarningCode, int] = {}

    def add(self, code: WarningCode, *, when: bool = True, count: int = 0) -> None:
        """Note the code if `when` holds; counts of one code add up."""
        if when:
            self._codes[code] = self._codes.get(code, 0) + count

    def extend(self, other: WarningLog) -> None:
        """Note all that another log holds."""
        for code, count in other._codes.items():
            self.add(code, count=count)

    def __contains__(self, code: object) -> bool:
        return code in self._codes

    def warnings(self) -> tuple[ReadWarning, ...]:
        """All that was noted."""
        return tuple(read_warning(code, count) for code, count in self._codes.items())
