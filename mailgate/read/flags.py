"""Flags as a result shows them: system flags in canonical spelling, other clients' keywords bounded and cleaned.

A keyword is `flag-keyword = atom` (RFC 9051, 9) on paper; on the wire it is whatever another client or the server
chose to store, and a folder can hold a great many of them. `\\Recent` is about the session and not the message (RFC
9051 has dropped it), so it is not shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from mailgate.imap.values import SystemFlag, canonical_flag
from mailgate.mime.clean import clean
from mailgate.mime.model import ReadWarning

FLAGS_MAX: Final = 64
"""Flags shown of one message; Thunderbird, the most generous client seen, sets about a dozen."""
FLAG_CHARS_MAX: Final = 64
"""The longest keyword that mailgate itself would set."""


@dataclass(frozen=True, slots=True)
class ShownFlags:
    """The flags to show, each once, system flags first, and a warning where some were left out or changed."""

    flags: tuple[str, ...]
    warnings: tuple[ReadWarning, ...] = ()


def shown_flags(flags: Iterable[str]) -> ShownFlags:
    """At most `FLAGS_MAX` flags of at most `FLAG_CHARS_MAX` safe characters; keywords give way to system flags."""
    shown: dict[str, None] = {}
    changed = False
    for flag in sorted(flags, key=lambda name: not name.startswith("\\")):
        if len(shown) == FLAGS_MAX:
            changed = True
            break
        safe = clean(flag[:FLAG_CHARS_MAX])
        changed = changed or safe.changed or len(flag) > FLAG_CHARS_MAX
        shown[canonical_flag(safe.text)] = None
    for nothing in ("", SystemFlag.RECENT):
        shown.pop(nothing, None)
    return ShownFlags(tuple(shown), (_CUT,) if changed else ())


_CUT: Final = ReadWarning("flags_changed", "Some flags of this message are left out or shown in a safer spelling.")
