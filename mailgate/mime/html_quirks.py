"""Whether a document type leaves a page in quirks mode (HTML Standard, 13.2.6.4.1)."""

from __future__ import annotations

import re
from typing import Final

_DOCTYPE: Final = re.compile(
    r"\s*html(?:\s+(?P<kind>public|system)\s*[\"'](?P<name>[^\"']*)[\"']?(?:\s*[\"'](?P<address>[^\"']*)[\"']?)?)?\s*\Z",
    re.IGNORECASE,
)


def is_quirky(doctype: str) -> bool:
    """`doctype`: what follows the word. Old types are in quirks mode, and so is what is none."""
    match = _DOCTYPE.match(doctype)
    if match is None:
        return True
    if (match["kind"] or "").lower() != "public":
        return "ibmxhtml1-transitional" in (match["name"] or "").lower()
    name = match["name"].lower()
    if name.startswith(("-//w3c//dtd html 4.01 transitional//", "-//w3c//dtd html 4.01 frameset//")):
        return match["address"] is None
    return not name.startswith(("-//w3c//dtd xhtml 1", "-//w3c//dtd html 4.01//", "-//w3c//dtd html 4.0//"))
