"""Address fields (RFC 5322, 3.4), taken apart before anything in them is decoded.

The structure comes from the raw characters alone, so nothing that an encoded word decodes to can add an address. A
rendered address is `Name <addr@host>` or `addr@host`; a name with any special character stands in quotes, so a name
that looks like an address is never mistaken for one: the address is what stands in the last angle brackets.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from mailgate.limits import ADDRESSES_MAX
from mailgate.mime.clean import clean, cut_chars
from mailgate.mime.encoded_words import decode_words

FIELD_CHARS_MAX: Final = 64 * 1024
NAME_CHARS_MAX: Final = 256
ADDRESS_CHARS_MAX: Final = 320
"""A local part of 64 octets, `@`, and a domain of 255 (RFC 5321, 4.5.3.1)."""
_PIECES_MAX: Final = 2000
"""Pieces of one address that are looked at; an honest one has some ten."""

# An encoded word is one token whatever is in it; a quote without end runs to the end. Possessive: no backtracking.
_TOKEN: Final = re.compile(
    r'=\?[^?\s]{1,60}+\?[bBqQ]\?[^?\s]*+\?=|"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|\[[^\[\]\s]*+\]'
    r'|\s++|\\.|[^\s"\\(),:;<>@\[\]=]++|.',
    re.DOTALL,
)
_QUOTED_PAIR: Final = re.compile(r"\\(.)", re.DOTALL)
# All that \s takes for a blank apart from the space separators of Unicode (Zs) and the tab: controls and line breaks.
_ODD_BLANK: Final = re.compile(r"[\n-\r\x1c-\x1f\x85\u2028\u2029]")
_SPECIAL: Final = re.compile(r'[()<>\[\]:;@\\,"]')
_ADDRESS_LIKE: Final = re.compile(
    r"[^\s@<>\"'(),;:\[\]]{1,64}(?:@|\s{1,3}@\s{0,3}(?=[^\s@.]{1,63}\.\w\w)|@\s{1,3}(?=[^\s@.]{1,63}\.\w\w))"
    r"[^\s@<>\"'(),;:\[\]]{1,255}"
)
# Dots may stand anywhere in the local part, as providers once let them; what else RFC 5322 reserves may not.
_ADDRESS: Final = re.compile(
    r'(?:[^\s"(),:;<>@\[\]\\]++|"(?:[^"\\]++|\\.)*+")++@'
    r'(?:\[[^\s\[\]]++\]|[^\s"(),:;<>@\[\]\\.]++(?:\.[^\s"(),:;<>@\[\]\\.]++)*+\.?)',
    re.DOTALL,
)
_JOINS: Final = ".@:,"
_AROUND_ADDRESS: Final = re.compile(r"\A[^\w]+|[^\w]+\Z|\s+")


@dataclass(frozen=True, slots=True)
class ParsedAddress:
    """A display name and an address, apart and safe to show; either may be empty, never both.

    `valid`: the address has one local part and one domain. `changed`: something unsafe was taken out.
    """

    name: str
    address: str
    valid: bool = True
    changed: bool = False

    def __str__(self) -> str:
        shown = self.name
        if _SPECIAL.search(shown):
            shown = '"' + shown.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if not self.address:
            return shown
        return f"{shown} <{self.address}>" if shown else self.address

    @property
    def domain(self) -> str:
        """What stands after the last `@`; empty where there is none."""
        return self.address.rpartition("@")[2] if "@" in self.address else ""

    @property
    def name_has_other_address(self) -> bool:
        """Whether the display name shows an address that is not the real one, whatever width its letters have."""
        name = unicodedata.normalize("NFKC", self.name)
        real = _bare(self.address)
        return any(_bare(found) != real for found in _ADDRESS_LIKE.findall(name))


@dataclass(frozen=True, slots=True)
class AddressList:
    """The addresses of one or several fields; `cut` when there are more than are read.

    `changed`: something unsafe was taken out, be it all that stood for an address.
    """

    addresses: tuple[ParsedAddress, ...] = ()
    cut: bool = False
    changed: bool = False


@dataclass(slots=True)
class _Draft:
    """One address while it is read: words as they stand and as they read, comments, what angle brackets hold."""

    raw: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    angle: str | None = None
    glue: bool = False
    has_at: bool = False
    changed: bool = False
    room: int = _PIECES_MAX

    @property
    def empty(self) -> bool:
        """Whether nothing was read yet but blanks."""
        return self.angle is None and not (self.raw or self.comments or self.changed)

    def blank(self, mark: str) -> None:
        """A gap. Blanks that are no honest ones end a word all the same, but do not vanish unnoticed."""
        self.glue = False
        self.changed = self.changed or _ODD_BLANK.search(mark) is not None

    def add(self, raw: str, shown: str | None = None) -> None:
        """Append to the last word, or begin one after a gap; `@` binds over blanks (RFC 5322, 4.4)."""
        self.room -= 1
        if self.room < 0:
            return
        self.has_at = self.has_at or raw == "@"
        if self.raw and (self.glue or raw == "@" or self.raw[-1].endswith("@")):
            self.raw[-1] += raw
            self.shown[-1] += raw if shown is None else shown
        else:
            self.raw.append(raw)
            self.shown.append(raw if shown is None else shown)
        self.glue = True


def parse_addresses(text: str) -> AddressList:
    """All addresses of a field, groups flattened (RFC 5322, 3.4), at most `limits.ADDRESSES_MAX`."""
    found: list[ParsedAddress] = []
    cut, changed = len(text) > FIELD_CHARS_MAX, False
    for draft in _drafts(text[:FIELD_CHARS_MAX]):
        address = _finish(draft)
        if (address.name or address.address) and len(found) == ADDRESSES_MAX:
            cut = True
            break
        changed |= address.changed
        cut |= draft.room < 0
        if address.name or address.address:
            found.append(address)
    return AddressList(tuple(found), cut, changed)


def _drafts(text: str) -> Iterator[_Draft]:
    draft = _Draft()
    tokens = _TOKEN.finditer(text)
    for match in tokens:
        mark = match[0]
        if mark in ",;":
            if not draft.empty:
                yield draft
                draft = _Draft()
        elif mark == "(":
            draft.comments.append(_comment(tokens))
            draft.glue = False
        elif mark == "<":
            ended_early = _angle(draft, tokens)
            if ended_early:
                yield draft
                draft = _Draft()
        # A colon after a phrase makes it a group name (RFC 5322, 3.4); in a domain literal it is part of a token.
        elif mark == ":" and draft.angle is None and not draft.has_at:
            draft = _Draft()  # what came before named a group
        else:
            _word(draft, mark)
    yield draft


def _word(draft: _Draft, mark: str) -> None:
    if mark.isspace():
        draft.blank(mark)
    elif mark.startswith('"'):
        inner = mark[1 : -1 if len(mark) > 1 and mark.endswith('"') else None]
        draft.add(mark, _QUOTED_PAIR.sub(r"\1", inner))
    elif mark not in (")", ">"):
        draft.add(mark)


def _comment(tokens: Iterator[re.Match[str]]) -> str:
    """The comment's text up to its closing parenthesis; comments nest (RFC 5322, 3.2.2)."""
    pieces: list[str] = []
    depth = 1
    for match in tokens:
        depth += (match[0] == "(") - (match[0] == ")")
        if depth == 0:
            break
        pieces.append(match[0])
    return "".join(pieces)


def _angle(draft: _Draft, tokens: Iterator[re.Match[str]]) -> bool:
    """Reads to `>`; says whether a comma ended the address instead, as it does where `>` is missing."""
    if draft.angle is not None:
        draft.glue = False
        draft.add(f"<{draft.angle}>")
    pieces: list[str] = []
    ended_early = parted = False
    for match in tokens:
        mark = match[0]
        if mark == ">":
            break
        if mark == "," and not (pieces and pieces[0] == "@"):
            ended_early = True
            break
        if mark.isspace():
            draft.blank(mark)
            parted = bool(pieces)
        elif mark == "(":
            draft.comments.append(_comment(tokens))
        elif mark != "<":
            # Blanks may stand around dots and `@` (RFC 5322, 4.4); between two words they make it no address.
            if parted and mark[0] not in _JOINS and pieces[-1][-1] not in _JOINS:
                pieces.append(" ")
            pieces.append(mark)
            parted = False
    draft.angle = "".join(pieces)
    draft.glue = False
    return ended_early


def _finish(draft: _Draft) -> ParsedAddress:
    """The address that was read; empty where there is nothing."""
    shown = draft.shown
    if draft.angle is not None:
        address = _without_route(draft.angle)
    else:
        # Without angle brackets the last word with an @ is the address, the rest its description.
        at = next((index for index in reversed(range(len(draft.raw))) if "@" in draft.raw[index]), None)
        address = "" if at is None else draft.raw[at]
        shown = shown if at is None else shown[:at] + shown[at + 1 :]
    if "<" in address or ">" in address:
        # Would be read as a name before another address: then it is a name.
        shown, address = [*shown, address], ""
    name = clean(decode_words(" ".join(shown) or " ".join(draft.comments)).text)
    safe = clean(address)
    name_text, _ = cut_chars(name.text, NAME_CHARS_MAX)
    address_text, too_long = cut_chars(safe.text, ADDRESS_CHARS_MAX)
    valid = not too_long and _is_address(address_text)
    # Programs repeat the address as the name; saying it twice tells nothing.
    if name_text == address_text:
        name_text = ""
    return ParsedAddress(name_text, address_text, valid, draft.changed or name.changed or safe.changed)


def _bare(address: str) -> str:
    """For comparing: without case, and without the quotes and blanks that stand around or within it in a name."""
    return _AROUND_ADDRESS.sub("", unicodedata.normalize("NFKC", address)).casefold()


def _without_route(angle: str) -> str:
    """`@relay1,@relay2:user@host` names the user only (RFC 5322, 4.4)."""
    return angle.partition(":")[2] if angle.startswith("@") and ":" in angle else angle


def _is_address(text: str) -> bool:
    return _ADDRESS.fullmatch(text) is not None
