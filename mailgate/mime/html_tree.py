"""From a parsed HTML tree to a small clean document: what a reader sees, and nothing that acts.

Walked with a list of pending nodes, no recursion. Hidden text is left out and reported; links keep their true target;
an image is its alternative text; a cell ends with a mark that becomes a separator where a line has several cells.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlsplit

from selectolax.lexbor import LexborNode

from mailgate.limits import HTML_OPEN_ELEMENTS_MAX, TEXT_BYTES_MAX
from mailgate.mime import html_rules as rules
from mailgate.mime.clean import clean, is_safe
from mailgate.mime.html_styles import StyleSheet

LESS: Final = "\ufdd0"
AMPERSAND: Final = "\ufdd1"
CELL: Final = "\ufdd2"
OPEN_BRACKET: Final = "\ufdd3"
CLOSE_BRACKET: Final = "\ufdd4"
"""Noncharacters that stand for `<`, `&`, the end of a cell, and brackets within a link's text; `clean` has removed
them from the text before. They keep the Markdown writer from seeing any entity, and from escaping an escape."""

_BLANKS: Final = re.compile("[ \t\r\n\f\xa0]+")
_NESTING_SHOWN: Final = 8
"""Levels of lists and quotations that are shown: a deeper one would only widen every line's prefix."""
_KEPT: Final = frozenset("p div h1 h2 h3 h4 h5 h6 dl dt dd pre".split())
_NESTED: Final = frozenset({"ul", "ol", "blockquote"})
_INLINE: Final = {"x-b": "strong", "x-i": "em", "x-code": "code"}
_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel", "sms", "ftp", "ftps"})
_URL_UNSAFE: Final = re.compile(r"[\s<>\"'`(){}\[\]\\^|]")


@dataclass(frozen=True, slots=True)
class CleanHtml:
    """`markup` for the Markdown writer, and what was found on the way."""

    markup: str
    hidden: bool
    limited: bool
    sanitized: bool


@dataclass(frozen=True, slots=True)
class _Where:
    """What holds for a node by its ancestors."""

    depth: int = 0
    nesting: int = 0
    unseen: tuple[bool, bool] = (False, False)
    preformatted: bool = False
    in_link: bool = False
    in_list: bool = False


@dataclass(frozen=True, slots=True)
class _LinkEnd:
    """Reached when a link's content is written: a link without any text is taken back."""

    position: int
    seen: int


_Pending = tuple[LexborNode, _Where] | str | _LinkEnd


def serialize(root: LexborNode, styles: StyleSheet) -> CleanHtml:
    """The clean document for the tree under `root`."""
    return _Writer(styles).write(root)


class _Writer:
    def __init__(self, styles: StyleSheet) -> None:
        self._styles = styles
        self._out: list[str] = []
        self._pending: list[_Pending] = []
        self._seen = 0
        self._hidden = False
        self._limited = False
        self._sanitized = False

    def write(self, root: LexborNode) -> CleanHtml:
        self._pending.append((root, _Where()))
        while self._pending:
            item = self._pending.pop()
            if isinstance(item, str):
                self._out.append(item)
            elif isinstance(item, _LinkEnd):
                self._end_link(item)
            else:
                self._node(*item)
        return CleanHtml("".join(self._out), self._hidden, self._limited, self._sanitized)

    def _node(self, node: LexborNode, where: _Where) -> None:
        if node.is_text_node:
            self._text(node.text_content or "", where)
        elif node.is_element_node:
            self._element(node, where)

    # --- text ---------------------------------------------------------------------------------------------------

    def _text(self, text: str, where: _Where) -> None:
        if any(where.unseen):
            self._hidden = self._hidden or not text.isspace()
            return
        safe = clean(text, multiline=True)
        self._sanitized = self._sanitized or safe.changed
        shown = safe.text if where.preformatted else _BLANKS.sub(" ", safe.text)
        room = TEXT_BYTES_MAX - self._seen
        if len(shown) > room:
            self._limited, shown = True, shown[: max(room, 0)]
        # Blanks count as nothing seen: a link around them has no text.
        self._seen += len(shown.strip())
        # A bracket in a link's text could end the text early and show another target.
        if where.in_link:
            shown = shown.replace("[", OPEN_BRACKET).replace("]", CLOSE_BRACKET).replace("\n", " ")
        self._out.append(shown.replace("&", AMPERSAND).replace("<", LESS))

    # --- elements -----------------------------------------------------------------------------------------------

    def _element(self, node: LexborNode, where: _Where) -> None:
        name = node.tag or ""
        attributes = {key: value or "" for key, value in node.attributes.items()}
        style = rules.normal_style(attributes["style"]) if "style" in attributes else ""
        if name in rules.NEVER_SHOWN or name in rules.RAW_TEXT:
            return
        if rules.removes_subtree(attributes, style) or self._hidden_by_sheet(name, attributes, style):
            self._hidden = self._hidden or bool((node.text() or "").strip())
            return
        # The scan bounds what is open; a parser adds at most tbody and tr to each table.
        if where.depth > 3 * HTML_OPEN_ELEMENTS_MAX:
            self._limited = True
            return
        where = replace(where, depth=where.depth + 1, unseen=rules.invisible(style, where.unseen))
        if name == "br":
            self._out.append(" " if where.in_link else "\n" if where.preformatted else "<br>")
        elif name == "hr":
            self._out.append(" " if where.in_link else "<hr>")
        elif name == "img":
            self._text(attributes.get("alt", ""), where)
        elif name == "x-a":
            self._link(node, where, attributes.get("href", ""))
        elif where.in_link:
            self._children(node, where, " " if name in rules.BLOCKS else "", "")
        else:
            self._container(node, where, name, attributes)

    def _hidden_by_sheet(self, name: str, attributes: dict[str, str], style: str) -> bool:
        """A style attribute that says how an element is displayed wins over the sheet (CSS Cascade, 6.1)."""
        return self._styles.hides(name, attributes) and "display:" not in style

    def _container(self, node: LexborNode, where: _Where, name: str, attributes: dict[str, str]) -> None:
        if name in _INLINE:
            # Emphasis around nothing would leave stray asterisks.
            blank = not (node.text() or "").strip()
            tag = "" if blank or where.preformatted else _INLINE[name]
            self._children(node, where, f"<{tag}>" if tag else "", f"</{tag}>" if tag else "")
        elif name in _NESTED:
            self._nested(node, where, name, attributes)
        elif name == "li" and where.in_list:
            self._children(node, where, "<li>", "</li>")
        # Mail uses tables for layout: a Markdown table of them would be unreadable, a separator is not.
        elif name in ("td", "th"):
            self._children(node, where, "", CELL)
        elif name == "pre" and not where.preformatted:
            self._children(node, replace(where, preformatted=True), "<pre>", "</pre>")
        # Within `pre` html2text would indent every block again.
        elif name in _KEPT and not where.preformatted:
            self._children(node, where, f"<{name}>", f"</{name}>")
        elif name in rules.BLOCKS or name == "li":
            opening, closing = ("", "\n") if where.preformatted else ("<div>", "</div>")
            self._children(node, where, opening, closing)
        else:
            self._children(node, where, "", "")

    def _nested(self, node: LexborNode, where: _Where, name: str, attributes: dict[str, str]) -> None:
        if where.nesting >= _NESTING_SHOWN or where.preformatted:
            self._children(node, where, "<div>", "</div>")
            return
        start = attributes.get("start", "")
        number = f' start="{start}"' if name == "ol" and start.isascii() and start.isdigit() and len(start) < 7 else ""
        inside = replace(where, nesting=where.nesting + 1, in_list=name != "blockquote")
        self._children(node, inside, f"<{name}{number}>", f"</{name}>")

    def _children(self, node: LexborNode, where: _Where, opening: str, closing: str) -> None:
        self._out.append(opening)
        self._pending.append(closing)
        # Pushed from the last, so that the first is taken next.
        child = node.last_child
        while child is not None:
            self._pending.append((child, where))
            child = child.prev

    # --- links --------------------------------------------------------------------------------------------------

    def _link(self, node: LexborNode, where: _Where, href: str) -> None:
        target = "" if where.in_link else safe_target(href)
        if not target:
            self._children(node, where, "", "")
            return
        self._sanitized = self._sanitized or not is_safe(href)
        self._pending.append(_LinkEnd(len(self._out), self._seen))
        self._children(node, replace(where, in_link=True), f'<a href="{target}">', "</a>")

    def _end_link(self, link: _LinkEnd) -> None:
        if self._seen == link.seen:
            del self._out[link.position :]
            self._out.append(" ")


def safe_target(href: str) -> str:
    """The link's true target when it leads somewhere a reader could go, with nothing that would break the Markdown
    around it; else an empty string. Nothing that runs, and nothing within the message, is a target."""
    text = "".join(clean(href).text.split())
    # A value of the full length was cut, so it is not the true target.
    if not text or len(text) >= rules.ATTRIBUTE_CHARS_MAX:
        return ""
    try:
        scheme = urlsplit(text).scheme
    except ValueError:
        return ""
    if scheme not in _SCHEMES:
        return ""
    return _URL_UNSAFE.sub(_percent, text).replace("&", AMPERSAND)


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{octet:02X}" for octet in match[0].encode())
