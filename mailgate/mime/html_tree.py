"""The parsed tree walked once: what a reader sees is written out as small clean HTML, and nothing that acts.

Walked with a list of pending nodes, no recursion. Hidden text is left out and counted; links keep their true target;
an image is its alternative text; a cell ends with a mark that becomes a separator where a line has several cells.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from selectolax.lexbor import LexborNode

from mailgate.limits import HTML_OPEN_ELEMENTS_MAX, TEXT_BYTES_MAX
from mailgate.mime import html_rules as rules
from mailgate.mime.clean import clean, is_safe
from mailgate.mime.html_colour import SEE_THROUGH
from mailgate.mime.html_geometry import is_inline
from mailgate.mime.html_links import WHOLE_CHARS_TOGETHER, Target, parse_target, text_differs
from mailgate.mime.html_matching import Element
from mailgate.mime.html_overlap import NOTHING_BEHIND, Overlaps
from mailgate.mime.html_resolve import Looks, Resolver, is_pixel
from mailgate.mime.html_styles import StyleSheet
from mailgate.mime.html_tables import DATA
from mailgate.mime.html_visibility import Look
from mailgate.mime.html_words import BLANKS, chars_of_markup, chars_of_text
from mailgate.mime.quotes_html import ClosedQuotations, OddLetters

LESS: Final = "\ufdd0"
AMPERSAND: Final = "\ufdd1"
CELL: Final = "\ufdd2"
OPEN_BRACKET: Final = "\ufdd3"
CLOSE_BRACKET: Final = "\ufdd4"
ROW: Final = "\ufdd5"
RULE: Final = "\ufdd6"
PIPE: Final = "\ufdd7"
IMAGE: Final = "\ufdd8"
IMAGE_END: Final = "\ufdd9"
"""Noncharacters; `clean` has removed them from the text before. They stand for `<`, `&`, the end of a cell, brackets
within a link's text, the start of a row, a cell of the rule below a head row, `|` in a cell, and what is around an
alternative text. They keep the Markdown writer from seeing any entity, and from escaping an escape."""

_NESTING_SHOWN: Final = 8
"""Levels of lists and quotations that are shown: a deeper one would only widen every line's prefix."""
_SPAN_MAX: Final = 20
_KEPT: Final = frozenset("p div h1 h2 h3 h4 h5 h6 dl dt dd pre".split())
_NESTED: Final = frozenset({"ul", "ol", "blockquote"})
_INLINE: Final = {"x-b": "strong", "x-i": "em", "x-code": "code", "x-s": "del"}
_TAG: Final = re.compile(r"</?[a-z]{1,10}>")


@dataclass(frozen=True, slots=True)
class CleanHtml:
    """`markup` for the Markdown writer, and what was found on the way. `differs`: the text of a link names another
    host than its target. `odd`: text within a quotation looks other than the rest of it."""

    markup: str = ""
    hidden_chars: int = 0
    limited: bool = False
    sanitized: bool = False
    differs: bool = False
    odd: bool = False


_ORDINARY: Final = Look()
_ENDED: Final = [True]


class _Where(NamedTuple):
    """What holds for a node by its ancestors. `flat`: within a link or a cell of data, where no block can be."""

    depth: int = 0
    nesting: int = 0
    look: Look = _ORDINARY
    outer: Element | None = None
    preformatted: bool = False
    in_link: bool = False
    in_list: bool = False
    in_data: bool = False
    quotation: int = 0
    raised: bool = False
    line: list[bool] = _ENDED
    """Whether the first line of the block has ended."""

    @property
    def flat(self) -> bool:
        return self.in_link or self.in_data


@dataclass(frozen=True, slots=True)
class _End:
    """Reached when the content of an element is written: a link or emphasis without any text is taken back, and a
    row knows its cells."""

    position: int
    seen: int
    closing: str
    target: Target | None = None
    is_head: bool = False


_Pending = tuple[LexborNode, _Where] | str | _End


def serialize(root: LexborNode, styles: StyleSheet, *, overlapping: bool = True) -> CleanHtml:
    """The clean document for the tree under the body `root`. `overlapping`: elements may lie over each other."""
    return _Writer(styles, overlapping=overlapping).write(root)


class _Writer:
    def __init__(self, styles: StyleSheet, *, overlapping: bool) -> None:
        self._may_overlap = overlapping
        self._styles = styles
        self._resolver = Resolver(styles)
        self._overlaps = Overlaps()
        self._looks = Looks()
        self._out: list[str] = []
        self._pending: list[_Pending] = []
        self._links: list[tuple[int, Target]] = []
        self._seen = 0
        self._room = TEXT_BYTES_MAX
        self._hidden_chars = 0
        self._limited = styles.limited
        self._sanitized = False
        self._differs = False
        self._head_rows = 0
        self._quotations = ClosedQuotations()
        self._odd = OddLetters()

    def write(self, root: LexborNode) -> CleanHtml:
        html = root.parent
        if html is not None:
            if self._may_overlap:
                self._overlaps = self._resolver.find_overlaps(html)
            self._begin(html, root)
        while self._pending:
            item = self._pending.pop()
            if isinstance(item, str):
                self._out.append(item)
            elif isinstance(item, _End):
                self._end(item)
            elif self._styles.exhausted:
                # What follows cannot be judged, and hidden text must not come through.
                self._limited = True
            else:
                self._node(*item)
        self._write_targets()
        odd = self._odd.mark(self._out)
        return CleanHtml("".join(self._out), self._hidden_chars, self._limited, self._sanitized, self._differs, odd)

    def _begin(self, html: LexborNode, root: LexborNode) -> None:
        """Enter the root element, then its body: the one that the scan wrote, or the parser's own."""
        entered = self._enter(html, _Where())
        if entered is None:
            return
        inside = entered[0]
        first = root.first_child
        written = first is not None and first.is_element_node and first.attributes.get("was") == "body"
        if not written:
            self._pending.append((root, inside))
            return
        child = root.last_child
        while child is not None:
            self._pending.append((child, inside))
            child = child.prev

    def _node(self, node: LexborNode, where: _Where) -> None:
        if node.is_text_node:
            self._text(node.text_content or "", where, unseen=where.look.unseen)
        elif node.is_element_node:
            self._element(node, where)

    # --- text ---------------------------------------------------------------------------------------------------

    def _text(self, text: str, where: _Where, *, unseen: bool) -> None:
        if unseen or (where.look.far_line and not where.line[0]):
            self._hidden_chars += chars_of_text(text)
            return
        safe = clean(text, multiline=True)
        self._sanitized = self._sanitized or safe.changed
        shown = safe.text if where.preformatted else BLANKS.sub(" ", safe.text)
        if len(shown) > self._room:
            self._limited, shown = True, shown[: max(self._room, 0)]
        # Blanks count as nothing seen: a link around them has no text.
        said = len(shown.strip())
        self._seen += said
        self._room -= said
        # A bracket in a link's text could end the text early and show another target.
        if where.in_link:
            shown = shown.replace("[", OPEN_BRACKET).replace("]", CLOSE_BRACKET)
        if where.in_data:
            shown = shown.replace("|", PIPE)
        if where.flat:
            shown = shown.replace("\n", " ")
        elif not where.preformatted:
            self._odd.note(self._out, shown, where.quotation, where.look.colour, where.look.background)
        self._out.append(shown.replace("&", AMPERSAND).replace("<", LESS))

    def _image(self, attributes: Mapping[str, str], where: _Where, values: Mapping[str, str]) -> None:
        """Its alternative text; that of a tracking pixel is hidden text. Size and colour of text do not hide it."""
        alternative = " ".join(attributes.get("alt", "").split())
        unseen = where.look.invisible or where.look.frame.is_unseen or where.look.opacity < SEE_THROUGH
        if not alternative or unseen or is_pixel(attributes, values):
            self._hidden_chars += chars_of_text(alternative)
            return
        position, seen = len(self._out), self._seen
        self._out.append(IMAGE)
        self._text(alternative, where._replace(in_link=True, preformatted=False), unseen=False)
        self._out.append(IMAGE_END)
        if self._seen == seen:
            del self._out[position:]

    def _enter(self, node: LexborNode, where: _Where) -> tuple[_Where, Mapping[str, str], Mapping[str, str]] | None:
        """What holds inside an element, its attributes, and its values; None where nothing in it is shown."""
        resolved = self._resolver.resolve(node, where.outer)
        if self._styles.exhausted:  # by this element, so not all is known of it
            self._limited = True
            return None
        tag, attributes, values = resolved.tag, resolved.attributes, resolved.values
        behind = self._overlaps.behind(node.mem_id, values, where.raised) if self._may_overlap else NOTHING_BEHIND
        look = self._looks.inside(where.look, resolved, behind)
        if look is None:
            text = node.text() or ""
            # What `rp` holds for old programs is a parenthesis.
            self._hidden_chars += chars_of_markup(text) if tag == "rp" else chars_of_text(text)
            return None
        # The scan bounds what is open; a parser adds at most tbody and tr to each table.
        if where.depth > 3 * HTML_OPEN_ELEMENTS_MAX:
            self._limited = True
            return None
        line = where.line
        if look.far_line and ("text-indent" in values or not is_inline(tag, values)):
            line = [False]
        inside = where._replace(
            depth=where.depth + 1, look=look, outer=resolved.element, line=line, raised=behind.raised
        )
        return inside, attributes, values

    # --- elements -----------------------------------------------------------------------------------------------

    def _element(self, node: LexborNode, where: _Where) -> None:
        name = node.tag or ""
        if name in rules.NEVER_SHOWN or name in rules.RAW_TEXT:
            self._hidden_chars += chars_of_text(node.text() or "")
            return
        entered = self._enter(node, where)
        if entered is None:
            return
        where, attributes, values = entered
        if name == "sup":
            self._raise(node)
        if name == "img":
            self._image(attributes, where, values)
        elif name == "br":
            where.line[0] = True
            self._out.append(" " if where.flat else "\n" if where.preformatted else "<br>")
        elif name == "hr":
            self._out.append(" " if where.flat else "<hr>")
        elif name == "x-a":
            self._link(node, where, attributes.get("href", ""))
        elif where.in_data and name not in _INLINE:
            self._in_data(node, where, name, attributes)
        elif where.in_link:
            self._children(node, where, " " if name in rules.BLOCKS else "", "")
        else:
            self._container(node, where, name, attributes)

    def _container(self, node: LexborNode, where: _Where, name: str, attributes: Mapping[str, str]) -> None:
        if name in _INLINE:
            self._emphasis(node, where, _INLINE[name])
        elif name in _NESTED:
            self._nested(node, where, name, attributes)
        elif name == "div" and self._quotations.holds(node, attributes):
            self._nested(node, where, "blockquote", attributes)
        elif name == "li" and where.in_list:
            self._children(node, where, "<li>", "</li>")
        elif name == "table" and DATA in attributes and not where.preformatted:
            self._head_rows += 1
            self._children(node, where._replace(in_data=True), "<p>", "</p>")
        # Mail uses tables for layout: a Markdown table of them would be unreadable, a separator is not.
        elif name in ("td", "th"):
            self._children(node, where, "", CELL)
        elif name == "pre" and not where.preformatted:
            self._children(node, where._replace(preformatted=True), "<pre>", "</pre>")
        # Within `pre` html2text would indent every block again.
        elif name in _KEPT and not where.preformatted:
            self._children(node, where, f"<{name}>", f"</{name}>")
        elif name in rules.BLOCKS or name == "li":
            opening, closing = ("", "\n") if where.preformatted else ("<div>", "</div>")
            self._children(node, where, opening, closing)
        else:
            self._children(node, where, "", "")

    def _raise(self, node: LexborNode) -> None:
        """A mark before digits that stand raised behind a letter or digit: `$19<sup>99</sup>` is no 1999."""
        before = next((piece for piece in reversed(self._out) if piece.strip()), "")
        if before[-1:].isalnum() and (node.text() or "").strip()[:1].isdigit():
            self._out.append("^")

    def _emphasis(self, node: LexborNode, where: _Where, tag: str) -> None:
        """Emphasis around nothing would leave stray asterisks, so it is taken back then."""
        if where.preformatted:
            self._children(node, where, "", "")
            return
        self._pending.append(_End(len(self._out), self._seen, f"</{tag}>"))
        self._children(node, where, f"<{tag}>", "")

    def _nested(self, node: LexborNode, where: _Where, name: str, attributes: Mapping[str, str]) -> None:
        if where.nesting >= _NESTING_SHOWN or where.preformatted:
            self._children(node, where, "<div>", "</div>")
            return
        start = attributes.get("start", "")
        number = f' start="{start}"' if name == "ol" and start.isascii() and start.isdigit() and len(start) < 7 else ""
        inside = where._replace(nesting=where.nesting + 1, in_list=name != "blockquote")
        if name == "blockquote":
            # Around nothing it would be a mark before the next text, which is somebody else's.
            self._pending.append(_End(len(self._out), self._seen, "</blockquote>"))
            self._children(node, inside._replace(quotation=self._odd.quotation()), "<blockquote>", "")
            return
        self._children(node, inside, f"<{name}{number}>", f"</{name}>")

    def _in_data(self, node: LexborNode, where: _Where, name: str, attributes: Mapping[str, str]) -> None:
        """A part of a table of data: rows are lines of their own, and all in a cell is one line."""
        if name == "tr":
            self._pending.append(_End(len(self._out), self._seen, "<br>", is_head=self._head_rows > 0))
            self._head_rows = 0
            self._children(node, where, ROW, "")
        elif name in ("td", "th"):
            span = attributes.get("colspan", "1")
            cells = min(int(span), _SPAN_MAX) if span.isascii() and span.isdigit() and len(span) < 4 else 1
            self._children(node, where, "", CELL * max(cells, 1))
        elif name == "caption":
            self._children(node, where, "", "<br>")
        else:
            self._children(node, where, " " if name in rules.BLOCKS else "", "")

    def _children(self, node: LexborNode, where: _Where, opening: str, closing: str) -> None:
        self._out.append(opening)
        self._pending.append(closing)
        # Pushed from the last, so that the first is taken next.
        child = node.last_child
        while child is not None:
            self._pending.append((child, where))
            child = child.prev

    def _end(self, end: _End) -> None:
        if end.is_head:
            cells = "".join(self._out[end.position :]).count(CELL)
            self._out.append(f"<br>{ROW}{RULE * cells}")
        elif end.target is not None:
            self._end_link(end, end.target)
            return
        elif self._seen == end.seen and end.closing != "<br>":
            self._out[end.position] = ""
            return
        self._out.append(end.closing)

    # --- links --------------------------------------------------------------------------------------------------

    def _link(self, node: LexborNode, where: _Where, href: str) -> None:
        target = None if where.in_link else parse_target(href)
        if target is None:
            self._children(node, where, "", "")
            return
        self._sanitized = self._sanitized or not is_safe(href)
        self._pending.append(_End(len(self._out), self._seen, "</a>", target))
        self._children(node, where._replace(in_link=True), "<a>", "")

    def _end_link(self, end: _End, target: Target) -> None:
        if self._seen == end.seen:
            del self._out[end.position :]
            self._out.append(" ")
            return
        self._room -= len(target.short)
        if self._room < 0:
            self._limited = True
            self._out[end.position] = ""
            return
        text = _TAG.sub("", "".join(self._out[end.position :])).replace(AMPERSAND, "&")
        self._differs = self._differs or text_differs(text, target)
        self._links.append((end.position, target))
        self._out.append("</a>")

    def _write_targets(self) -> None:
        """Whole when they are few, so that a code in one is not lost; else what can be read of each."""
        whole = sum(len(target.whole) for _, target in self._links) <= WHOLE_CHARS_TOGETHER
        for position, target in self._links:
            shown = (target.whole if whole else target.short).replace("&", AMPERSAND)
            self._out[position] = f'<a href="{shown}">'
