"""What an answer takes over from the message it answers: its thread (RFC 5322, 3.6.4) and its subject (3.6.5)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mailgate.limits import REFERENCES_BYTES_MAX, REFERENCES_MAX, SUBJECT_BYTES_MAX
from mailgate.mime.clean import cut_bytes
from mailgate.mime.composition import is_message_id
from mailgate.mime.fields import header_extent, parse_fields, raw_text

_ID: Final = re.compile(r"<[^<>]{1,996}>")
_FIELD_OCTETS_MAX: Final = 128 * 1024

# What mail programs put before a subject when they answer or forward, in the languages that they are sold in. Words of
# a letter alone are Italian.
_REPLY: Final = (
    "re|aw|antw|antwort|sv|vs|odp|res|resp|rif|r|ynt|yan|bls|atb|ats|на|vá|vast|odg|tr\u1ea3 lời|"
    "απ|σχετ|отв|ответ|השב|תשובה|תגובה|رد|回复|回覆|答复|答覆|返信|返|답장|회신|ตอบ"
)
_FORWARD: Final = (
    "fwd|fw|wg|tr|rv|enc|i|inoltrato|vb|vl|vedb|videresendt|doorst|pd|fs|ilt|i̇lt|iletildi|továbbítás|tov|"
    "πρθ|пересл|הועבר|إعادة توجيه|转发|轉寄|轉發|転送|전달|ส่งต่อ"
)
_COUNT: Final = r"(?:[ \t]*(?:\[\d{1,4}\]|\(\d{1,4}\)|[\^*]\d{1,4}))?"
_COLON: Final = "[ \t\u00a0]*[:\uff1a][ \t\u00a0]*"
_PREFIX: Final = re.compile(rf"(?:(?P<reply>{_REPLY})|(?P<forward>{_FORWARD})){_COUNT}{_COLON}", re.IGNORECASE)
_TAG: Final = re.compile(r"\[[^\[\]]{1,80}\][ \t]*(?=\S)")


@dataclass(frozen=True, slots=True)
class Thread:
    """The thread fields of a reply. `incomplete`: the source has an id that no mail program is sure to understand."""

    in_reply_to: str | None = None
    references: tuple[str, ...] = ()
    incomplete: bool = False


def thread_of(source: bytes) -> Thread:
    """The thread fields for a reply to `source`, from its own fields.

    `In-Reply-To` is its Message-ID; `References` is its References, or else its In-Reply-To if that is one id, and its
    Message-ID after them. Of a chain too long, the first stays and the latest do.
    """
    fields = parse_fields(source, 0, header_extent(source, 0, len(source)).end)
    found = {name: _ids(fields.first(name)) for name in ("message-id", "references", "in-reply-to")}
    chain = found["references"] or (found["in-reply-to"] if len(found["in-reply-to"]) == 1 else ())
    parent = found["message-id"][:1]
    wanted = tuple(dict.fromkeys((*(each for each in chain if each not in parent), *parent)))
    usable = tuple(filter(is_message_id, wanted))
    own = next(filter(is_message_id, parent), None)
    return Thread(own, _bounded(usable), incomplete=len(usable) < len(wanted) or not parent)


def _ids(value: bytes | None) -> tuple[str, ...]:
    return tuple(_ID.findall(raw_text((value or b"")[:_FIELD_OCTETS_MAX])))


def _bounded(ids: tuple[str, ...]) -> tuple[str, ...]:
    room = REFERENCES_BYTES_MAX - sum(map(len, ids[:1]))
    latest: list[str] = []
    for one in reversed(ids[1:]):
        room -= len(one)
        if room < 0 or len(latest) >= REFERENCES_MAX - 1:
            break
        latest.append(one)
    return (*ids[:1], *reversed(latest))


@dataclass(frozen=True, slots=True)
class TakenSubject:
    """A subject made from another message's; `cut`: that was too long."""

    text: str
    cut: bool = False


def reply_subject(source: str) -> TakenSubject:
    """`Re: ` and the source's subject, without what any mail program had put there for the same purpose."""
    return _prefixed("Re:", "reply", source)


def forward_subject(source: str) -> TakenSubject:
    """`Fwd: ` and the source's subject, likewise."""
    return _prefixed("Fwd:", "forward", source)


def _prefixed(prefix: str, dropped: str, source: str) -> TakenSubject:
    kept: list[str] = []
    rest = source.strip()
    while True:
        tag = _TAG.match(rest)
        match = _PREFIX.match(rest, tag.end() if tag else 0)
        if match is None:
            break
        # The name of a list stands before the prefix of a reply on it; it is part of the subject.
        if tag and tag[0] not in kept:
            kept.append(tag[0])
        if match.lastgroup != dropped:
            kept.append(match[0])
        rest = rest[match.end() :]
    again = _TAG.match(rest)
    if again and again[0] in kept:
        rest = rest[again.end() :]
    return TakenSubject(*cut_bytes(f"{prefix} {''.join(kept)}{rest}".rstrip(), SUBJECT_BYTES_MAX))
