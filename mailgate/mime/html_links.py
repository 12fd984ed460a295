"""Targets of links: true, without what only tracks a reader, short enough to read, and told apart from their text.

Nothing is looked up and nothing is made up: a target is what the mail says, as a browser would take it, less known
tracking parameters. What is left out of a long one is marked by `…`, which no address can hold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from mailgate.mime import html_rules as rules
from mailgate.mime.clean import clean

WHOLE_CHARS: Final = 120
"""Characters of a target that is shown whole in any case."""
WHOLE_CHARS_TOGETHER: Final = 1024
"""When all targets of a message together have no more characters than this, each is whole: a message with a few links
is about them (a confirmation, a reset), and their codes may be needed."""
CUT: Final = "…"

_SCHEMES: Final = frozenset({"http", "https", "mailto", "tel", "sms", "ftp", "ftps"})
_SPECIAL: Final = frozenset({"http", "https", "ftp"})
_NETWORK_PATH: Final = re.compile(r"[/\\]{2}(?![/\\])")
_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]{0,20}):")
_UNSAFE: Final = re.compile(r"[\s<>\"'`(){}\[\]\\^|]")
_LINE_ENDS: Final = re.compile(r"[\t\r\n]")
_SEGMENT_CHARS: Final = 40
_PATH_CHARS: Final = 100
_VALUE_CHARS: Final = 24
_NESTED_CHARS: Final = 80

_TRACKING: Final = frozenset(
    "gclid dclid gclsrc gbraid wbraid fbclid msclkid yclid ysclid twclid ttclid li_fat_id igshid igsh mc_eid mc_cid"
    " mkt_tok vero_id vero_conv oly_enc_id oly_anon_id _hsenc _hsmi __hssc __hstc __hsfp hsctatracking ml_subscriber"
    " ml_subscriber_hash ck_subscriber_id _ke _kx trk_contact trk_msg trk_module trk_sid rb_clickid s_cid wickedid"
    " elqtrackid elqtrack elqaid elqat elqcampaignid dm_i sc_eid sc_cid bsft_clkid bsft_eid bsft_uid _openstat"
    " cvid oft_id oft_k oft_lk oft_d oft_c oft_ck oft_ids oft_sk epik"
    " nr_email_referer emci emdi ceid pk_campaign pk_kwd piwik_campaign guccounter".split()
)
_TRACKING_STARTS: Final = ("utm_", "mtm_", "matomo_", "hsa_", "stm_", "itm_", "at_recipient_", "iterable")

_HOST: Final = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.){1,8}[^\W\d_][\w-]{1,62}\.?")
_LABELLED: Final = re.compile(r"(?:https?:/{2}|ftp:/{2}|www\.)[^\s/?#\\]{3,253}", re.IGNORECASE)
_ALONE: Final = re.compile(
    r"(?:[a-z]{3,5}:/{2})?(?P<host>[^\s/?#:@]{4,253})(?::[0-9]{1,5})?(?:[/?#]\S*)?", re.IGNORECASE
)
_WORD: Final = re.compile(
    r"(?<![\w@.-])(?:[a-z0-9][a-z0-9-]{0,62}\.){1,8}(?:com|org|net|edu|gov|mil|int|info|biz)(?![\w-])", re.IGNORECASE
)
_ADDRESS: Final = re.compile(r"[^\s@<>]{1,64}@([^\s@<>/?#]{4,253})")
_FILES: Final = frozenset(
    "pdf doc docx xls xlsx ppt pptx odt ods txt csv ics zip png jpg jpeg gif svg mp3 mp4 mov html htm php asp aspx js"
    " ts json xml md py exe dmg apk eml msg rar gz net".split()
) - {"net"}


@dataclass(frozen=True, slots=True)
class Target:
    """`whole`: the target. `short`: the same, or cut to what can be read. `host`: in ASCII, None without one.
    `disguised`: it holds a user name, which looks like a host to a reader."""

    whole: str
    short: str
    host: str | None
    disguised: bool = False


def parse_target(href: str) -> Target | None:
    """The target where it leads somewhere a reader could go; None for what runs, lies within the message, or has no
    scheme. Never raises."""
    # A browser drops these three wherever they stand (URL Standard, 4.4).
    text = clean(_LINE_ENDS.sub("", href), multiline=True).text.strip()
    if _NETWORK_PATH.match(text):
        text = "https://" + text[2:]  # what a mail program makes of it
    match = _SCHEME.match(text)
    if match is None or match[1].lower() not in _SCHEMES:
        return None
    scheme = match[1].lower()
    # A value of the full length was cut, so its end is not the true one.
    cut = len(href) >= rules.ATTRIBUTE_CHARS_MAX
    try:
        return _web_target(scheme, text[match.end() :], cut) if scheme in _SPECIAL else _other(text, cut)
    except ValueError:
        return None


def _other(text: str, cut: bool) -> Target | None:
    whole = _UNSAFE.sub(_percent, text)
    if cut:
        return None
    short = whole if len(whole) <= WHOLE_CHARS else whole.partition("?")[0][:WHOLE_CHARS] + CUT
    host = whole.partition("?")[0].rpartition("@")[2].lower() if whole.lower().startswith("mailto:") else None
    return Target(whole, short, host)


def _web_target(scheme: str, rest: str, cut: bool) -> Target | None:
    # Backslashes are slashes, and any number of them begins the host (URL Standard, 4.4).
    rest = rest.replace("\\", "/").lstrip("/")
    parts = urlsplit(f"{scheme}://{rest}")
    user, at, place = parts.netloc.rpartition("@")
    host, colon, port = place.partition(":")
    ascii_host = to_ascii(unquote(host))
    if not ascii_host:
        return None
    base = f"{scheme}://{CUT + '@' if at else ''}{_UNSAFE.sub(_percent, ascii_host + colon + port)}"
    query = _without_tracking(parts.query)
    whole = base + _escaped(parts.path) + _marked("?", query) + _marked("#", parts.fragment)
    short = whole if len(whole) <= WHOLE_CHARS and not cut else base + _short_rest(parts, query, cut)
    return Target(short if cut else whole, short, ascii_host.rstrip("."), bool(user))


def to_ascii(host: str) -> str:
    """A host name in lower case, labels with other letters in their `xn--` form; empty where it has none."""
    host = host.lower()
    if host.isascii():
        return host
    # The codec is quadratic, and no name has more (RFC 1035, 2.3.4).
    return host.encode("idna").decode("ascii").lower() if len(host) <= 253 else ""


def _escaped(text: str) -> str:
    return _UNSAFE.sub(_percent, text)


def _marked(mark: str, text: str) -> str:
    return mark + _escaped(text) if text else ""


def _percent(match: re.Match[str]) -> str:
    return "".join(f"%{octet:02X}" for octet in match[0].encode())


def _without_tracking(query: str) -> str:
    if not query:
        return query
    kept = [pair for pair in query.split("&") if not _tracks(pair.partition("=")[0].lower())]
    return "&".join(kept)


def _tracks(name: str) -> bool:
    name = name.removeprefix("amp;")
    return name in _TRACKING or name.startswith(_TRACKING_STARTS)


def _short_rest(parts: SplitResult, query: str, cut: bool) -> str:
    """Path and query without what is opaque: long segments and values are cut, and what is beyond the bound."""
    segments = [_cut(segment, _SEGMENT_CHARS) for segment in parts.path.split("/", 50)]
    path = "/".join(segments)
    if len(path) > _PATH_CHARS:
        path = path[:_PATH_CHARS].rstrip(CUT) + CUT
    shown: list[str] = []
    room = WHOLE_CHARS
    for pair in query.split("&", 20):
        name, equals, value = pair.partition("=")
        nested = value.lower().startswith("http")
        short = _cut(name, _VALUE_CHARS) + equals + _cut(value, _NESTED_CHARS if nested else _VALUE_CHARS)
        room -= len(short)
        if room < 0:
            shown.append(CUT)
            break
        shown.append(short)
    fragment = CUT if len(parts.fragment) > _VALUE_CHARS else parts.fragment
    rest = _escaped(path) + _marked("?", "&".join(shown)) + _marked("#", fragment)
    return rest if not cut or rest.endswith(CUT) else rest + CUT


def _cut(text: str, limit: int) -> str:
    """Whole, or its beginning with the mark; never half of a percent-encoded octet."""
    if len(text) <= limit:
        return text
    kept = text[: limit if limit == _NESTED_CHARS else 8]
    return re.sub(r"%[0-9A-Fa-f]?\Z", "", kept) + CUT


# --- text and target ---------------------------------------------------------------------------------------------


def text_differs(text: str, target: Target) -> bool:
    """Whether the link's text looks like an address of another host than the one it leads to."""
    if target.host is None:
        return False
    return target.disguised or any(not _same_site(host, target.host) for host in _hosts_in(text[:2000].strip()))


def _hosts_in(text: str) -> list[str]:
    """Hosts that a reader would take the text for."""
    address = _ADDRESS.fullmatch(text.removeprefix("mailto:"))
    if address:
        return _named([address[1]])
    alone = _ALONE.fullmatch(text)
    if alone and (
        _HOST.fullmatch(alone["host"]) and alone["host"].lower().rstrip(".").rpartition(".")[2] not in _FILES
    ):
        return _named([alone["host"]])
    labelled = [found.partition(":")[2].lstrip("/") if "://" in found else found for found in _LABELLED.findall(text)]
    return _named([found.rpartition("@")[2].partition(":")[0] for found in labelled] or _WORD.findall(text))


def _named(hosts: list[str]) -> list[str]:
    found: list[str] = []
    for host in hosts:
        try:
            name = to_ascii(host.strip(".,;!)>]"))
        except ValueError:
            name = "-"  # no name at all, so it is no name of the target's
        if name:
            found.append(name.rstrip("."))
    return found


def _same_site(text: str, target: str) -> bool:
    """The same host, or one within the other: `example.org` and `click.example.org`."""
    one, other = text.removeprefix("www."), target.removeprefix("www.")
    return one == other or other.endswith("." + one) or (one.endswith("." + other) and "." in other)
