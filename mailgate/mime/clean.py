"""Strings that are safe to show: what a reader cannot see, or what makes a reader see something else, goes.

Removed: control characters, bidirectional marks, embeddings, overrides and isolates, zero-width and other invisible
format characters, tag characters, noncharacters. Line and page separators become a line break, or a space in a single
line; lone surrogates become U+FFFD, so that the result is always valid UTF-8.

Three invisible characters have honest uses and stay where the script needs them, one at a time:

- ZWJ and ZWNJ between two characters of a script that joins (Arabic to Mongolian, the Indic and South-East Asian ones);
- ZWJ between two emoji, which makes one picture of them;
- the variation selectors 15 and 16 right after a symbol, emoji or keycap base.

Everywhere else they are removed. The result never changes when it is cleaned again.
"""

from __future__ import annotations

import re
from typing import Final

from mailgate.mime.model import Clean

_JOINING: Final = (
    "\u0620-\u065f\u066e-\u06dc\u06df-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3\u17b6-\u17ff\u1820-\u18af"
    "\u1900-\u1c4f\ua840-\ua87f\ua8e0-\ua8ff\ua980-\uaaff\uabc0-\uabff\U00011000-\U000119ff"
)
_EMOJI: Final = "\u203c\u2049\u2100-\u2bff\u3030-\u303f\u3200-\u33ff\U0001f000-\U0001faff"
_BREAKS: Final = "\x0b\x0c\x85\u2028\u2029"
_PLANE_ENDS: Final = "".join(f"{chr(plane * 0x10000 + 0xFFFE)}-{chr(plane * 0x10000 + 0xFFFF)}" for plane in range(17))
_INVISIBLE: Final = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # C0 and C1 without TAB, LF, CR and the breaks above
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"  # tag characters and the variation selectors that can carry hidden bytes
) + _PLANE_ENDS
_SURROGATES: Final = "\ud800-\udfff"
_CONTEXTUAL: Final = "\u200c\u200d\ufe00-\ufe0f"

_SUSPECT: Final = re.compile(f"[{_INVISIBLE}{_BREAKS}{_SURROGATES}{_CONTEXTUAL}]")
_PIECE: Final = re.compile(
    f"(?P<kept>(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}])"
    f"|(?:(?<=[{_EMOJI}])|(?<=[{_EMOJI}]\ufe0f))\u200d(?=[{_EMOJI}])"
    f"|(?<=[#*0-9©®{_EMOJI}])[\ufe0e\ufe0f])"
    f"|(?P<gone>[{_INVISIBLE}{_CONTEXTUAL}])"
    f"|(?P<break>[{_BREAKS}])"
    f"|(?P<broken>[{_SURROGATES}])"
)
_BLANKS: Final = re.compile("[ \t\r\n]+")
_LINE_END: Final = re.compile("\r\n?")


def clean(text: str, *, multiline: bool = False) -> Clean:
    """The text, safe to show.

    A single line has its blanks collapsed and stripped; that alone does not count as a change, but a line break in
    it does, for an unfolded header field cannot honestly hold one. In multi-line text CRLF and CR become LF.
    """
    changed = False
    # Most text has nothing to clean; one search settles that.
    if _SUSPECT.search(text):
        text, changed = _without_suspects(text, "\n" if multiline else " ")
    if multiline:
        return Clean(_LINE_END.sub("\n", text) if "\r" in text else text, changed)
    changed = changed or "\n" in text or "\r" in text
    return Clean(_BLANKS.sub(" ", text).strip(" "), changed)


def revealed(text: str) -> Clean:
    """Multi-line text with a visible `[U+200B]` wherever `clean` would take something out, one for each character."""
    if not _SUSPECT.search(text):
        return clean(text, multiline=True)
    shown = _PIECE.sub(lambda match: match[0] if match.lastgroup == "kept" else f"[U+{ord(match[0]):04X}]", text)
    return Clean(_LINE_END.sub("\n", shown), shown != text)


def _without_suspects(text: str, line_break: str) -> tuple[str, bool]:
    replacement = {"gone": "", "break": line_break, "broken": "\ufffd"}
    changed = False

    def replace(match: re.Match[str]) -> str:
        nonlocal changed
        kind = match.lastgroup or "gone"
        if kind == "kept":
            return match[0]
        changed = True
        return replacement[kind]

    return _PIECE.sub(replace, text), changed


def is_safe(text: str) -> bool:
    """Whether the text would be shown as it is: nothing in it that `clean` takes out."""
    return not clean(text, multiline=True).changed


def cut_chars(text: str, limit: int) -> tuple[str, bool]:
    """At most `limit` characters, and whether something was cut."""
    return (text, False) if len(text) <= limit else (text[:limit].rstrip(), True)


def cut_bytes(text: str, limit: int) -> tuple[str, bool]:
    """At most `limit` octets of UTF-8, never half a character, and whether something was cut."""
    if len(text) * 4 <= limit:
        return text, False
    octets = text.encode("utf-8", "replace")
    if len(octets) <= limit:
        return text, False
    return octets[:limit].decode("utf-8", "ignore"), True
