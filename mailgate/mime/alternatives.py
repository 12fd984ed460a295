"""Two forms of one text (RFC 2046, 5.1.4): whether the plain one only stands in for the other, and whether they agree.

Both questions are about what a reader is told: links, marks, line breaks, case and order do not count. Nothing here
knows a language but for a handful of words that tell people to open a browser.
"""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Final

_STUB_FACTOR: Final = 3
_STUB_MARGIN: Final = 100
"""Characters that the HTML has to say beyond the plain form: a short answer has a longer signature in HTML."""
_NOTICE_CHARS_MAX: Final = 400
"""Longest text, without its links, that can be a mere notice."""
_WORDS_MIN: Final = 5
_FEW_WORDS: Final = 2
"""From here to `_WORDS_MIN` a share says too little: then no longer word at all may be in both."""
_LONG: Final = 4
_SHARED_MIN: Final = 0.35
"""Forms of one text share nearly all words of the shorter one; two texts of one language share its small words."""

_TARGET: Final = re.compile(r"\]\([^()\s]*+(?:\([^()\s]*+\)[^()\s]*+)*+\)")
_URL: Final = re.compile(r"(?i)\b(?:https?://|www\.)[^\s<>\"'\])]++")
_HOST: Final = re.compile(r"(?i)\bhttps?://(?:[^\s/?#@<>\"')\]]*@)?([a-z0-9.-]++)")
_LETTERS: Final = re.compile(r"[^\W\d_]+")
# Scripts that are written without blanks between words.
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_NUMBER: Final = r"(\d{1,3}(?:[.,'\u2019\u00a0\u202f ]\d{3}){1,5}(?:[.,]\d{1,2})?|\d{1,15}(?:[.,]\d{1,2})?)(?!\d)"
_CURRENCY: Final = (
    r"(?:[€$£¥₽₹₩₺₴]|(?<![A-Za-z])(?:EUR|USD|GBP|CHF|JPY|CNY|RMB|PLN|SEK|NOK|DKK|CZK|HUF|RUB|TRY|INR|BRL|CAD|AUD|NZD|zł|kr)"
    r"(?![A-Za-z]))"
)
_BLANK: Final = "[ \u00a0\u202f]?"
_AMOUNT: Final = re.compile(rf"{_CURRENCY}{_BLANK}{_NUMBER}|(?<!\d){_NUMBER}{_BLANK}{_CURRENCY}")
_ACCOUNT: Final = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?\b")
_NOTICE: Final = re.compile(
    r"html|browser|navigateur|navegador|webbläsar|nettleser|przeglądar|prohlížeč|prehliadač|böngésző|tarayıcı|браузер"
    r"|ブラウザ|浏览器|瀏覽器|브라우저|דפדפן|المتصفح|πρόγραμμα περιήγησης|เบราว์เซอร์|trình duyệt|peramban|selaime"
    r"|view (?:it |this )?online|online (?:ansehen|anzeigen|version)|version en ligne|versión en línea|versão online"
    r"|versione online|online versie|\bMIME\b|mail[- ]?(?:client|reader|program)|client de messagerie",
    re.IGNORECASE,
)
# What programs write into the plain form where the HTML form has a picture.
_PICTURE: Final = re.compile(r"(?i)[\[<](?:cid|image|inline image|bild)[^\[\]<>\n]{0,200}[\]>]")
# Not the public suffix list, on purpose: two parts more of a name at most, where the second is one of these.
_SECOND_LEVEL: Final = frozenset({"co", "com", "org", "net", "ac", "gov", "edu", "or", "ne", "go", "gob", "gouv"})


def is_stub(plain: str, html: str) -> bool:
    """Whether a plain form says so little beside the HTML form that it only stands in for it.

    Empty; or less than a third of what the HTML says, links not counted; or a short notice about HTML, browsers or
    an online version that has few words in common with it. `html` is what the HTML form shows, as Markdown.
    """
    said, rich = len(_said(plain)), len(_said(html))
    if said == 0 or rich == 0:
        return said == 0 < rich
    if rich > _STUB_FACTOR * said and rich > said + _STUB_MARGIN:
        return True
    return _is_notice(plain) and _shared(plain, html) < 0.5


def differ(plain: str, html: str) -> bool:
    """Whether two forms disagree in substance: each names amounts or accounts that the other does not, their links
    lead to different sites altogether, or they have few words in common.

    A form that only says less than the other does not disagree, nor does a notice about HTML. One that says something
    else does, however short it is.
    """
    if _clash(_amounts(plain), _amounts(html)):
        return True
    if is_stub(plain, html):
        return not _is_notice(plain) and _unrelated(plain, html)
    here, there = _sites(plain), _sites(html)
    if here and there and not here & there:
        return True
    return _unrelated(plain, html)


def _unrelated(plain: str, html: str) -> bool:
    """Whether the forms have hardly a word in common; of a few words, none that says anything."""
    here, there = _words(_PICTURE.sub(" ", plain)), _words(html)
    fewer = min(len(here), len(there))
    if fewer >= _WORDS_MIN:
        return _shared(plain, html) < _SHARED_MIN
    least = min(here, there, key=len)
    telling = {word for word in least if len(word) >= _LONG or _UNSPACED.search(word)}
    return fewer >= _FEW_WORDS and bool(telling) and not telling & here & there


def _is_notice(plain: str) -> bool:
    return len(_said(plain)) <= _NOTICE_CHARS_MAX and _NOTICE.search(plain) is not None


def _said(text: str) -> str:
    return " ".join(_without_links(text).split())


def _without_links(text: str) -> str:
    return _URL.sub(" ", _TARGET.sub("]", text))


def _clash(here: Set[str], there: Set[str]) -> bool:
    return bool(here - there) and bool(there - here)


def _amounts(text: str) -> set[str]:
    plain = text.replace("\\", "").replace("*", "")
    found = {_number(match[1] or match[2]) for match in _AMOUNT.finditer(plain)}
    return found | {match[0].replace(" ", "") for match in _ACCOUNT.finditer(plain)}


def _number(written: str) -> str:
    """One spelling for `1,234.50`, `1.234,5` and `1 234.50`."""
    decimals = re.search(r"[.,](\d{1,2})$", written)
    whole = written[: decimals.start()] if decimals else written
    fraction = decimals[1].rstrip("0") if decimals else ""
    digits = re.sub(r"\D", "", whole).lstrip("0") or "0"
    return f"{digits}.{fraction}" if fraction else digits


def _sites(text: str) -> set[str]:
    """The registered names of linked hosts, nearly: `news.shop.example` and `www.shop.example` are one site."""
    sites = set()
    for match in _HOST.finditer(text):
        labels = match[1].lower().strip(".").split(".")
        size = 3 if len(labels) > 2 and labels[-2] in _SECOND_LEVEL and len(labels[-1]) == 2 else 2
        sites.add(".".join(labels[-size:]))
    return sites


def _words(text: str) -> set[str]:
    """Words of three letters and more; pairs of characters of scripts without blanks."""
    words: set[str] = set()
    for run in _LETTERS.findall(_without_links(text).casefold()):
        if _UNSPACED.search(run):
            words.update(run[index : index + 2] for index in range(len(run) - 1))
        elif len(run) > 2:
            words.add(run)
    return words


def _shared(plain: str, html: str) -> float:
    """The part of the words of the form with fewer words that the other has too."""
    here, there = _words(plain), _words(html)
    return len(here & there) / max(1, min(len(here), len(there)))
