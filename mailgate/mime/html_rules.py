"""What the elements of HTML mean to a reader of mail: tables only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

VOID: Final = frozenset(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr".split()
)
"""Elements without content (HTML Standard, 13.1.2)."""

RAW_TEXT: Final = frozenset("script style title textarea noscript noembed noframes iframe xmp".split())
"""What is in them is text up to their own end tag, and a reader of mail sees none of it as text."""

NEVER_SHOWN: Final = frozenset("template svg math audio video canvas select datalist progress meter x-gone".split())
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
    "s": "x-s",
    "strike": "x-s",
    "del": "x-s",
    "strong": "x-b",
    "em": "x-i",
    "i": "x-i",
    "code": "x-code",
    "tt": "x-code",
}
"""Names under which elements reach the parser; the attribute `was` keeps one that cannot be told from it. Formatting
elements get neutral ones, because re-opening them multiplies a hostile document; others would change how the parser
treats what is around them."""

PLAINLY_RENAMED: Final = frozenset("a b i code span div".split())
"""Whose name can be told from the one they are given."""

CLOSES_PARAGRAPH: Final = frozenset(
    "address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer form h1 h2 h3"
    " h4 h5 h6 header hgroup hr main menu nav ol p pre section table ul li dt dd".split()
)
CELLS: Final = frozenset({"td", "th", "caption"})
"""Formatting does not reach out of these, nor into them (HTML Standard, 13.2.4.3)."""
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

ATTRIBUTE_CHARS_MAX: Final = 4000
"""Characters of one attribute that are looked at."""
STYLE_CHARS_MAX: Final = 64 * 1024
"""The same for `style` and `class`: what hides text may stand at the end of either."""
