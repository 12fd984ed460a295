"""Values with parameters, RFC 2231 included."""

import pytest

from mailgate.mime.parameters import parse_parameters


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ("filename=a.txt", "a.txt"),
        ('filename="a b.txt"', "a b.txt"),
        ("filename=my report (1).pdf", "my report (1).pdf"),
        ('filename="unterminated.pdf', "unterminated.pdf"),
        ('filename="say \\"hi\\".txt"', 'say "hi".txt'),
        ('filename="C:\\docs\\a.txt"', "C:\\docs\\a.txt"),
        ('filename="a;b=c.txt"', "a;b=c.txt"),
        ("filename=first.txt; filename=second.txt", "first.txt"),
        ("FileName = a.txt", "a.txt"),
        ("filename==?utf-8?Q?=E2=98=83.txt?=", "☃.txt"),
        ("filename*=UTF-8''%E2%98%83.txt", "☃.txt"),
        ("filename*=utf-8'en'%E2%98%83.txt", "☃.txt"),
        ("filename*=%E2%98%83.txt", "☃.txt"),
        ("filename*=iso-8859-1''%E9.txt", "é.txt"),
        ("filename*=bogus''%C3%A9.txt", "é.txt"),
        ("filename=plain.txt; filename*=UTF-8''%E2%98%83.txt", "☃.txt"),
        ("filename*0*=UTF-8''%E2%98; filename*1*=%83.txt", "☃.txt"),
        ("filename*1*=%83.txt; filename*0*=UTF-8''%E2%98", "☃.txt"),
        ("filename*0*=UTF-8''%41; filename*1=%41.txt", "A%41.txt"),
        ("filename*0=plain%41; filename*1*=%42.txt", "plain%41B.txt"),
        ('filename*0="a"; filename*1="b.txt"', "ab.txt"),
        ("filename*0=a; filename*2=c", "a"),
        ("filename*0*=UTF-8''%E2%9; filename=x", "\ufffd%9"),
        ("filename=naïve.txt", "naïve.txt"),
    ],
)
def test_parameters_are_read_in_every_mixture(parameters: str, name: str) -> None:
    parsed = parse_parameters(f"attachment; {parameters}")
    assert parsed.value == "attachment"
    assert parsed.parameters["filename"] == name


@pytest.mark.parametrize("text", ["", ";", "a;=b", "a;b", "a;*=x", "a;b*1234=x", "a;b*0*1=c", 'a;"b"=c', ";" * 50_000])
def test_malformed_values_give_what_there_is(text: str) -> None:
    parse_parameters(text)


def test_a_comment_after_the_value_is_no_part_of_it() -> None:
    assert parse_parameters("TEXT / Plain (really); charset=x").value == "text/plain"


def test_no_more_pieces_are_joined_than_the_limit() -> None:
    parsed = parse_parameters("a" + "".join(f"; f*{number}=xy" for number in range(999)))
    assert len(parsed.parameters["f"]) == 200


@pytest.mark.parametrize(
    ("text", "value", "name", "expected"),
    [
        ("text/plain charset=utf-8", "text/plain", "charset", "utf-8"),
        ('attachment filename="a b.txt"; size=4', "attachment", "filename", "a b.txt"),
        ("text/plain; charset=utf-8 format=flowed", "text/plain", "charset", "utf-8 format=flowed"),
    ],
)
def test_a_forgotten_semicolon_after_the_value_is_put_in(text: str, value: str, name: str, expected: str) -> None:
    parsed = parse_parameters(text)
    assert (parsed.value, parsed.parameters[name]) == (value, expected)
