"""Authentication-Results (RFC 8601), believed only where the owner's own server wrote them.

Anybody can put such a field into a message. What counts is the authserv-id at its start, which the operator names, and
the place: a server writes on top of what it received. So fields are read from the top, and belief ends for good

- at the first field of another server, or one that cannot be parsed: what stands below was there before;
- at the first Received field below a believed one: it ends what that server added.

What is left can still be forged if the server fails to remove fields that claim its name (RFC 8601, 5). So a method is
believed only from the first field that tells of it. ARC-Authentication-Results are never believed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from mailgate.mime.clean import clean
from mailgate.mime.fields import HeaderFields, raw_text

_FIELDS_MAX: Final = 20
"""Fields that are looked at. A server writes one, or one per filter."""
_FIELD_BYTES_MAX: Final = 16 * 1024
"""A longer field is not one that a server wrote; it counts as not parsable."""
_RESULTS_MAX: Final = 20
_DOMAIN_CHARS_MAX: Final = 253

_NAME: Final = "authentication-results"
# Possessive: no backtracking. What matches nothing else is a bad octet.
_TOKEN: Final = re.compile(
    r'(?P<quoted>"(?:[^"\\]++|\\.)*+")|(?P<blank>\s++)|(?P<mark>[;=()])|(?P<word>[^\s"();=\\]++)'
)
_QUOTED_PAIR: Final = re.compile(r"\\(.)", re.DOTALL)
_KEYWORD: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?")
_DOMAIN: Final = re.compile(r"\w[\w-]*(?:\.\w[\w-]*)*\.?")


class AuthMethod(StrEnum):
    """The methods that are told of; fields may hold others."""

    SPF = "spf"
    DKIM = "dkim"
    DMARC = "dmarc"
    ARC = "arc"


_ERRORS: Final = {"temperror", "permerror"}
_RESULTS: Final = {  # the registry "Email Authentication Result Names" (RFC 8601, 2.7; RFC 7489, 11.2; RFC 8617, 10.1)
    AuthMethod.SPF: {"none", "pass", "fail", "softfail", "neutral", "policy"} | _ERRORS,
    AuthMethod.DKIM: {"none", "pass", "fail", "policy", "neutral"} | _ERRORS,
    AuthMethod.DMARC: {"none", "pass", "fail"} | _ERRORS,
    AuthMethod.ARC: {"none", "pass", "fail"},
}
_IDENTIFIERS: Final = {  # what the method vouches for, the more telling property first
    AuthMethod.SPF: ("smtp.mailfrom", "smtp.helo"),
    AuthMethod.DKIM: ("header.d", "header.i"),
    AuthMethod.DMARC: ("header.from",),
    AuthMethod.ARC: (),
}
_ONCE: Final = (AuthMethod.DMARC, AuthMethod.ARC)
"""Methods with one result for a message; SPF may judge two identities, DKIM many signatures."""


@dataclass(frozen=True, slots=True)
class AuthResult:
    """One result: `result` is a registered word; `identifier` the property that `domain` was taken from, both or none.

    `domain` is lower case, safe to show, and what the result is about: a pass for another domain than the sender's says
    nothing about the sender.
    """

    method: AuthMethod
    result: str
    identifier: str | None = None
    domain: str | None = None

    def __str__(self) -> str:
        shown = f"{self.method}={self.result}"
        return f"{shown} {self.identifier}={self.domain}" if self.domain else shown


@dataclass(frozen=True, slots=True)
class Authentication:
    """What the trusted server found, in its words. `results` is empty where it tried none of the `AuthMethod`s."""

    authserv_id: str
    results: tuple[AuthResult, ...] = ()

    def without(self, drop: Callable[[AuthResult], bool]) -> Authentication:
        """The same without the results for which `drop` holds."""
        return replace(self, results=tuple(one for one in self.results if not drop(one)))


@dataclass(frozen=True, slots=True)
class AuthField:
    """One parsed field: who wrote it, and all results that are told of."""

    authserv_id: str
    results: tuple[AuthResult, ...]


def read_authentication(fields: HeaderFields, trusted_authserv_id: str | None) -> Authentication | None:
    """What the trusted server found, or None where no field is believed. Raises on no input."""
    if not trusted_authserv_id:
        return None
    believed = list(_believed(fields, trusted_authserv_id.lower()))
    if not believed:
        return None
    results: list[AuthResult] = []
    for field in believed:
        told = {one.method for one in results}
        results += [one for one in field.results if one.method not in told]
    return Authentication(trusted_authserv_id, tuple(results[:_RESULTS_MAX]))


def _believed(fields: HeaderFields, trusted: str) -> Iterator[AuthField]:
    seen = 0
    for index, (name, value) in enumerate(fields.fields):
        if name == "received" and seen:
            return
        if name != _NAME:
            continue
        field = None if index in fields.spaced else parse_authentication(value)
        # Only ASCII is compared without case: a Kelvin sign must not become a k.
        if field is None or not field.authserv_id.isascii() or field.authserv_id.lower() != trusted:
            return
        seen += 1
        if seen > _FIELDS_MAX:
            return
        yield field


# --- one field -------------------------------------------------------------------------------------------------


class _Malformed(ValueError):
    pass


@dataclass(frozen=True, slots=True)
class _Token:
    """`kind`: word, quoted or mark. `apart`: blanks or comments stand before it."""

    kind: str
    text: str
    apart: bool


def parse_authentication(value: bytes) -> AuthField | None:
    """One field's value (RFC 8601, 2.2), or None where it is not one. Versions other than 1 are not known."""
    if len(value) > _FIELD_BYTES_MAX:
        return None
    try:
        first, *rest = _sections(_tokens(raw_text(value)))
        authserv_id = _authserv_id(first)
        if not rest:
            return None
        pairs = [_pairs(section) for section in rest if section and not _says_none(section)]
    except _Malformed:
        return None
    found = [one for one in map(_result, pairs) if one is not None]
    return AuthField(authserv_id, tuple(_unambiguous(found)))


def _tokens(text: str) -> Iterator[_Token]:
    at = depth = 0
    apart = True
    while at < len(text):
        # In a comment only parentheses and quoted pairs mean anything (RFC 5322, 3.2.2).
        if depth and text[at] not in "()":
            at += 2 if text[at] == "\\" else 1
            continue
        match = _TOKEN.match(text, at)
        if match is None:
            raise _Malformed
        at = match.end()
        kind, piece = match.lastgroup or "", match[0]
        if piece in "()":
            depth += 1 if piece == "(" else -1
            if depth < 0:
                raise _Malformed
        elif kind != "blank":
            yield _Token(kind, _QUOTED_PAIR.sub(r"\1", piece[1:-1]) if kind == "quoted" else piece, apart)
            apart = False
            continue
        apart = True
    if depth:
        raise _Malformed


def _sections(tokens: Iterator[_Token]) -> list[list[_Token]]:
    sections: list[list[_Token]] = [[]]
    for token in tokens:
        if token.kind == "mark" and token.text == ";":
            sections.append([])
        else:
            sections[-1].append(token)
    return sections


def _authserv_id(section: list[_Token]) -> str:
    """`authserv-id [version]`. Some servers leave the id out and begin with a result: then nobody says so."""
    if not section or any(token.kind == "mark" for token in section) or not all(token.apart for token in section):
        raise _Malformed
    if len(section) > 2 or (len(section) == 2 and section[1].text != "1"):
        raise _Malformed
    return section[0].text


def _says_none(section: list[_Token]) -> bool:
    return len(section) == 1 and section[0].text.lower() == "none"


def _pairs(section: list[_Token]) -> list[tuple[str, str]]:
    """`key=value` pairs; blanks and comments may stand around `=`, and around the dot and the slash of a key."""
    pairs = []
    at = 0
    while at < len(section):
        at, key = _key(section, at)
        at, value = _value(section, at)
        pairs.append((key.lower(), value))
    return pairs


def _key(section: list[_Token], at: int) -> tuple[int, str]:
    pieces: list[str] = []
    while at < len(section) and section[at].kind == "word":
        # Two words in a row are one key only around a dot or a slash; anything else is a word too many.
        if pieces and not (pieces[-1].endswith((".", "/")) or section[at].text.startswith((".", "/"))):
            raise _Malformed
        pieces.append(section[at].text)
        at += 1
    if not pieces or at >= len(section) or section[at].text != "=" or section[at].kind != "mark":
        raise _Malformed
    return at + 1, "".join(pieces)


def _value(section: list[_Token], at: int) -> tuple[int, str]:
    if at >= len(section) or section[at].kind == "mark":
        raise _Malformed
    end = at + 1
    # Servers write addresses and signatures with `=` in them without quotes.
    while end < len(section) and not section[end].apart:
        end += 1
    return end, "".join(token.text for token in section[at:end])


def _result(pairs: list[tuple[str, str]]) -> AuthResult | None:
    """The result, or None for a method, a version or a word that is not known (RFC 8601, 2.7.7: ignored)."""
    (key, word), *properties = pairs
    name, _, version = key.partition("/")
    if name not in set(AuthMethod) or version not in ("", "1") or not _KEYWORD.fullmatch(word):
        return None
    method, result = AuthMethod(name), word.lower()
    if result not in _RESULTS[method]:
        return None
    for identifier in _IDENTIFIERS[method]:
        values = [value for known, value in properties if known == identifier]
        domain = _domain(values[0]) if len(values) == 1 else None
        if domain:
            return AuthResult(method, result, identifier, domain)
    return AuthResult(method, result)


def _domain(value: str) -> str | None:
    """The domain of a domain or an address; None where it is none, rather than a repaired one."""
    # Some servers leave the angle brackets of the envelope's address on.
    domain = (value.strip("<>").rpartition("@")[2] if "@" in value else value).lower()
    if len(domain) > _DOMAIN_CHARS_MAX or not _DOMAIN.fullmatch(domain) or clean(domain).text != domain:
        return None
    return domain.rstrip(".")


def _unambiguous(results: list[AuthResult]) -> Iterator[AuthResult]:
    """Where a method that has one result is told of twice and differently, its passes are left out."""
    for one in results:
        words = {other.result for other in results if other.method is one.method}
        if one.method not in _ONCE or len(words) == 1 or one.result != "pass":
            yield one
