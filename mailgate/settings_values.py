"""From the text of one variable to a value: pure functions that know no environment.

Each raises `ValueError` with the end of a sentence that begins with the variable's name. It states the rule and never
the value: a password pasted into the wrong variable must not come back in an error.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from urllib.parse import SplitResult, urlsplit

from mailgate.imap.endpoint import Security, is_loopback
from mailgate.imap.values import FolderName, SpecialUse
from mailgate.policy import Scope

_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
# `*` is an atext character too (RFC 5322, 3.2.3), but here it is always somebody hoping for a wildcard.
_ATEXT = r"[A-Za-z0-9!#$%&'+/=?^_`{|}~-]+"
_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_DOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*\Z")
_LOCAL = re.compile(rf"{_ATEXT}(?:\.{_ATEXT})*\Z")
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")


@dataclass(frozen=True, slots=True)
class Sender:
    """Who mail comes from: `address` is an ASCII addr-spec, `name` the display name or empty."""

    name: str
    address: str


@dataclass(frozen=True, slots=True)
class StaticToken:
    """A bearer token that is accepted: `digest_hex` is the SHA-256 of its text, 64 lower-case hex digits."""

    digest_hex: str = field(repr=False)
    scopes: frozenset[Scope]


# --- simple values ---------------------------------------------------------------------------------------------


def has_control(text: str) -> bool:
    """Does the text hold a C0 control character, DEL, or a byte that was no UTF-8 (a lone surrogate, PEP 383)?"""
    return _CONTROL.search(text) is not None


def text(value: str) -> str:
    """Any text; the reader has refused control characters already."""
    return value


def whole(low: int, high: int) -> Callable[[str], int]:
    """A parser for ASCII digits from `low` to `high`."""

    def parse(value: str) -> int:
        if not re.fullmatch(r"[0-9]{1,12}", value) or not low <= int(value) <= high:
            raise ValueError(f"is not a whole number from {low} to {high}")
        return int(value)

    return parse


def seconds(low: float, high: float) -> Callable[[str], float]:
    """A parser for a decimal number of seconds from `low` to `high`."""

    def parse(value: str) -> float:
        if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,3})?", value) or not low <= float(value) <= high:
            raise ValueError(f"is not a number of seconds from {low:g} to {high:g}")
        return float(value)

    return parse


def choice(*allowed: str) -> Callable[[str], str]:
    """A parser for one of a few words, in any case."""

    def parse(value: str) -> str:
        if value.lower() not in allowed:
            raise ValueError("is none of " + ", ".join(allowed))
        return value.lower()

    return parse


def security(value: str) -> Security:
    """`tls`, `starttls` or `plaintext`."""
    return Security(choice(*Security)(value))


def items(value: str) -> list[str]:
    r"""A comma list. `\,` is a comma inside an item; surrounding blanks do not count. An empty item is refused."""
    parts = [part.strip().replace("\\,", ",") for part in re.split(r"(?<!\\),", value)]
    if not all(parts):
        raise ValueError("has an empty entry between its commas")
    return parts


# --- hosts and URLs --------------------------------------------------------------------------------------------


def host(value: str) -> str:
    """A host name or an IP address, without scheme, port or path; IPv6 with or without brackets."""
    bare = value[1:-1] if value.startswith("[") and value.endswith("]") else value
    if _is_address(bare):
        return bare
    bare = bare.removesuffix(".").lower()
    if len(bare) > 253 or not _DOMAIN.match(bare):
        raise ValueError("is not a host name or IP address (no scheme, no port; write other scripts as xn--…)")
    return bare


def _is_address(value: str) -> bool:
    try:
        ipaddress.ip_address(value)
    except ValueError:
        return False
    return True


def _split(value: str, schemes: tuple[str, ...]) -> SplitResult:
    """The parts of a URL that has one of the schemes, a valid host, and neither wildcard nor blanks."""
    kinds = " or ".join(f"{scheme}://" for scheme in schemes)
    try:
        parts = urlsplit(value)
        name = host(parts.hostname or "")
        port = parts.port
    except ValueError:
        raise ValueError(f"is not a well-formed {kinds} URL") from None
    if parts.scheme not in schemes or not name or port == 0 or re.search(r"[\s*\\]|[^\x21-\x7e]", value):
        raise ValueError(f"is not a well-formed {kinds} URL")
    return parts


def web_url(value: str) -> str:
    """An absolute https URL (http only on loopback) without user, query or fragment (RFC 8414, 2; RFC 9728, 1.2)."""
    parts = _split(value, ("https", "http"))
    if "@" in parts.netloc or "?" in value or "#" in value:
        raise ValueError("must be a URL without user, query or fragment")
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise ValueError("must be https; http is for loopback only")
    return value


def origin(value: str) -> str:
    """A browser origin as browsers send it: scheme, host, and a port that is not the default (RFC 6454, 6.2)."""
    parts = _split(value, ("https", "http"))
    if "@" in parts.netloc or not re.fullmatch(r"https?://[^/?#]+", value):
        raise ValueError("takes exact origins like https://app.example.com, without path or wildcard")
    name = parts.hostname or ""
    shown = f"[{name}]" if ":" in name else name
    default = {"https": 443, "http": 80}[parts.scheme]
    return f"{parts.scheme}://{shown}" + (f":{parts.port}" if parts.port not in (None, default) else "")


def origins(value: str) -> tuple[str, ...]:
    """A comma list of origins."""
    return tuple(origin(item) for item in items(value))


def redis_url(value: str) -> str:
    """A redis:// or rediss:// URL. Options are refused: a query can switch certificate checks off."""
    parts = _split(value, ("rediss", "redis"))
    if "?" in value or "#" in value or not re.fullmatch(r"/?|/[0-9]{1,3}", parts.path):
        raise ValueError("takes redis://[user:password@]host[:port][/number] and no options")
    return value


# --- addresses -------------------------------------------------------------------------------------------------


def address(value: str) -> str:
    """One ASCII addr-spec: dot-atom, `@`, domain (RFC 5322, 3.4.1), within RFC 5321's lengths (4.5.3.1)."""
    local, at, name = value.rpartition("@")
    if not at or len(value) > 254 or len(local) > 64 or not _LOCAL.match(local) or not _DOMAIN.match(name):
        raise ValueError("is not one plain ASCII address of the form name@host")
    return f"{local}@{name.lower()}"


def sender(value: str) -> Sender:
    """`addr@host` or `Name <addr@host>`; a name with special characters stands in double quotes."""
    match = re.fullmatch(r'(?:"((?:[^"\\]|\\.)*)"|([^"<>@,:;()\[\]\\]*))\s*<([^<>]*)>', value)
    if match is None:
        return Sender("", address(value))
    quoted, plain, spec = match.groups()
    name = re.sub(r"\\(.)", r"\1", quoted) if quoted is not None else plain.strip()
    if len(name) > 200 or not name.isprintable():
        raise ValueError("has a sender name that is too long or not printable")
    return Sender(name, address(spec))


def recipients(value: str) -> tuple[str, ...]:
    """A comma list of addresses or `@domain`, lower-cased where case carries no meaning (the domain)."""
    return tuple(_recipient(item) for item in items(value))


def _recipient(item: str) -> str:
    if not item.startswith("@"):
        return address(item)
    if not _DOMAIN.match(item[1:]) or len(item) > 254:
        raise ValueError("takes addresses or @domain, without wildcards")
    return item.lower()


def authserv_id(value: str) -> str:
    """An authserv-id: one word without `;` (RFC 8601, 2.2 and 2.5)."""
    if not re.fullmatch(r"[\x21-\x3a\x3c-\x7e]{1,253}", value):
        raise ValueError("is not one word of printable ASCII")
    return value


# --- folders ---------------------------------------------------------------------------------------------------


def folder(value: str) -> FolderName:
    """A folder name as `mail_list_folders` shows it; a role has no place where a folder is named."""
    if value.lower().startswith("role:"):
        raise ValueError("takes folder names, not roles")
    try:
        return FolderName(value)
    except ValueError:
        raise ValueError("holds something that cannot be a folder name") from None


def hidden_folders(value: str) -> frozenset[FolderName]:
    """A comma list of folder names."""
    return frozenset(folder(item) for item in items(value))


def folder_roles(value: str) -> Mapping[SpecialUse, FolderName]:
    """`role=Folder` pairs in a comma list, each role once; `inbox` is named by the protocol itself."""
    mapped: dict[SpecialUse, FolderName] = {}
    roles = {role.value: role for role in SpecialUse if role is not SpecialUse.INBOX}
    for item in items(value):
        name, equals, target = item.partition("=")
        role = roles.get(name.strip().lower())
        if not equals or role is None:
            raise ValueError("takes role=Folder with the roles " + ", ".join(roles))
        if role in mapped:
            raise ValueError("maps one role twice")
        mapped[role] = folder(target.strip())
    return MappingProxyType(mapped)


# --- authority -------------------------------------------------------------------------------------------------


def scopes(value: str, separator: str) -> frozenset[Scope]:
    """Scope names, at least one, joined by the separator."""
    names = [name.strip() for name in value.split(separator)]
    if not all(name in set(Scope) for name in names):
        raise ValueError("takes the scopes " + ", ".join(Scope))
    return frozenset(Scope(name) for name in names)


def static_tokens(value: str) -> tuple[StaticToken, ...]:
    """`sha256hex:scope+scope` in a comma list, each hash once."""
    tokens = [_static_token(item) for item in items(value)]
    if len({token.digest_hex for token in tokens}) != len(tokens):
        raise ValueError("has the same hash twice")
    return tuple(tokens)


def _static_token(item: str) -> StaticToken:
    digest, _, granted = item.partition(":")
    if not _DIGEST.match(digest.lower()):
        raise ValueError("takes entries sha256hex:scope+scope as `mailgate token` prints them; a token never goes here")
    return StaticToken(digest.lower(), scopes(granted, "+"))


def subjects(value: str) -> tuple[str, ...]:
    """A comma list of exact `sub` values."""
    found = items(value)
    if "*" in found:
        raise ValueError("takes exact subjects, no wildcard")
    return tuple(found)


def audience(value: str) -> str:
    """One exact audience."""
    if "*" in value or " " in value:
        raise ValueError("is not one exact audience")
    return value


def store_keys(value: str) -> tuple[bytes, ...]:
    """A comma list of base64 texts, each exactly 32 bytes (RFC 4648, 4 or 5)."""
    return tuple(_store_key(item) for item in items(value))


def _store_key(item: str) -> bytes:
    try:
        key = base64.b64decode(item.replace("-", "+").replace("_", "/"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != 32:
        raise ValueError("is not 32 bytes in base64; `mailgate keygen` prints one")
    return key
