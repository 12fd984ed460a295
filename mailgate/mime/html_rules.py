"""What the elements of HTML mean to a reader of mail: tables only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

VOID: Final = frozenset(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr".split()
)
"""Elements without content (HTML Standard, 13.1.2)."""

RAW_TEXT: Final = frozenset("script style title textarea noscript noembed noframes iframe xmp".split())
"""What is in them is text up to their own end tag, and a reader of mail sees none of it as text."""

NEVER_SHOWN: Final = frozenset("template svg math audio video canvas select datalist dialog".split())
"""Elements of which nothing is text to a reader, or only a stand-in for what cannot be shown."""

TRANSPARENT: Final = frozenset("html head frameset frame noframes plaintext".split())
"""Tags that are left out; what is between them stays."""

FORMATTING: Final = frozenset("a b big code em font i nobr s small strike strong tt u".split())
"""Elements that an HTML parser opens again in later blocks until their end tag comes (HTML Standard, 13.2.4.3)."""

RENAMED: Final[Mapping[str, str]] = {
    **dict.fromkeys(FORMATTING, "span"),
    **dict.fromkeys(("label", "button", "object", "applet", "marquee"), "span"),
    **dict.fromkeys(("body", "center", "form", "fieldset"), "div"),
    "a": "x-a",
    "b": "x-b",
    "strong": "x-b",
    "em": "x-i",
    "i": "x-i",
    "code": "x-code",
    "tt": "x-code",
}
"""Names under which elements reach the parser. Formatting elements get neutral ones, because re-opening them
multiplies a hostile document; others would change how the parser treats what is around them."""

CLOSES_PARAGRAPH: Final = frozenset(
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3"
    " h4 h5 h6 header hgroup hr main menu nav ol p pre section table ul li dt dd".split()
)
_CELL: Final = frozenset({"td", "th"})
_ROWS: Final = frozenset({"tbody", "thead", "tfoot"})
TABLE_PARTS: Final = _CELL | _ROWS | {"tr", "table", "caption"}

IMPLIED: Final[Mapping[str, tuple[frozenset[str], frozenset[str]]]] = {
    "li": (frozenset({"li"}), frozenset({"ul", "ol", "menu", "dir"}) | TABLE_PARTS),
    "dt": (frozenset({"dt", "dd"}), frozenset({"dl"}) | TABLE_PARTS),
    "dd": (frozenset({"dt", "dd"}), frozenset({"dl"}) | TABLE_PARTS),
    "td": (_CELL, frozenset({"table"})),
    "th": (_CELL, frozenset({"table"})),
    "tr": (frozenset({"tr"}), frozenset({"table"})),
    "tbody": (_ROWS | {"tr"}, frozenset({"table"})),
    "thead": (_ROWS | {"tr"}, frozenset({"table"})),
    "tfoot": (_ROWS | {"tr"}, frozenset({"table"})),
}
"""A start tag that closes the nearest of the first set, unless one of the second set is nearer (13.2.6.4.7)."""
PARAGRAPH: Final = (frozenset({"p"}), TABLE_PARTS)
BREAKS_OUT: Final = frozenset(
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta"
    " nobr ol p pre ruby s small span strike strong sub sup table tt u ul var".split()
)
"""Start tags that end the `svg` or `math` around them (13.2.6.5)."""
INTEGRATION_POINTS: Final = frozenset({"title", "desc", "foreignobject", "annotation-xml", "mtext"})
"""Foreign elements that hold ordinary HTML, out of which nothing breaks (13.2.4.2)."""
END_STOPS: Final = frozenset({"td", "th", "caption", "table"})
"""An end tag of anything but a table's part does not reach out of a cell."""

BLOCKS: Final = CLOSES_PARAGRAPH | {"tr", "caption", "tbody", "thead", "tfoot", "table"}

_NUMBER: Final = r"(?:0{1,9}(?:\.0{1,9})?|\.0{1,9})(?:px|pt|em|rem|ex|%|in|cm|mm|pc|vw|vh)?"
_GONE: Final = re.compile(
    rf"(?:^|;)(?:display:none|mso-hide:all|opacity:{_NUMBER}|content-visibility:hidden"
    r"|transform:scale\(0(?:\.0{1,9})?(?:, ?0(?:\.0{1,9})?)?\)|clip:rect\((?:[01](?:px)?[, ]{1,2}){3}[01](?:px)?\)"
    r"|(?:left|right|top|text-indent|margin-left|margin-top):-[0-9]{4,}px)(?:!important)?(?=;|$)"
)
_SQUEEZED: Final = re.compile(rf"(?:^|;)(?:max-)?(?:height|width):{_NUMBER}(?:!important)?(?=;|$)")
_CLIPPED: Final = re.compile(r"(?:^|;)overflow(?:-[xy])?:(?:hidden|clip)")
_VISIBILITY: Final = re.compile(r"(?:^|;)visibility:([a-z]+)")
_FONT_SIZE: Final = re.compile(r"(?:^|;)font-size:([^;!]+)")
_FONT: Final = re.compile(rf"(?:^|;)font:(?:[a-z0-9]+ )*?{_NUMBER}(?=[ /;]|$)")
_ZERO: Final = re.compile(rf"{_NUMBER}|(?:0?\.[0-9]{{1,9}}|1(?:\.0{{1,9}})?)(?:px|pt)")
"""Nothing, or so small that nobody reads it: preheaders are hidden in one pixel."""
_CSS_ESCAPE: Final = re.compile(r"\\(?:([0-9a-f]{1,6}) ?|(.))", re.DOTALL)
ATTRIBUTE_CHARS_MAX: Final = 4000
"""Characters of one attribute that are looked at."""


def normal_style(style: str) -> str:
    """A style attribute without case, comments, escapes, and blanks around its punctuation."""
    text = " ".join(without_comments(style[:ATTRIBUTE_CHARS_MAX].lower()).split())
    if "\\" in text:
        text = _CSS_ESCAPE.sub(_unescaped, text)
    for mark in ":;!":
        text = text.replace(f" {mark}", mark).replace(f"{mark} ", mark)
    return text


def without_comments(style: str) -> str:
    """CSS without its comments; one without end goes on to the end (CSS Syntax, 4.3.2)."""
    first, *others = style.split("/*")
    # A piece without an end lies within a comment, which then goes on in the next piece.
    return first + "".join(piece.partition("*/")[2] for piece in others)


def _unescaped(match: re.Match[str]) -> str:
    """CSS Syntax, 4.3.7: up to six hexadecimal digits, or the character itself."""
    if not match[1]:
        return match[2]
    number = int(match[1], 16)
    return chr(number).lower() if 0 < number < 0xD800 or 0xDFFF < number <= 0x10FFFF else ""


def removes_subtree(attributes: Mapping[str, str], style: str) -> bool:
    """Whether nothing inside can be seen, whatever it says of itself."""
    if "hidden" in attributes:
        return True
    return bool(_GONE.search(style) or (_CLIPPED.search(style) and _SQUEEZED.search(style)))


def invisible(style: str, inherited: tuple[bool, bool]) -> tuple[bool, bool]:
    """(hidden by `visibility`, hidden by a font of size zero): both are inherited, and a child can undo them.

    Newsletters set `font-size:0` on cells to close gaps and set a size again on the text inside.
    """
    by_visibility, by_size = inherited
    visibilities = _VISIBILITY.findall(style)
    if visibilities:
        by_visibility = visibilities[-1] in ("hidden", "collapse")
    sizes = _FONT_SIZE.findall(style)
    if sizes:
        by_size = _is_zero(sizes[-1].strip(), by_size)
    elif _FONT.search(style):
        by_size = True
    return by_visibility, by_size


def _is_zero(size: str, inherited: bool) -> bool:
    if _ZERO.fullmatch(size):
        return True
    relative = size.endswith(("em", "%")) and not size.endswith("rem")
    return inherited if relative or size in ("inherit", "smaller", "larger") else False
