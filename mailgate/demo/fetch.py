"""FETCH items: which are asked for, and what a message answers (RFC 3501, 6.4.5; RFC 7162, 3.1.4)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mailgate.demo.bodystructure import body_structure, envelope
from mailgate.demo.grammar import BadCommand, Scanner, serialize_date_time, serialize_string
from mailgate.demo.store import DemoMessage
from mailgate.demo.structure import Part, parse_structure, split_header

MACROS = {
    "FAST": ("FLAGS", "INTERNALDATE", "RFC822.SIZE"),
    "ALL": ("FLAGS", "INTERNALDATE", "RFC822.SIZE", "ENVELOPE"),
    "FULL": ("FLAGS", "INTERNALDATE", "RFC822.SIZE", "ENVELOPE", "BODY"),
}
_PLAIN = {
    *("UID", "FLAGS", "INTERNALDATE", "RFC822.SIZE", "ENVELOPE", "BODYSTRUCTURE", "BODY", "MODSEQ"),
    *("RFC822", "RFC822.HEADER", "RFC822.TEXT"),
}
_NAME = re.compile(rb"[A-Za-z0-9.]+")
_PATH = re.compile(rb"(?:[1-9][0-9]{0,5}\.?)*")
_OLD_NAMES = {"RFC822": "", "RFC822.HEADER": "HEADER", "RFC822.TEXT": "TEXT"}
"""What the names of RFC 1730 mean; only RFC822.HEADER leaves `\\Seen` alone."""


@dataclass(frozen=True, slots=True)
class Section:
    """`section` of RFC 3501, 9: a part's path, and which of its octets."""

    path: tuple[int, ...] = ()
    text: str = ""
    fields: tuple[bytes, ...] = ()

    @property
    def label(self) -> bytes:
        """As it stands between the brackets of the answer."""
        words = ".".join([*map(str, self.path), *([self.text] if self.text else [])]).encode()
        return words + (b" (" + b" ".join(map(_as_astring, self.fields)) + b")" if self.fields else b"")


def _as_astring(name: bytes) -> bytes:
    return name if re.fullmatch(rb"[A-Za-z0-9.$_-]+", name) else serialize_string(name)


@dataclass(frozen=True, slots=True)
class FetchItem:
    """One item. `section` only with BODY[...] and its old names; `partial` is (first octet, most octets)."""

    name: str
    section: Section | None = None
    partial: tuple[int, int] | None = None
    peek: bool = True


def parse_items(scanner: Scanner) -> list[FetchItem]:
    """The second argument of FETCH: a macro, an item, or items in parentheses. Raises `BadCommand`."""
    if not scanner.accept(b"("):
        name = scanner.matching(_NAME, "a fetch item").decode().upper()
        return [FetchItem(word) for word in MACROS[name]] if name in MACROS else [_item(name, scanner)]
    items = []
    while True:
        items.append(_item(scanner.matching(_NAME, "a fetch item").decode().upper(), scanner))
        if scanner.accept(b")"):
            return items
        scanner.space()


def _item(name: str, scanner: Scanner) -> FetchItem:
    if name in ("BODY", "BODY.PEEK") and scanner.peek() == b"[":
        section = _section(scanner)
        return FetchItem("BODY", section, _partial(scanner), peek=name.endswith("PEEK"))
    if name not in _PLAIN:
        raise BadCommand("unknown fetch item")
    if name in _OLD_NAMES:
        return FetchItem(name, Section(text=_OLD_NAMES[name]), peek=name == "RFC822.HEADER")
    return FetchItem(name)


def _section(scanner: Scanner) -> Section:
    scanner.expect(b"[")
    if scanner.accept(b"]"):
        return Section()
    path_text = scanner.matching(_PATH, "a section")
    path = tuple(int(number) for number in path_text.split(b".") if number)
    if path and not path_text.endswith(b"."):
        scanner.expect(b"]")
        return Section(path)
    text = scanner.matching(_NAME, "a section").decode().upper()
    if text not in ("HEADER", "TEXT", "HEADER.FIELDS", "HEADER.FIELDS.NOT") and not (text == "MIME" and path):
        raise BadCommand("unknown section")
    fields: list[bytes] = []
    if text.startswith("HEADER.FIELDS"):
        scanner.space()
        fields = _field_names(scanner)
    scanner.expect(b"]")
    return Section(path, text, tuple(fields))


def _field_names(scanner: Scanner) -> list[bytes]:
    scanner.expect(b"(")
    names = [scanner.astring()]
    while not scanner.accept(b")"):
        scanner.space()
        names.append(scanner.astring())
    return names


def _partial(scanner: Scanner) -> tuple[int, int] | None:
    if not scanner.accept(b"<"):
        return None
    first = scanner.number()
    scanner.expect(b".")
    most = scanner.number()
    scanner.expect(b">")
    if not most:
        raise BadCommand("a partial fetch asks for at least one octet")
    return first, most


def render_item(item: FetchItem, message: DemoMessage) -> bytes:
    """The item's name and value in a FETCH answer."""
    if item.section is not None:
        octets = section_octets(item.section, message.raw)
        name = item.name.encode()
        if item.name == "BODY":
            name += b"[" + item.section.label + b"]"
        if item.partial is not None:
            first, most = item.partial
            name += b"<%d>" % first
            octets = octets[first : first + most]
        # Message octets always go as a literal: they may hold anything.
        return name + b" {%d}\r\n%b" % (len(octets), octets)
    return item.name.encode() + b" " + _plain_value(item.name, message)


def render_flags(flags: frozenset[str]) -> bytes:
    """`FLAGS (...)` in a fixed order."""
    return ("FLAGS (" + " ".join(sorted(flags, key=lambda flag: (flag[0] != "\\", flag))) + ")").encode()


def _plain_value(name: str, message: DemoMessage) -> bytes:
    match name:
        case "UID":
            return b"%d" % message.uid
        case "FLAGS":
            return render_flags(message.flags).removeprefix(b"FLAGS ")
        case "INTERNALDATE":
            return serialize_date_time(message.internal_date)
        case "RFC822.SIZE":
            return b"%d" % len(message.raw)
        case "MODSEQ":
            return b"(%d)" % message.mod_seq
        case "ENVELOPE":
            return envelope(parse_structure(message.raw))
        case _:
            return body_structure(parse_structure(message.raw), extended=name == "BODYSTRUCTURE")


def section_octets(section: Section, raw: bytes) -> bytes:
    """The octets a section names, undecoded; none where the message has no such part, as Dovecot answers."""
    if not section.path:
        header, body = split_header(raw)
        return _of_message(section, raw, header, body)
    part = _part_at(parse_structure(raw), section.path)
    if part is None:
        return b""
    if section.text == "MIME":
        return part.header
    if not section.text:
        return part.body
    # RFC 3501, 6.4.5: behind a part number, HEADER and TEXT are those of the message the part holds.
    if not part.is_message:
        return b""
    inner = part.children[0]
    return _of_message(section, part.body, inner.header, inner.body)


def _of_message(section: Section, raw: bytes, header: bytes, body: bytes) -> bytes:
    match section.text:
        case "":
            return raw
        case "HEADER":
            return header
        case "TEXT":
            return body
        case _:
            return selected_fields(header, section.fields, invert=section.text.endswith("NOT"))


def selected_fields(header: bytes, names: tuple[bytes, ...], *, invert: bool) -> bytes:
    """The named fields (or all others) exactly as they stand, and the blank line."""
    wanted = {name.lower() for name in names}
    kept = [
        field
        for field in re.split(rb"(?<=\n)(?![ \t])", header)
        if field.strip() and (field.partition(b":")[0].strip().lower() in wanted) != invert
    ]
    return b"".join(kept) + b"\r\n"


def _part_at(message: Part, path: tuple[int, ...]) -> Part | None:
    """RFC 3501, 6.4.5: numbers count the parts of a multipart; a message that is none has one part, number 1."""
    part, inside = message, True
    for number in path:
        if part.is_message and not inside:
            part, inside = part.children[0], True
        if part.is_multipart:
            if number > len(part.children):
                return None
            part, inside = part.children[number - 1], False
        elif inside and number == 1:
            inside = False
        else:
            return None
    return part
