"""RFC 2047."""

import pytest

from mailgate.mime.charsets import CharsetProblem
from mailgate.mime.encoded_words import decode_words


@pytest.mark.parametrize(
    ("text", "decoded"),
    [
        ("plain", "plain"),
        ("=?utf-8?Q?J=C3=B6rg_B?= (x)", "Jörg B (x)"),
        ("=?UTF-8?B?SsO2cmc=?=", "Jörg"),
        ("=?utf-8?Q?=C4?= =?utf-8?Q?=97?=", "ė"),
        ("=?utf-8?Q?=C4?=\r\n\t=?UTF-8?B?lw==?=", "ė"),
        ("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?= =?iso-2022-jp?B?GyRCOGwbKEI=?=", "日本語"),
        ("=?utf-8?Q?a?= =?iso-8859-1?Q?=E9?=", "aé"),
        ("a =?utf-8?Q?b?= c =?utf-8?Q?d?=", "a b c d"),
        ("=?utf-8*en?Q?a?=", "a"),
        ("=?utf-8?Q?has spaces inside?=", "has spaces inside"),
        ("=?utf-8?Q?what?now??=", "what?now?"),
        ("=?utf-8?B?SsO2cmc?=", "Jörg"),
        ("=?utf-8?B?SsO2cmcA!?=", "Jörg\x00"),
        ("=?utf-8?Q?broken", "=?utf-8?Q?broken"),
        ("=?utf-8?X?a?=", "=?utf-8?X?a?="),
        ("=?utf-8?Q?=ZZ=4?=", "=ZZ=4"),
        ("=?utf-8?Q??=", ""),
    ],
)
def test_encoded_words_are_read_as_they_are_written(text: str, decoded: str) -> None:
    assert decode_words(text).text == decoded


def test_an_unknown_charset_is_reported() -> None:
    assert decode_words("=?bogus?Q?=C3=A9?=").problem is CharsetProblem.UNKNOWN
    assert decode_words("=?bogus?Q?=C3=A9?=").text == "é"


def test_a_decoded_word_is_not_decoded_again() -> None:
    assert decode_words("=?utf-8?Q?=3D=3Futf-8=3FQ=3Fx=3F=3D?=").text == "=?utf-8?Q?x?="


def test_the_mark_of_utf16_is_no_text_and_in_utf8_it_is_a_character() -> None:
    assert decode_words("=?utf-16?B?/v8A6Q==?=").text == "é"
    assert decode_words("=?utf-8?B?77u/w6k=?=").text == "\ufeffé"
