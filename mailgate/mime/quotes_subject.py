"""What a subject says of its message: that it answers another, or passes it on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_REPLY_PREFIX: Final = re.compile(
    r"(?:\s*(?:re|r|aw|antw|antwort|sv|ref|rif|odp|res|ynt|atb|bls|ang|回复|回覆|答复|答覆|返信|회신|תשובה|השב|رد"
    r"|ตอบกลับ|trả lời)"
    r"(?:\[\d+\])?\s*[:：])+",
    re.IGNORECASE,
)
_FORWARD_PREFIX: Final = re.compile(
    r"\s*(?:fw|fwd|wg|tr|rv|enc|i|vl|vb|pd|fs|doorst|ilt|továbbítás|转发|轉寄|転送|전달|הועבר|إعادة توجيه"
    r"|chuyển tiếp|пересл|перенапр)"
    r"(?:\[\d+\])?\s*[:：]",
    re.IGNORECASE,
)
_UNSURE_PREFIX: Final = re.compile(r"\s*vs\s*[:：]", re.IGNORECASE)
"""An answer in Finnish, passed on in Danish and Norwegian."""
_TAG: Final = re.compile(r"\s*\[[^\[\]]{1,60}\]")
_PREFIXES_MAX: Final = 10


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject taken apart: `bare` is what is left without prefixes, tags in brackets, and blanks. `unsure`: its
    prefix says in one language that it answers, in another that it forwards."""

    bare: str
    answers: bool
    forwards: bool
    tagged: bool
    unsure: bool

    @classmethod
    def of(cls, subject: str) -> Subject:
        """The outermost prefix says whether it answers or forwards."""
        rest, first, tagged = subject, "", False
        for _ in range(_PREFIXES_MAX):
            match = _REPLY_PREFIX.match(rest) or _FORWARD_PREFIX.match(rest)
            match = match or _UNSURE_PREFIX.match(rest) or _TAG.match(rest)
            if match is None:
                break
            kind = match.re.pattern
            tagged = tagged or kind == _TAG.pattern
            first = first or (kind if kind != _TAG.pattern else "")
            rest = rest[match.end() :]
        bare = "".join(rest.split()).casefold()
        answers, forwards, unsure = (
            first == prefix.pattern for prefix in (_REPLY_PREFIX, _FORWARD_PREFIX, _UNSURE_PREFIX)
        )
        return cls(bare, answers, forwards, tagged, unsure)
