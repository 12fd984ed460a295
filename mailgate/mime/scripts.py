"""Which letters belong together (in the spirit of UTS 39, 5.1 and 5.2), judged by the names Unicode gives to letters.

A word of one script is fine, and so is Latin beside a script that cannot be mistaken for it (the level called
"moderately restrictive"). All of Chinese, Japanese and Korean writing counts as one script. Latin beside Cyrillic,
Greek, Armenian or Cherokee within a word is a mixture, and so are two scripts of which neither is Latin.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

LABEL_CHARS_MAX: Final = 63
"""RFC 1035, 2.3.4. A longer label is no name of a host; nothing is decoded from it."""

_LATIN: Final = "LATIN"
_EAST_ASIAN: Final = frozenset("CJK HIRAGANA KATAKANA HANGUL BOPOMOFO IDEOGRAPHIC HENTAIGANA".split())
_BESIDE_LATIN: Final = _EAST_ASIAN | frozenset(
    "ARABIC HEBREW DEVANAGARI BENGALI GURMUKHI GUJARATI ORIYA TAMIL TELUGU KANNADA MALAYALAM SINHALA THAI LAO TIBETAN "
    "MYANMAR KHMER ETHIOPIC THAANA MONGOLIAN".split()
)
# Letters that most typefaces draw like a Latin one; capitals and small letters apart, as they differ in likeness.
_LATIN_LOOKALIKES: Final = frozenset(
    "асеорхуіјѕӏԁһԛԝҽѵгпԍьАВЕКМНОРСТУХІЈЅӀԚԜҮ"  # Cyrillic
    "αικνορτυωηγϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"  # Greek
    "հոսօցյՍՕԼ"  # Armenian
)
_ALL_LOOK_ALIKE: Final = frozenset({"CHEROKEE", "LISU"})
_MICRO_SIGN: Final = "\xb5"
_NO_WORD: Final = re.compile(r"[^\w\u0300-\u036f]+|_+")
_DOTS: Final = re.compile("[.\u3002\uff0e\uff61]")
_LOOKALIKE_LETTERS_MIN: Final = 3
"""In a name with Latin words: an initial of another script is no disguise."""


def name_mixes_scripts(name: str) -> bool:
    """Whether a word of the name mixes scripts, or all that is not Latin in it are words of Latin look-alikes.

    Words of different scripts side by side are ordinary (`Яндекс Go`).
    """
    words = [word for word in _NO_WORD.split(_plain(name)) if word]
    found = [scripts(word) for word in words]
    if any(map(_mixed, found)):
        return True
    foreign = [word for word, known in zip(words, found, strict=True) if known and known != {_LATIN}]
    disguised = sum(map(len, foreign)) if all(map(_looks_latin, foreign)) else 0
    return {_LATIN} in found and disguised >= _LOOKALIKE_LETTERS_MIN


def domain_mixes_scripts(domain: str) -> bool:
    """Whether a label of the domain mixes scripts, or is made of Latin look-alikes below a top level in another script.

    Labels in Punycode are judged by what they stand for.
    """
    labels = [decoded_label(label) for label in domain_labels(domain)]
    if any(_mixed(scripts(label)) for label in labels):
        return True
    top = scripts(labels[-1])
    return any(_looks_latin(label) and scripts(label) != top for label in labels)


def has_international_label(domain: str) -> bool:
    """Whether a label is Punycode (RFC 5890, 2.3.2.1), or is not ASCII and so would have to be."""
    return any(not label.isascii() or _is_punycode(label) for label in domain_labels(domain))


def domain_labels(domain: str) -> list[str]:
    """The labels of a domain, never an empty list; a resolver takes the full stops of East Asia for dots as well."""
    return _DOTS.split(_plain(domain))


def decoded_label(label: str) -> str:
    """What a Punycode label stands for, only to be judged: shown, it would be the very disguise."""
    if not _is_punycode(label) or len(label) > LABEL_CHARS_MAX or not label.isascii():
        return label
    try:
        return _plain(label[4:].encode("ascii").decode("punycode"))
    except (ValueError, OverflowError):
        return label


def scripts(text: str) -> set[str]:
    """The scripts of the letters in the text. Marks, modifier letters, digits and signs belong to any."""
    found = set()
    for letter in set(text):
        if unicodedata.category(letter) in ("Lu", "Ll", "Lt", "Lo"):
            found.add(_script(letter))
    return found


def _script(letter: str) -> str:
    # "LATIN SMALL LETTER A", "CJK UNIFIED IDEOGRAPH-4E00", "KATAKANA-HIRAGANA ...": the first word tells.
    first = re.split("[ -]", unicodedata.name(letter, "UNKNOWN"), maxsplit=1)[0]
    return "CJK" if first in _EAST_ASIAN else first


def _mixed(found: set[str]) -> bool:
    others = found - {_LATIN}
    return len(others) > 1 or (len(found) > 1 and not others <= _BESIDE_LATIN)


def _looks_latin(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return bool(letters) and all(
        letter in _LATIN_LOOKALIKES or (not letter.isascii() and _script(letter) in _ALL_LOOK_ALIKE)
        for letter in letters
    )


def _plain(text: str) -> str:
    # Wide, bold and circled letters are the plain letter. The micro sign is a sign; normalised it would be Greek.
    return unicodedata.normalize("NFKC", text.replace(_MICRO_SIGN, ""))


def _is_punycode(label: str) -> bool:
    return label[:4].lower() == "xn--"
