"""Authentication-Results: whom to believe, and what they say."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.mime.authentication import AuthMethod, parse_authentication, read_authentication
from mailgate.mime.clean import is_safe
from mailgate.mime.fields import HeaderFields, parse_fields
from mailgate.mime.sender import sender_facts

OURS = "mx.example.net"
PASS = "Authentication-Results: mx.example.net; dmarc=pass header.from=corp.example"
FAIL = "Authentication-Results: mx.example.net; dmarc=fail header.from=corp.example"
FOREIGN = "Authentication-Results: mx.other.example; dmarc=pass header.from=corp.example"
RECEIVED = "Received: from a.example by mx.example.net; Thu, 5 Feb 2026 11:22:33 +0100"


def fields(*lines: str) -> HeaderFields:
    block = "".join(f"{line}\r\n" for line in lines).encode()
    return parse_fields(block, 0, len(block))


def believed(*lines: str, trusted: str | None = OURS) -> list[str] | None:
    found = read_authentication(fields(*lines), trusted)
    return None if found is None else [str(one) for one in found.results]


def told(value: str) -> list[str] | None:
    field = parse_authentication(value.encode())
    return None if field is None else [str(one) for one in field.results]


# --- whom to believe ---------------------------------------------------------------------------------------------


def test_the_field_of_the_trusted_server_is_believed() -> None:
    assert believed(PASS) == ["dmarc=pass header.from=corp.example"]
    assert believed(RECEIVED, PASS, RECEIVED) == ["dmarc=pass header.from=corp.example"]


def test_without_a_trusted_server_nothing_is_believed() -> None:
    assert believed(PASS, trusted=None) is None
    assert believed(PASS, trusted="") is None


@pytest.mark.parametrize(
    "written", ["MX.Example.NET", '"mx.example.net"', "(our) mx.example.net (server) 1", "mx.example.net 1"]
)
def test_the_name_is_compared_without_case_quotes_comments_and_version(written: str) -> None:
    assert believed(PASS.replace(OURS, written)) == ["dmarc=pass header.from=corp.example"]
    assert believed(PASS, trusted="MX.EXAMPLE.net") == ["dmarc=pass header.from=corp.example"]


@pytest.mark.parametrize(
    "written",
    [
        "evil.mx.example.net",
        "mx.example.net.evil.example",
        "mx.example.net.",
        "mx.example.ne",
        "mx. example.net",
        "mx.example.net 2",
        "mx.example.net 1 1",
        "mx.example.net/evil",
        "(mx.example.net) evil.example",
        "=?utf-8?Q?mx.example.net?=",
        "mx.example.net\u200b",
        "ｍｘ.example.net",
        "mx.example.net, evil.example",
        "",
    ],
)
def test_only_exactly_that_name_is_the_trusted_server(written: str) -> None:
    assert believed(PASS.replace(OURS, written)) is None


def test_letters_beyond_ascii_are_never_the_same_as_ascii_ones() -> None:
    assert believed(PASS.replace(OURS, "m\u212a.example"), trusted="mk.example") is None


@pytest.mark.parametrize(
    "breaker",
    [
        FOREIGN,
        "Authentication-Results:",
        "Authentication-Results: spf=pass smtp.mailfrom=corp.example; dmarc=pass header.from=corp.example",
        "Authentication-Results: mx.example.net; dmarc=pass (never closed",
        'Authentication-Results: mx.example.net; dmarc="pass',
        "Authentication-Results: mx.example.net; dmarc=pass )",
        "Authentication-Results: mx.example.net; what is this",
        "Authentication-Results: mx.example.net",
        "Authentication-Results: mx.example.net 2; dmarc=pass",
        "Authentication-Results: mx.example.net; dmarc=pass x=" + "y" * 20_000,
        "AUTHENTICATION-RESULTS: mx.other.example; none",
        "Authentication-Results : mx.example.net; dmarc=pass header.from=corp.example",
    ],
)
def test_below_a_foreign_or_unreadable_field_nothing_is_believed(breaker: str) -> None:
    assert believed(breaker, PASS) is None
    spf = "Authentication-Results: mx.example.net; spf=fail smtp.mailfrom=a.example"
    assert believed(spf, breaker, PASS) == ["spf=fail smtp.mailfrom=a.example"]


def test_a_field_with_a_blank_before_its_colon_is_not_believed() -> None:
    assert believed(PASS.replace("Results:", "Results :")) is None


def test_a_received_field_below_a_believed_one_ends_what_the_server_added() -> None:
    spf = "Authentication-Results: mx.example.net; spf=pass smtp.mailfrom=a.example"
    assert believed(spf, RECEIVED, PASS) == ["spf=pass smtp.mailfrom=a.example"]
    assert believed(spf, PASS, RECEIVED) == [
        "spf=pass smtp.mailfrom=a.example",
        "dmarc=pass header.from=corp.example",
    ]


def test_a_method_is_believed_from_the_first_field_that_tells_of_it() -> None:
    assert believed(FAIL, PASS) == ["dmarc=fail header.from=corp.example"]


@pytest.mark.parametrize(
    "name",
    ["ARC-Authentication-Results: i=1", "X-Authentication-Results", "Authentication-Results-Original", "Received-SPF"],
)
def test_fields_of_other_names_are_never_believed_and_end_nothing(name: str) -> None:
    other = f"{name}: mx.example.net; dmarc=pass header.from=corp.example".replace("i=1:", "i=1;")
    assert believed(other) is None
    assert believed(other, FAIL, other) == ["dmarc=fail header.from=corp.example"]


def test_what_an_attacker_appends_never_turns_a_fail_into_a_pass() -> None:
    lines = [PASS, FOREIGN, RECEIVED, "Authentication-Results: mx.example.net; none", "X: y", PASS.upper()]

    @settings(derandomize=True, max_examples=150, deadline=None)
    @given(st.lists(st.sampled_from(lines), max_size=8))
    def check(appended: Sequence[str]) -> None:
        assert believed(RECEIVED, FAIL, *appended) == ["dmarc=fail header.from=corp.example"]
        assert believed(FOREIGN, *appended) is None

    check()


# --- what they say -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "results"),
    [
        ("x; none", []),
        ("x; none;", []),
        ("x; dkim=pass", ["dkim=pass"]),
        ("x; dkim/1=pass header.d=a.example", ["dkim=pass header.d=a.example"]),
        ("x; dkim / 1 = pass header . d = a.example", ["dkim=pass header.d=a.example"]),
        ("x; DKIM=Pass HEADER.D=A.Example", ["dkim=pass header.d=a.example"]),
        ("x; dkim=pass header.i=@a.example header.b=ab/c+d==", ["dkim=pass header.i=a.example"]),
        ("x; dkim=pass header.i=@b.example header.d=a.example", ["dkim=pass header.d=a.example"]),
        ("x; dkim=pass header.d=a.example; dkim=fail", ["dkim=pass header.d=a.example", "dkim=fail"]),
        ("x; spf=softfail (a (nested) ;\\) \") smtp.mailfrom=u@a.example", ["spf=softfail smtp.mailfrom=a.example"]),
        ('x; spf=pass smtp.mailfrom="odd; dmarc=pass"@a.example', ["spf=pass smtp.mailfrom=a.example"]),
        ("x; spf=pass smtp.mailfrom=prvs=12=u@a.example", ["spf=pass smtp.mailfrom=a.example"]),
        ("x; spf=none smtp.mailfrom=<> smtp.helo=h.example", ["spf=none smtp.helo=h.example"]),
        ("x; dmarc=pass(p=REJECT sp=NONE) header.from=a.example;", ["dmarc=pass header.from=a.example"]),
        ('x; dmarc=fail reason="bad; worse=pass" header.from=a.example', ["dmarc=fail header.from=a.example"]),
        ("x; dmarc=fail action=none header.from=a.example", ["dmarc=fail header.from=a.example"]),
        ("x;\tarc=pass (i=2 spf=pass dkim=pass)", ["arc=pass"]),
        ("x; iprev=pass policy.iprev=192.0.2.1; auth=pass; bimi=skipped; spf=neutral", ["spf=neutral"]),
    ],
)  # fmt: skip
def test_results_are_read_with_comments_quotes_versions_and_properties(value: str, results: list[str]) -> None:
    assert told(value) == results


@pytest.mark.parametrize(
    "result",
    [
        "dmarc=softfail",
        "dmarc=bestguesspass",
        "spf=hardfail",
        "arc=temperror",
        "dkim=passed",
        "dkim/2=pass",
        "xdkim=pass",
    ],
)
def test_words_methods_and_versions_outside_the_registry_are_ignored(result: str) -> None:
    assert told(f"x; {result} header.d=a.example; spf=fail") == ["spf=fail"]


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("spf", "none pass fail softfail neutral policy temperror permerror"),
        ("dkim", "none pass fail policy neutral temperror permerror"),
        ("dmarc", "none pass fail temperror permerror"),
        ("arc", "none pass fail"),
    ],
)
def test_every_registered_word_is_told(method: str, words: str) -> None:
    for word in words.split():
        assert told(f"x; {method}={word}") == [f"{method}={word}"]


@pytest.mark.parametrize(
    "domain",
    [
        "a b.example",
        '"a\\"b"',
        "<script>",
        "a..b",
        "-",
        "\u202ea.example",
        "a\u200b.example",
        "x" * 300,
        "(a.example)",
        "*",
    ],
)
def test_an_identifier_that_is_no_domain_is_left_out_not_repaired(domain: str) -> None:
    results = told(f"x; dmarc=pass header.from={domain}")
    assert results in (None, ["dmarc=pass"])


def test_two_values_for_one_property_give_none() -> None:
    assert told("x; dkim=pass header.d=a.example header.d=b.example") == ["dkim=pass"]


def test_a_method_told_of_twice_and_differently_has_not_passed() -> None:
    assert told("x; dmarc=pass header.from=a.example; dmarc=fail header.from=a.example") == [
        "dmarc=fail header.from=a.example"
    ]


def test_a_dmarc_pass_for_another_domain_than_the_senders_is_left_out() -> None:
    line = "Authentication-Results: mx.example.net; dmarc=pass header.from=b.example; spf=pass smtp.mailfrom=b.example"
    for sender, expected in (
        ("u@B.example", ["dmarc", "spf"]),
        ("u@a.example, v@b.example", ["spf"]),
        ("nobody", ["spf"]),
    ):
        found = sender_facts(fields(line, f"From: {sender}"), trusted_authserv_id=OURS).authentication
        assert found is not None
        assert [one.method.value for one in found.results] == expected


def test_no_more_results_than_the_limit_are_told() -> None:
    line = "Authentication-Results: mx.example.net" + "; dkim=pass header.d=a.example" * 400
    found = believed(line)
    assert found is not None
    assert len(found) == 20


ALPHABET = st.sampled_from(
    ["dkim", "dmarc", "spf", "=", "pass", "fail", ";", " ", "(", ")", '"', "\\", "header.d", "header.from", "/", "1",
     ".", "@", "a.example", "\t", "é", "\u202e", "<", ">", "none"]
)  # fmt: skip


@settings(derandomize=True, max_examples=500, deadline=None)
@given(st.lists(ALPHABET, max_size=40).map("".join))
def test_any_value_is_read_or_refused_and_gives_safe_strings(value: str) -> None:
    field = parse_authentication(f"x; {value}".encode())
    for one in field.results if field else ():
        assert is_safe(str(one))
        assert one.method in AuthMethod
        assert (one.domain is None) == (one.identifier is None)


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_what_a_server_quotes_properly_adds_no_result(smuggled: str) -> None:
    quoted = smuggled.replace("\\", "\\\\").replace('"', '\\"')
    results = told(f'x; spf=fail smtp.mailfrom="{quoted}"@a.example; dmarc=fail header.from=a.example')
    assert results == ["spf=fail smtp.mailfrom=a.example", "dmarc=fail header.from=a.example"]
