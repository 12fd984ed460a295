"""Who wrote a message, and what is odd about it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.mime.clean import is_safe
from mailgate.mime.fields import HeaderFields, parse_fields
from mailgate.mime.sender import SenderFacts, SenderFlag, sender_facts

OTHER, MULTIPLE, MIXED, PUNYCODE, REPLY = SenderFlag


def fields(*lines: str) -> HeaderFields:
    block = "".join(f"{line}\r\n" for line in lines).encode()
    return parse_fields(block, 0, len(block))


def facts(*lines: str) -> SenderFacts:
    return sender_facts(fields(*lines), trusted_authserv_id="mx.example.net")


def flags(*lines: str) -> set[SenderFlag]:
    return set(facts(*lines).flags)


def test_the_flags_have_the_names_of_the_reference_in_that_order() -> None:
    assert [flag.value for flag in SenderFlag] == [
        "display_name_has_other_address",
        "multiple_from",
        "mixed_script",
        "punycode",
        "reply_to_differs",
    ]


def test_an_ordinary_sender_has_an_address_and_no_flag() -> None:
    assert facts("From: Ann Lee <ann@example.org>", "Reply-To: ANN@example.org") == SenderFacts("ann@example.org")


@pytest.mark.parametrize("lines", [[], ["From:"], ["From: Ann"], ["From: undisclosed:;"], ["Sender: a@b.example"]])
def test_without_an_address_in_from_nobody_wrote_it(lines: list[str]) -> None:
    assert facts(*lines) == SenderFacts(None)


# --- which address -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "address"),
    [
        (["From: a@x.example, b@y.example"], "a@x.example"),
        (["From: a@x.example, b@y.example", "Sender: B@Y.example"], "b@y.example"),
        (["From: a@x.example, b@y.example", "Sender: boss@corp.example"], "a@x.example"),
        (["From: a@x.example, b@y.example", "Sender: b@y.example, c@z.example"], "a@x.example"),
        (["From: a@x.example, b@y.example", "Sender: b@y.example", "Sender: a@x.example"], "a@x.example"),
        (["From: a@x.example", "From: b@y.example", "Sender: b@y.example"], "a@x.example"),
        (["From: a@x.example", "Sender: boss@corp.example"], "a@x.example"),
        (["From: Doe, Jane <jane@x.example>"], "jane@x.example"),
    ],
)
def test_the_address_is_always_one_that_from_names(lines: list[str], address: str) -> None:
    assert facts(*lines).address == address


def test_the_address_is_kept_apart_from_what_the_name_says() -> None:
    found = facts('From: "The Boss <boss@corp.example>" <evil@x.example>')
    assert found == SenderFacts("evil@x.example", (OTHER,))


def test_an_encoded_word_is_no_address() -> None:
    assert facts("From: =?utf-8?Q?boss=40corp.example?=").address is None
    assert facts("From: <=?utf-8?Q?boss=40corp.example?=>").address is None


# --- names with another address ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        '"boss@corp.example"',
        "=?utf-8?Q?boss=40corp.example?=",
        '"boss＠corp.example"',
        '"ｂｏｓｓ@ｃｏｒｐ.example"',
        '"boss @ corp.example"',
        '"boss@ corp.example"',
        '"boss\u200b@corp.example"',
        '"(boss@corp.example)"',
        "boss@corp.example",
        '"evil@x.example boss@corp.example"',
    ],
)
def test_a_name_with_another_address_is_flagged(name: str) -> None:
    found = facts(f"From: {name} <evil@x.example>")
    assert (found.address, found.flags) == ("evil@x.example", (OTHER,))


@pytest.mark.parametrize(
    "name",
    [
        '"ann@x.example"',
        "\"'ANN@x.example'\"",
        '"“ann@x.example”"',
        '"Ann (ann@x.example)."',
        '"Ann @ Acme Inc."',
        "Ann",
    ],
)
def test_a_name_without_another_address_is_not_flagged(name: str) -> None:
    assert flags(f"From: {name} <ann@x.example>") == set()


def test_a_comment_that_serves_as_the_name_is_judged_like_one() -> None:
    assert flags("From: evil@x.example (boss@corp.example)") == {OTHER}


# --- several authors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lines",
    [
        ["From: a@x.example, b@y.example"],
        ["From: a@x.example", "From: b@y.example"],
        ["From: a@x.example", "from: a@x.example"],
        ["From: a@x.example", "FROM :"],
        ["From: Team: a@x.example, b@y.example;"],
        ["From: a@x.example; b@y.example"],
    ],
)
def test_several_authors_or_from_fields_are_flagged(lines: list[str]) -> None:
    assert flags(*lines) == {MULTIPLE}


def test_an_unquoted_comma_in_a_name_makes_no_second_author() -> None:
    assert flags("From: Doe, Jane <jane@x.example>") == set()


# --- scripts and punycode ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("domain", "found"),
    [
        ("pаypal.example", {MIXED, PUNYCODE}),  # Cyrillic а
        ("xn--pypal-4ve.example", {MIXED, PUNYCODE}),  # the same in Punycode
        ("XN--80AK6AA92E.example", {MIXED, PUNYCODE}),  # аррӏе, every letter Cyrillic
        ("аррӏе.example", {MIXED, PUNYCODE}),
        ("gοοgle.example", {MIXED, PUNYCODE}),  # Greek ο
        ("mail.pаypal.example", {MIXED, PUNYCODE}),
        ("пример.рф", {PUNYCODE}),
        ("вера.рф", {PUNYCODE}),
        ("xn--e1afmkfd.example", {PUNYCODE}),  # пример: not one Latin look-alike
        ("jörg.example", {PUNYCODE}),
        ("xn--jrg-sna.example", {PUNYCODE}),
        ("日本語テスト.example", {PUNYCODE}),
        ("sony日本.example", {PUNYCODE}),
        ("xn--.example", {PUNYCODE}),
        ("xn--999999999.example", {PUNYCODE}),
        ("xn--" + "a" * 200 + ".example", {PUNYCODE}),
        ("ordinary.example", set()),
        ("[192.0.2.1]", set()),
    ],
)
def test_domains_are_judged_label_by_label_as_what_they_stand_for(domain: str, found: set[SenderFlag]) -> None:
    assert flags(f"From: Ann <ann@{domain}>") == found


def test_a_punycode_domain_is_shown_as_it_stands() -> None:
    assert facts("From: a@xn--80ak6aa92e.example").address == "a@xn--80ak6aa92e.example"


@pytest.mark.parametrize(
    "name",
    [
        "PаyPal",
        "PayPаl Service",
        "ΡayΡal",
        "Micrоsoft Support",
        "Аррӏе Support",
        "Раӏ-Pay",
        "Ꭺpple",
        "Аpplе (Ваnk)",
        "Αрр",
        "=?utf-8?Q?P=D0=B0yPal?=",
        "=?utf-8?Q?P=D0=B0?= =?utf-8?Q?yPal?=",
    ],
)
def test_a_name_that_mixes_look_alike_scripts_is_flagged(name: str) -> None:
    assert flags(f"From: {name} <ann@x.example>") == {MIXED}


@pytest.mark.parametrize(
    "name",
    [
        "Иван Петров",
        "Яндекс Go",
        "ООО Ромашка IT",
        "О. Petrov",
        "Вера",
        "Γιώργος News",
        "日本語とカタカナとABC",
        "ソニーTV々ー",
        "삼성전자 漢字",
        "삼성Galaxy",
        "中文ABC注音ㄅ",
        "ＡＮＡ通信",
        "µTorrent",
        "Jörg Ärger-Çelik",
        "שלוםABC",
        "محمد Ali",
        "ไทยThai",
        "हिन्दी",
        "𝐁𝐨𝐥𝐝 Name",
        "№1 ®™ 50 € ❤",
    ],
)
def test_ordinary_writing_of_any_script_is_not_flagged(name: str) -> None:
    assert flags(f'From: "{name}" <ann@x.example>') == set()


LATIN_TO_CYRILLIC = dict(zip("aceopxyABEKMHOPCTX", "асеорхуАВЕКМНОРСТХ", strict=True))


@settings(derandomize=True, max_examples=150, deadline=None)
@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=20), st.sampled_from("aceopxy"), st.integers(0, 20))
def test_one_letter_replaced_in_a_latin_word_is_always_flagged(word: str, letter: str, place: int) -> None:
    disguised = word[:place] + LATIN_TO_CYRILLIC[letter] + word[place:]
    punycode = "xn--" + disguised.encode("punycode").decode()
    assert flags(f"From: {disguised} <ann@x.example>") == {MIXED}
    assert flags(f"From: ann@{disguised}.example") == {MIXED, PUNYCODE}
    assert flags(f"From: ann@{punycode}.example") == {MIXED, PUNYCODE}


# --- Reply-To ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply_to",
    [
        "evil@y.example",
        "ann@y.example",
        "bob@x.example",
        "ann@x.example, evil@y.example",
        "ann@x.example <evil@y.example>",
        "ann@x.example.evil.example",
        "Team: evil@y.example;",
    ],
)
@pytest.mark.parametrize("extra", [[], ["List-Id: <list.x.example>"]])
def test_a_reply_to_address_that_from_does_not_name_is_flagged(reply_to: str, extra: list[str]) -> None:
    assert REPLY in flags("From: ann@x.example", f"Reply-To: {reply_to}", *extra)


def test_a_second_reply_to_field_counts_as_well() -> None:
    assert flags("From: ann@x.example", "Reply-To: ann@x.example", "Reply-To: evil@y.example") == {REPLY}


@pytest.mark.parametrize("reply_to", ["", "Ann", "Ann Lee <Ann@X.example>", "undisclosed:;", "ann@x.example (home)"])
def test_a_reply_to_that_leads_to_the_author_is_not_flagged(reply_to: str) -> None:
    assert flags("From: ann@x.example", f"Reply-To: {reply_to}") == set()


# --- any input ---------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        b"From:", b"Sender:", b"Reply-To:", b"Authentication-Results:", b"\r\n", b"\n ", b"a@b.c", b"xn--", b"xn--a-",
        b"<", b">", b"(", b")", b'"', b"\\", b",", b";", b":", b"@", b".", b"=?utf-8?Q?=E2=80=AE?=", b"=?x?b?",
        b"mx.example.net;", b"dmarc=pass", b" header.from=", b"\xd0\xb0", b"\xe2\x80\xae", b"\xff", b"\x00",
    ]
)  # fmt: skip


@settings(derandomize=True, max_examples=400, deadline=None)
@given(st.lists(st.one_of(PIECES, st.binary(max_size=4)), max_size=40).map(b"".join))
def test_any_header_gives_facts_that_are_safe_to_show(block: bytes) -> None:
    found = sender_facts(parse_fields(block, 0, len(block)), trusted_authserv_id="mx.example.net")
    shown = [found.address or ""]
    if found.authentication:
        shown += [str(one) for one in found.authentication.results]
    assert all(is_safe(text) and "\n" not in text for text in shown)
    assert list(found.flags) == [flag for flag in SenderFlag if flag in found.flags]
    if found.address is not None:
        assert "@" in found.address
