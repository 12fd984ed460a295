"""File names from strangers, made into bare names that are safe to show and to store."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mailgate.limits import FILENAME_CHARS_MAX
from mailgate.mime.clean import clean

_FORBIDDEN: Final = re.compile(r'[<>:"|?*]')
_DRIVE: Final = re.compile(r"[A-Za-z]:(?=.)")
_DEVICE: Final = re.compile(r"(?i)(?:con(?:in\$|out\$)?|prn|aux|nul|(?:com|lpt)[0-9¹²³]) *(?:\.|$)")
_SUFFIX_MAX: Final = 20
_RAW_MAX: Final = 32 * 1024


@dataclass(frozen=True, slots=True)
class SafeFilename:
    """A bare name of at most `limits.FILENAME_CHARS_MAX` characters, or None; `changed` when not as sent."""

    name: str | None
    changed: bool = False


def safe_filename(sent: str | None) -> SafeFilename:
    """The last component of whatever was sent: no path, no drive, no character or device name that a file system
    gives a meaning. An absent name is None and unchanged; one of which nothing is left is None and changed."""
    if sent is None:
        return SafeFilename(None)
    text = clean(sent[:_RAW_MAX]).text
    # Either slash separates somewhere; the name is what follows the last.
    text = text.replace("\\", "/").rpartition("/")[2]
    text = _FORBIDDEN.sub("_", _DRIVE.sub("", text, count=1) if _DRIVE.match(text) else text)
    text = _shortened(text.strip(" ").rstrip(". "))
    if not text.strip("."):
        return SafeFilename(None, changed=True)
    # Windows opens these as devices whatever the suffix.
    if _DEVICE.match(text):
        text = "_" + text[: FILENAME_CHARS_MAX - 1]
    return SafeFilename(text, changed=text != sent)


def _shortened(name: str) -> str:
    """Cut in the stem, so that the suffix, which says what the file is, stays."""
    if len(name) <= FILENAME_CHARS_MAX:
        return name
    stem, dot, suffix = name.rpartition(".")
    if not dot or not stem or len(suffix) > _SUFFIX_MAX:
        return name[:FILENAME_CHARS_MAX].rstrip(". ")
    return stem[: FILENAME_CHARS_MAX - len(suffix) - 1].rstrip(". ") + dot + suffix
