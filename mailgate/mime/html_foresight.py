"""What has to be known of a document's style sheets before its first tag is read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mailgate.mime.html_pieces import unescaped

_STYLE: Final = re.compile(r"<style(?=[ \t\n\f\r/>])", re.IGNORECASE)
_END: Final = re.compile(r"</style", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r"\[\s*(?:\*?\|)?(-?[a-z_][-\w:.]{0,39})\s*[~|^$*]?[=\]]", re.IGNORECASE)
_ORDERED: Final = re.compile(r"[+~]|:(?:nth|first|last|only|empty|has)", re.IGNORECASE)
_FIELD: Final = re.compile(r":(checked|disabled|enabled|required|optional|lang)", re.IGNORECASE)
_FIELDS: Final = {"enabled": "disabled", "optional": "required"}
_NAMES_MAX: Final = 60
_PLAIN: Final = re.compile(r"[a-z][-a-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True)
class Foresight:
    """`attributes`: names that a selector may ask for. `ordered`: a selector may ask where among others an element
    stands. `overrules`: a rule may win over a style attribute."""

    attributes: frozenset[str] = frozenset()
    ordered: bool = False
    overrules: bool = False


def foresee(html: str) -> Foresight:
    """One pass over the style elements; what is one only to this pass does no harm."""
    names: set[str] = set()
    ordered = overrules = False
    at = 0
    while (start := _STYLE.search(html, at)) is not None:
        end = _END.search(html, start.end())
        at = end.end() if end else len(html)
        css = unescaped(html[start.end() : at])
        ordered = ordered or _ORDERED.search(css) is not None
        overrules = overrules or "important" in css.lower()
        found = [
            *(match[1].lower() for match in _ATTRIBUTE.finditer(css)),
            *(_FIELDS.get(name.lower(), name.lower()) for name in _FIELD.findall(css)),
        ]
        names |= {name for name in found[:1000] if _PLAIN.fullmatch(name)}
    return Foresight(frozenset(sorted(names)[:_NAMES_MAX]) - {"was", "data"}, ordered, overrules)
