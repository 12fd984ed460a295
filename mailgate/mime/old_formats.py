"""Text that is written in a language of its own: calendars, and the two ancestors of HTML in mail, and RTF.

Each becomes the words that its reader would see. Work is linear in the text; what is not understood stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

_FOLD: Final = re.compile(r"(?:\r\n|\n|\r)[ \t]")
_LINE: Final = re.compile(r"([A-Za-z0-9-]{1,60})((?:;[^\r\n:\"]*+(?:\"[^\"\r\n]*+\"[^\r\n:\"]*+)*+)?):(.*)")
_SHOWN: Final = {
    "SUMMARY": "Summary",
    "DTSTART": "Start",
    "DTEND": "End",
    "DURATION": "Duration",
    "DUE": "Due",
    "RRULE": "Repeats",
    "LOCATION": "Location",
    "ORGANIZER": "Organizer",
    "ATTENDEE": "Attendee",
    "STATUS": "Status",
    "URL": "URL",
    "COMMENT": "Comment",
    "DESCRIPTION": "Description",
}
_COMPONENTS: Final = frozenset({"VEVENT", "VTODO", "VJOURNAL"})
_ESCAPED: Final = re.compile(r"\\([\\;,nN])")
_TIME: Final = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?")
_PARAMETER: Final = re.compile(r';([A-Za-z0-9-]{1,40})=("[^"]*"|[^;:"]*)')


def shown_text(content_type: str, text: str) -> str:
    """The words of a text of that type; the text itself where its type needs no reading."""
    reader = _READERS.get(content_type)
    return reader(text) if reader else text


# --- calendars (RFC 5545) --------------------------------------------------------------------------------------


def calendar_text(text: str) -> str:
    """A line for each fact of each entry; the calendar as it stands where it has no entry."""
    blocks: list[list[str]] = [[]]
    inside: list[str] = []
    for line in _FOLD.sub("", text).splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        name, value = match[1].upper(), match[3]
        if name == "BEGIN":
            inside.append(value.strip().upper())
            if inside[-1] in _COMPONENTS:
                blocks.append([])
        elif name == "END":
            del inside[-1:]
        elif name == "METHOD" and inside == ["VCALENDAR"]:
            blocks[0].append(f"Method: {_unescaped(value)}")
        # What an alarm or a time zone says is not about the entry.
        elif name in _SHOWN and inside and inside[-1] in _COMPONENTS:
            blocks[-1].append(f"{_SHOWN[name]}: {_value(name, match[2], value)}")
    if len(blocks) == 1:
        return text
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _value(name: str, parameters: str, value: str) -> str:
    given = {match[1].upper(): match[2].strip('"') for match in _PARAMETER.finditer(parameters)}
    if name in ("DTSTART", "DTEND", "DUE"):
        return _time(value, given.get("TZID", ""))
    if name in ("ORGANIZER", "ATTENDEE"):
        address = value.partition(":")[2] if value.lower().startswith("mailto:") else value
        person = f"{given['CN']} <{address}>" if given.get("CN") else address
        return f"{person} ({given['PARTSTAT']})" if given.get("PARTSTAT") else person
    return _unescaped(value)


def _time(value: str, zone: str) -> str:
    match = _TIME.fullmatch(value.strip())
    if match is None:
        return value
    year, month, day, hour, minute, utc = match.groups()
    clock = f" {hour}:{minute}" if hour else ""
    return f"{year}-{month}-{day}{clock}{' UTC' if utc else ''}{f' ({zone})' if zone else ''}"


def _unescaped(value: str) -> str:
    return _ESCAPED.sub(lambda match: "\n" if match[1] in "nN" else match[1], value)


# --- text/enriched (RFC 1896) and text/richtext (RFC 1341, 7.1.3) ----------------------------------------------

_COMMAND: Final = re.compile(r"<<|<(/?)([A-Za-z0-9-]{1,60})>|(\n+)")
_HIDDEN: Final = frozenset({"param", "comment"})
_RICH: Final = {"nl": "\n", "np": "\n\n", "lt": "<", "paragraph": "\n\n"}


def enriched_text(text: str) -> str:
    """Without commands: one line break is a blank, n of them are n - 1, but for text that is not filled."""
    return _without_commands(text.replace("\r\n", "\n").replace("\r", "\n"), rich=False)


def rich_text(text: str) -> str:
    """Without commands: line breaks are blanks, and lines end where a command says so."""
    return _without_commands(text.replace("\r\n", "\n").replace("\r", "\n"), rich=True)


def _without_commands(text: str, *, rich: bool) -> str:
    pieces: list[str] = []
    hidden = unfilled = at = 0
    for match in _COMMAND.finditer(text):
        if not hidden:
            pieces.append(text[at : match.start()])
        at = match.end()
        command, step = (match[2] or "").lower(), -1 if match[1] else 1
        if command in _HIDDEN:
            hidden = max(0, hidden + step)
        elif command == "nofill":
            unfilled = max(0, unfilled + step)
        elif not hidden:
            pieces.append(_written(match, command, rich, bool(unfilled)))
    # A parameter that never ends hides nothing.
    pieces.append(text[at:])
    return "".join(pieces)


def _written(match: re.Match[str], command: str, rich: bool, unfilled: bool) -> str:
    if match[3]:
        count = len(match[3])
        return match[3] if unfilled else " " if rich or count == 1 else "\n" * (count - 1)
    if not command:
        return match[0] if rich else "<"
    # Of a paragraph the end alone counts, or there would be two breaks between any two.
    return "" if command == "paragraph" and not match[1] else _RICH.get(command, "") if rich else ""


# --- RTF -------------------------------------------------------------------------------------------------------

_RTF: Final = re.compile(
    r"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([\r\n]+)|([^\\{}\r\n]+)", re.DOTALL
)
_DESTINATIONS: Final = frozenset(
    "fonttbl colortbl stylesheet info pict header footer headerl headerr footerl footerr object generator listtable "
    "listoverridetable themedata datastore fldinst xmlnstbl rsidtbl".split()
)
_BREAKS: Final = {"par": "\n", "line": "\n", "sect": "\n\n", "page": "\n\n", "row": "\n", "tab": "\t", "cell": "\t"}
_MARKS: Final = {"emdash": "\u2014", "endash": "\u2013", "bullet": "\u2022", "lquote": "\u2018", "rquote": "\u2019",
                 "ldblquote": "\u201c", "rdblquote": "\u201d"}  # fmt: skip


class _Rtf:
    """A document while it is read. Of each open group: whether it is seen, and how many characters follow one that
    is named by its number, for programs that do not know it."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._groups: list[tuple[bool, int]] = [(True, 1)]
        self._skip = 0

    def take(self, match: re.Match[str]) -> None:
        word, number, octet, symbol, brace, _, plain = match.groups()
        if brace:
            self._skip = 0
            self._brace(brace)
        elif word:
            self._word(word, int(number or 0))
        elif symbol in ("*", "~", "-", "_"):
            self._sign(symbol)
        elif octet or symbol or plain:
            self._text(bytes.fromhex(octet).decode("cp1252", "replace") if octet else symbol or plain)

    def _brace(self, brace: str) -> None:
        if brace == "{":
            self._groups.append(self._groups[-1])
        elif len(self._groups) > 1:
            self._groups.pop()

    def _word(self, word: str, number: int) -> None:
        seen, width = self._groups[-1]
        if word in _DESTINATIONS:
            self._groups[-1] = (False, width)
        elif word == "uc":
            self._groups[-1] = (seen, number)
        elif word == "u":
            # Signed numbers of 16 bits; half of a pair stands alone until both are joined.
            self._text(chr(number & 0xFFFF))
            self._skip = width
        else:
            self._text(_BREAKS.get(word) or _MARKS.get(word) or "")

    def _sign(self, symbol: str) -> None:
        if symbol == "*":
            # A destination that a program may leave out.
            self._groups[-1] = (False, self._groups[-1][1])
        else:
            self._text({"~": "\u00a0", "_": "-"}.get(symbol, ""))

    def _text(self, text: str) -> None:
        dropped = min(self._skip, len(text))
        self._skip -= dropped
        if self._groups[-1][0]:
            self.pieces.append(text[dropped:])


def rtf_text(text: str) -> str:
    """The words of a document in RTF; what is no document stays as it is."""
    if not text.lstrip().startswith("{\\rtf"):
        return text
    document = _Rtf()
    for match in _RTF.finditer(text):
        document.take(match)
    joined = "".join(document.pieces)
    return joined.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


_READERS: Final[dict[str, Callable[[str], str]]] = {
    "text/calendar": calendar_text,
    "text/x-vcalendar": calendar_text,
    "text/enriched": enriched_text,
    "text/richtext": rich_text,
    "text/rtf": rtf_text,
}
