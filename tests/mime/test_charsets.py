"""Octets to text by label."""

import pytest

from mailgate.mime.charsets import CharsetProblem, Decoded, codec_of, decode


@pytest.mark.parametrize(
    ("label", "text", "codec"),
    [
        ("gb2312", "镕", "gbk"),
        ("GBK", "汉字", "gb18030"),
        ("iso-8859-1", "“quoted” €", "cp1252"),
        ("latin1", "é", "cp1252"),
        ("ks_c_5601-1987", "똠방각하", "cp949"),
        ("euc-kr", "한국어", "cp949"),
        ("shift_jis", "①ー髙", "cp932"),
        ("windows-31j", "日本語", "cp932"),
        ("iso-2022-jp", "日本語", "iso2022_jp"),
        ("iso2022jp", "日本語", "iso2022_jp"),
        ("cp-850", "é", "cp850"),
        ("iso-8859-8-i", "שלום", "iso8859-8"),
        ("x-windows-1251", "привет", "cp1251"),
        ("UTF8", "ж", "utf-8"),
        ('"utf-8"', "ж", "utf-8"),
        ("utf-8*en", "ж", "utf-8"),
        ("utf-16", "ж\n", "utf-16"),
        ("big5", "繁體", "big5"),
    ],
)
def test_labels_are_read_as_the_superset_that_senders_mean(label: str, text: str, codec: str) -> None:
    assert decode(text.encode(codec), label) == Decoded(text)


@pytest.mark.parametrize(
    "label",
    [
        "utf-7",
        "unicode_escape",
        "raw_unicode_escape",
        "idna",
        "punycode",
        "rot13",
        "base64",
        "hex",
        "zlib",
        "undefined",
    ],
)
def test_utf7_and_codecs_that_are_no_charset_are_refused(label: str) -> None:
    assert codec_of(label) is None
    assert decode(b"+ADw-script+AD4- \\x41", label) == Decoded("+ADw-script+AD4- \\x41", CharsetProblem.UNKNOWN)


@pytest.mark.parametrize("label", ["bogus", '3D"utf-8"', "x" * 5000, "../utf8", "utf-8\x00", "é"])
def test_an_unknown_label_is_read_as_utf8_then_windows_1252(label: str) -> None:
    assert decode("é".encode(), label) == Decoded("é", CharsetProblem.UNKNOWN)
    assert decode(b"\xe9\x80", label) == Decoded("é€", CharsetProblem.UNKNOWN)


@pytest.mark.parametrize("label", [None, "", "  ", "us-ascii", "unknown-8bit"])
def test_without_a_charset_8bit_text_is_utf8_or_a_guess_that_is_said(label: str | None) -> None:
    assert decode(b"\xc3\xa9", label) == Decoded("é")
    assert decode(b"\xe9", label) == Decoded("é", CharsetProblem.GUESSED)


def test_octets_that_do_not_fit_a_known_charset_are_replaced_and_reported() -> None:
    assert decode(b"a\xffb", "utf-8") == Decoded("a\ufffdb", CharsetProblem.DAMAGED)
    assert decode(b"a\x00\xd8", "utf-16-le").problem is CharsetProblem.DAMAGED


def test_half_a_character_at_a_cut_is_no_damage() -> None:
    assert decode(b"a\xe2\x82", "utf-8", whole=False) == Decoded("a")
    assert decode(b"a\xe2\x82", None, whole=False) == Decoded("a")


@pytest.mark.parametrize(
    ("octets", "text"),
    [
        ("Grüße aus Köln".encode(), "Grüße aus Köln"),
        ("Здравствуйте, встреча в пятницу.".encode("cp1251"), "Здравствуйте, встреча в пятницу."),
        ("您好，会议改在星期五上午十点。".encode("gbk"), "您好，会议改在星期五上午十点。"),
    ],
)
@pytest.mark.parametrize("label", ["iso-8859-1", "windows-1252"])
def test_another_script_under_a_label_of_latin_letters_is_guessed(octets: bytes, text: str, label: str) -> None:
    assert decode(octets, label) == Decoded(text, CharsetProblem.GUESSED)


@pytest.mark.parametrize(
    "text", ["Ärger", "ÄÖÜ äöü ß", "Ã©", "été à la plage, où êtes-vous?", "ÉTÉ, NOËL, ÀGÉ: DÉJÀ À ÇA, ÊTRE", "«ÀÁÂ»"]
)
def test_latin_letters_under_their_label_stay(text: str) -> None:
    assert decode(text.encode("cp1252"), "iso-8859-1") == Decoded(text)
