"""Every claim of an access token: missing, wrong, of the wrong type; and what is accepted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mailgate.limits import TOKEN_CHARS_MAX, TOKEN_LEEWAY_SECONDS
from mailgate.policy import Principal, Scope
from mailgate.server.auth import Rejection
from tests.peers.signing import AUDIENCE, ISSUER, MISSING, SUBJECT, claims_of, compact, header_of, mint, rsa_key
from tests.server.oauth.deployment import judged

NOW = 1_800_000_000.0
LEEWAY = TOKEN_LEEWAY_SECONDS
OWNER = Principal(ISSUER, SUBJECT, frozenset(Scope))


async def claiming(**changes: Any) -> Principal | Rejection:
    return await judged(mint(now=NOW, **changes), now=NOW)


async def test_a_good_token_is_its_issuer_and_subject_with_its_scopes() -> None:
    assert await claiming() == OWNER


# --- wrong types -------------------------------------------------------------------------------------------------

ODD: dict[str, Any] = {
    "null": None,
    "true": True,
    "false": False,
    "zero": 0,
    "negative": -1,
    "float": 1.5,
    "empty text": "",
    "text": "canary",
    "digits": str(int(NOW) + 600),
    "empty list": [],
    "list": ["canary"],
    "mixed list": [AUDIENCE, 1],
    "list in list": [[AUDIENCE]],
    "object": {"a": 1},
    "nested": {"a": {"b": [AUDIENCE]}},
    "long text": "x" * 4000,
    "huge": 10**30,
    "beyond floats": 10**250,
    "tiny": 1e-300,
}


@pytest.mark.parametrize("value", ODD.values(), ids=ODD)
@pytest.mark.parametrize("claim", ["iss", "aud", "sub", "exp"])
async def test_a_required_claim_of_any_other_kind_is_refused(claim: str, value: Any) -> None:
    assert isinstance(await claiming(**{claim: value}), Rejection)


@pytest.mark.parametrize("claim", ["iss", "aud", "sub", "exp"])
async def test_a_missing_claim_is_refused(claim: str) -> None:
    assert await claiming(**{claim: MISSING}) is Rejection.CLAIM


NOT_NUMBERS = [name for name, value in ODD.items() if isinstance(value, bool) or not isinstance(value, int | float)]


@pytest.mark.parametrize("name", [*NOT_NUMBERS, "zero", "negative", "huge", "beyond floats"])
@pytest.mark.parametrize("claim", ["exp", "nbf", "iat"])
async def test_a_time_is_a_number_of_seconds_and_nothing_else(claim: str, name: str) -> None:
    assert await claiming(**{claim: ODD[name]}) is Rejection.CLAIM


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 400])
async def test_a_number_that_json_cannot_mean_is_refused(number: str) -> None:
    text = json.dumps(claims_of(NOW)).replace(f'"exp": {int(NOW) + 600}', f'"exp": {number}')
    assert number in text
    assert await judged(compact(rsa_key(), header_of(rsa_key()), text.encode()), now=NOW) is Rejection.MALFORMED


@pytest.mark.parametrize("name", ["null", "true", "zero", "float", "mixed list", "list in list", "object", "nested"])
@pytest.mark.parametrize("claim", ["scope", "scp", "permissions"])
async def test_scopes_of_another_kind_are_refused(claim: str, name: str) -> None:
    assert await claiming(**{"scope": MISSING, claim: ODD[name]}) is Rejection.CLAIM


async def test_a_list_is_no_scope_text() -> None:
    assert await claiming(scope=["mail.read"]) is Rejection.CLAIM


# --- issuer and audience -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "issuer",
    ["https://login.example.com", "https://login.example.com//", "https://LOGIN.example.com/", "http://login.example.com/",
     "https://login.example.com:443/", "https://login.example.com/x", "https://login.example.com.evil.example/",
     " https://login.example.com/", "https://login.example.com/ ", "https://other.example.com/", "static", "local"],
)  # fmt: skip
async def test_any_other_issuer_is_refused_to_the_letter(issuer: str) -> None:
    assert await claiming(iss=issuer) is Rejection.ISSUER


@pytest.mark.parametrize(
    "audience",
    ["https://mail.example.com", "https://mail.example.com/", "https://mail.example.com/mcp/", "https://mail.example.com/MCP",
     "https://MAIL.example.com/mcp", "http://mail.example.com/mcp", "https://mail.example.com:8443/mcp",
     "https://mail.example.com:443/mcp", "https://mail.example.com/mcp/other", "https://mail.example.com/mcpx",
     "https://mail.example.com.evil.example/mcp", "https://other.example.com/mcp", "*", "mailgate",
     [], ["https://other.example.com/mcp"], ["https://mail.example.com/", "https://mail.example.com"]],
    ids=str,
)  # fmt: skip
async def test_a_token_for_anybody_else_is_refused(audience: Any) -> None:
    assert await claiming(aud=audience) is Rejection.AUDIENCE


@pytest.mark.parametrize("audience", [AUDIENCE, [AUDIENCE], ["https://login.example.com/userinfo", AUDIENCE]], ids=str)
async def test_ours_may_stand_alone_or_in_a_list(audience: Any) -> None:
    assert await claiming(aud=audience) == OWNER


async def test_a_configured_audience_is_the_only_one() -> None:
    token = mint(now=NOW, aud="api://mailgate")
    assert await judged(token, now=NOW, audience="api://mailgate") == OWNER
    assert await judged(mint(now=NOW), now=NOW, audience="api://mailgate") is Rejection.AUDIENCE


# --- times -------------------------------------------------------------------------------------------------------


def test_the_leeway_is_at_most_a_minute() -> None:
    assert 0 <= LEEWAY <= 60


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"exp": NOW + 1}, OWNER),
        ({"exp": NOW + 0.5}, OWNER),
        ({"exp": NOW - LEEWAY + 1}, OWNER),
        ({"exp": NOW - LEEWAY}, Rejection.EXPIRED),
        ({"exp": NOW - 61}, Rejection.EXPIRED),
        ({"exp": 1}, Rejection.EXPIRED),
        ({"exp": (NOW + 600) * 1000}, Rejection.CLAIM),
        ({"nbf": NOW}, OWNER),
        ({"nbf": NOW + LEEWAY}, OWNER),
        ({"nbf": NOW + LEEWAY + 1}, Rejection.NOT_YET_VALID),
        ({"nbf": NOW + 61}, Rejection.NOT_YET_VALID),
        ({"iat": NOW + LEEWAY}, OWNER),
        ({"iat": NOW + 61}, Rejection.NOT_YET_VALID),
        ({"iat": MISSING}, OWNER),
        ({"iat": 1.25}, OWNER),
    ],
)
async def test_a_token_counts_in_its_time_only(changes: dict[str, Any], expected: Principal | Rejection) -> None:
    assert await claiming(**changes) == expected


# --- the owner ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "subject",
    ["", "somebody else", SUBJECT.upper(), SUBJECT + " ", " " + SUBJECT, SUBJECT[:-1], SUBJECT + "\u200b", "*"],
)
async def test_anybody_but_the_owner_is_refused(subject: str) -> None:
    assert await claiming(sub=subject) is Rejection.SUBJECT


async def test_a_subject_may_be_any_text_that_is_listed() -> None:
    odd = "öwner|1, 2"
    found = await judged(mint(now=NOW, sub=odd), now=NOW, subjects=frozenset({odd}))
    assert found == Principal(ISSUER, odd, OWNER.scopes)


# --- scopes ------------------------------------------------------------------------------------------------------

READ, WRITE, SEND = Scope.READ, Scope.WRITE, Scope.SEND


@pytest.mark.parametrize(
    ("changes", "scopes"),
    [
        ({"scope": "mail.read"}, {READ}),
        ({"scope": "openid mail.send profile mail.read"}, {READ, SEND}),
        ({"scope": ""}, set()),
        ({"scope": "openid"}, set()),
        ({"scope": "mail.readx xmail.read MAIL.READ mail.* mail mail.read,mail.send"}, set()),
        ({"scope": "mail.write\tmail.send\nmail.read"}, set()),
        ({"scope": "mail.read mail.read"}, {READ}),
        ({"scope": MISSING}, set()),
        ({"scope": MISSING, "scp": "mail.read mail.write"}, {READ, WRITE}),
        ({"scope": MISSING, "scp": ["mail.read", "mail.write"]}, {READ, WRITE}),
        ({"scope": MISSING, "scp": []}, set()),
        ({"scope": MISSING, "permissions": ["mail.read", "other"]}, {READ}),
        ({"scope": MISSING, "permissions": "mail.read mail.send"}, {READ, SEND}),
        ({"scope": MISSING, "permissions": ["mail.read mail.send"]}, set()),
    ],
    ids=str,
)
async def test_scopes_come_from_the_claim_that_has_them(changes: dict[str, Any], scopes: set[Scope]) -> None:
    assert await claiming(**changes) == Principal(ISSUER, SUBJECT, frozenset(scopes))


@pytest.mark.parametrize(
    "changes",
    [
        {"scope": "mail.read", "permissions": ["mail.read", "mail.send"]},
        {"scope": "mail.read", "scp": ["mail.send"]},
        {"scope": MISSING, "scp": "mail.read", "permissions": ["mail.send"]},
    ],
    ids=str,
)
async def test_what_a_user_may_do_adds_nothing_to_what_a_client_was_granted(changes: dict[str, Any]) -> None:
    assert await claiming(**changes) == Principal(ISSUER, SUBJECT, frozenset({READ}))


# --- what says it is something else --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"typ": "Bearer"}, OWNER),
        ({"typ": "at+jwt"}, OWNER),
        ({"typ": "ID"}, Rejection.TYPE),
        ({"typ": ""}, Rejection.TYPE),
        ({"typ": "Refresh"}, Rejection.TYPE),
        ({"typ": "Offline"}, Rejection.TYPE),
        ({"typ": None}, Rejection.TYPE),
        ({"typ": ["Bearer"]}, Rejection.TYPE),
        ({"token_use": "access"}, OWNER),
        ({"token_use": "id"}, Rejection.TYPE),
        ({"token_use": 1}, Rejection.TYPE),
        ({"cnf": {"jkt": "x"}}, Rejection.BOUND),
        ({"cnf": None}, Rejection.BOUND),
    ],
    ids=str,
)
async def test_a_token_that_says_it_is_no_bearer_access_token_is_refused(
    changes: dict[str, Any], expected: Principal | Rejection
) -> None:
    assert await claiming(**changes) == expected


async def test_a_large_token_with_many_groups_is_accepted() -> None:
    token = mint(now=NOW, groups=[f"group-{number}" for number in range(700)])
    assert 8 * 1024 < len(token) < TOKEN_CHARS_MAX
    assert await judged(token, now=NOW) == OWNER


async def test_a_claim_set_is_one_object_without_repeated_names() -> None:
    good = json.dumps(claims_of(NOW))
    repeated = good[:-1] + ', "sub": "canary"}'
    for payload in (repeated, f"[{good}]", '"text"', "null", "", good + "x", '{"a":' * 100 + good + "}" * 100):
        token = compact(rsa_key(), header_of(rsa_key()), payload.encode() or b" ")
        assert await judged(token, now=NOW) is Rejection.MALFORMED, payload
    for octets in (b"\xef\xbb\xbf" + good.encode(), good.encode("utf-16"), good.encode() + b"\xff"):
        assert await judged(compact(rsa_key(), header_of(rsa_key()), octets), now=NOW) is Rejection.MALFORMED
