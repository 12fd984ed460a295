"""Whose signature, with which algorithm, over which octets: every confusion of the three."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from typing import Any

import pytest

from mailgate.keys.jwks import ALGORITHMS
from mailgate.policy import Principal, Scope
from mailgate.server.auth import Callers, Rejection, TokenTable
from mailgate.server.jwt_claims import TokenRules
from mailgate.server.jwt_tokens import JwtVerifier
from tests.peers.signing import (
    AUDIENCE,
    ISSUER,
    MISSING,
    SUBJECT,
    SigningKey,
    b64,
    claims_of,
    compact,
    ec_key,
    ed448_key,
    ed_key,
    header_of,
    mint,
    rsa_key,
)
from tests.server.oauth.deployment import HeldKeys, held, judged

OWNER = Principal(ISSUER, SUBJECT, frozenset(Scope))
RULES = TokenRules(ISSUER, AUDIENCE, frozenset({SUBJECT}))
RSA = rsa_key()


def signing(key: SigningKey, algorithm: str) -> SigningKey:
    return SigningKey(key.kid, algorithm, key.private)


async def with_keys(token: str, source: HeldKeys) -> Principal | Rejection:
    return await JwtVerifier(RULES, source).verify(token)


# --- what is accepted --------------------------------------------------------------------------------------------

KEYS = {
    **{name: signing(RSA, name) for name in ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")},
    "ES256": ec_key("P-256"),
    "ES384": ec_key("P-384"),
    "ES512": ec_key("P-521"),
    "EdDSA": ed_key(),
}


def test_every_allowed_algorithm_is_tried_here() -> None:
    assert set(KEYS) == ALGORITHMS


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("alg", ["said by the key", "not said by the key"])
async def test_a_signature_of_the_issuer_is_accepted(name: str, alg: str) -> None:
    key = KEYS[name]
    published = key.jwk() if alg == "said by the key" else key.jwk(alg=MISSING, use=MISSING, key_ops=MISSING)
    assert await with_keys(mint(key), held(published)) == OWNER


# --- the algorithm -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["none", "None", "NONE", "nOnE", "", " none", "HS256", "HS384", "HS512", "hs256", "RS1", "rs256", "RS256 ",
     "ES256K", "ES521", "Ed448", "RSA-OAEP", "A128KW", "dir", "canary", None, 1, True, ["RS256"], {"RS256": 1},
     MISSING],
    ids=str,
)  # fmt: skip
async def test_an_algorithm_that_is_not_on_the_list_is_refused(name: Any) -> None:
    assert await judged(compact(RSA, header_of(RSA, alg=name), claims_of())) is Rejection.ALGORITHM


@pytest.mark.parametrize("name", ["none", "None", "NONE", "nOnE", "RS256"])
@pytest.mark.parametrize("signature", ["", "AA", "x" * 342])
async def test_no_signature_is_no_signature(name: str, signature: str) -> None:
    signed = compact(RSA, header_of(RSA, alg=name), claims_of()).rpartition(".")[0]
    assert isinstance(await judged(f"{signed}.{signature}"), Rejection)
    assert isinstance(await judged(signed), Rejection)


@pytest.mark.parametrize("hash_name", ["sha256", "sha384", "sha512"])
@pytest.mark.parametrize("form", ["pem", "pem without its last line break", "jwk", "modulus"])
async def test_the_public_key_is_no_shared_secret(hash_name: str, form: str) -> None:
    secret = {
        "pem": RSA.pem(),
        "pem without its last line break": RSA.pem().rstrip(),
        "jwk": json.dumps(RSA.jwk()).encode(),
        "modulus": base64.urlsafe_b64decode(RSA.jwk()["n"] + "=="),
    }[form]
    for alg in (f"HS{hash_name[3:]}", "RS256"):
        signed = compact(RSA, header_of(RSA, alg=alg), claims_of()).rpartition(".")[0]
        token = f"{signed}.{b64(hmac.new(secret, signed.encode(), hash_name).digest())}"
        assert await judged(token) in (Rejection.ALGORITHM, Rejection.SIGNATURE)


async def test_a_shared_secret_in_the_set_is_no_key() -> None:
    oct_key = {"kty": "oct", "k": b64(b"secret"), "kid": RSA.kid, "alg": "HS256"}
    signed = compact(RSA, header_of(RSA, alg="HS256"), claims_of()).rpartition(".")[0]
    token = f"{signed}.{b64(hmac.new(b'secret', signed.encode(), hashlib.sha256).digest())}"
    source = held(oct_key)
    assert source.keys == ()
    assert await with_keys(token, source) is Rejection.ALGORITHM


OTHERS = [(said, name) for said in KEYS for name in KEYS if said != name]


@pytest.mark.parametrize(("said", "name"), OTHERS, ids=lambda value: str(value))
async def test_a_token_that_names_another_algorithm_than_its_key_has_is_refused(said: str, name: str) -> None:
    """RS for EC and back, one hash for another, PSS for PKCS #1: with a key that says its algorithm or not."""
    key = KEYS[name]
    token = compact(key, header_of(key, alg=said), claims_of())
    for source in (held(key.jwk()), held(key.jwk(alg=MISSING))):
        assert await with_keys(token, source) in (Rejection.UNKNOWN_KEY, Rejection.SIGNATURE)


async def test_a_key_is_used_with_its_own_algorithm_only() -> None:
    """The signature itself is good: PS256 by a key that is published for RS256."""
    key = signing(RSA, "PS256")
    assert await with_keys(mint(key), held(RSA.jwk())) is Rejection.UNKNOWN_KEY
    assert await with_keys(mint(key), held(RSA.jwk(alg=MISSING))) == OWNER


def test_a_key_itself_refuses_what_it_is_not_for() -> None:
    (key,) = held(RSA.jwk()).keys
    assert key.verifies("RS256", b"x", RSA.sign(b"x"))
    assert not key.verifies("PS256", b"x", RSA.sign(b"x", "PS256"))
    for name in ("ES256", "EdDSA", "HS256", "none", ""):
        assert not key.verifies(name, b"x", RSA.sign(b"x"))


# --- keys that are no keys for this ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"use": "enc"},
        {"use": None},
        {"use": 1},
        {"key_ops": ["encrypt"]},
        {"key_ops": []},
        {"key_ops": "verify"},
        {"key_ops": None},
        {"alg": "RSA-OAEP"},
        {"alg": "HS256"},
        {"alg": "none"},
        {"alg": None},
        {"alg": ["RS256"]},
        {"kty": "EC"},
        {"kty": "oct"},
        {"kty": ["RSA"]},
        {"kty": MISSING},
        {"kid": 1},
        {"kid": ["rsa-1"]},
        {"n": MISSING},
        {"n": ""},
        {"n": 1},
        {"n": "!"},
        {"n": None},
        {"e": MISSING},
        {"e": "AA"},
        {"e": "AQ"},
        {"e": ["AQAB"]},
        {"d": "AQAB"},
    ],
    ids=str,
)
def test_a_key_for_something_else_or_of_no_form_is_passed_over(changes: dict[str, Any]) -> None:
    other = rsa_key("rsa-2")
    assert [key.kid for key in held(RSA.jwk(**changes), other.jwk()).keys] == ["rsa-2"]


@pytest.mark.parametrize(
    "jwk",
    [
        ec_key("secp256k1").jwk(),
        ec_key("P-256").jwk(crv="P-384"),
        ec_key("P-256").jwk(crv="P-521"),
        ec_key("P-256").jwk(crv=MISSING),
        ec_key("P-256").jwk(crv=["P-256"]),
        ec_key("P-256").jwk(x=b64(b"x" * 32)),
        ec_key("P-256").jwk(y=MISSING),
        ed448_key().jwk(),
        ed448_key().jwk(crv="Ed25519"),
        ed_key().jwk(x=b64(b"x" * 31)),
        ed_key().jwk(x=None),
        ed_key().jwk(crv="X25519"),
        rsa_key("small", bits=1024).jwk(),
        rsa_key("odd", bits=2040).jwk(),
        None,
        1,
        "rsa-1",
        [],
        {},
    ],
    ids=lambda jwk: str(jwk)[:40],
)
def test_a_weak_foreign_or_broken_key_is_passed_over(jwk: Any) -> None:
    assert held(jwk).keys == ()


@pytest.mark.parametrize(
    "key", [ec_key("secp256k1"), ed448_key(), rsa_key("small", bits=1024)], ids=lambda key: key.kid
)
async def test_a_signature_by_such_a_key_is_refused(key: SigningKey) -> None:
    assert isinstance(await judged(mint(key), key), Rejection)


# --- the octets --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KEYS)
async def test_one_flipped_bit_is_noticed_wherever_it_is(name: str) -> None:
    key = KEYS[name]
    head, payload, signature = mint(key).split(".")
    raw = base64.urlsafe_b64decode(signature + "==")
    for position in (0, len(raw) // 2, len(raw) - 1):
        for bit in (1, 0x80):
            broken = bytearray(raw)
            broken[position] ^= bit
            assert await judged(f"{head}.{payload}.{b64(bytes(broken))}", key) is Rejection.SIGNATURE
    other = mint(key, scope="mail.read").split(".")
    assert await judged(f"{head}.{other[1]}.{signature}", key) is Rejection.SIGNATURE
    changed = b64(json.dumps(header_of(key, canary=1)).encode())
    assert await judged(f"{changed}.{payload}.{signature}", key) is Rejection.SIGNATURE


@pytest.mark.parametrize("name", KEYS)
async def test_a_signature_of_another_length_is_refused(name: str) -> None:
    key = KEYS[name]
    signed, _, signature = mint(key).rpartition(".")
    raw = base64.urlsafe_b64decode(signature + "==")
    for other in (raw[:-1], raw + b"\0", b"\0" + raw, raw * 2, b"\0", b"\0" * len(raw), b"\xff" * len(raw)):
        assert await judged(f"{signed}.{b64(other)}", key) is Rejection.SIGNATURE


async def test_a_signature_in_another_encoding_is_refused() -> None:
    """DER instead of the two numbers side by side (RFC 7518, 3.4)."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec_key("P-256")
    signed = mint(key).rpartition(".")[0]
    der = key.private.sign(signed.encode(), ec.ECDSA(hashes.SHA256()))
    assert await judged(f"{signed}.{b64(der)}", key) is Rejection.SIGNATURE


def respelled() -> dict[str, str]:
    """A good token in every spelling that some reader would take for the same."""
    token = mint()
    head, payload, signature = token.split(".")
    last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    # 256 octets leave four bits of the last character unused; the next character means the same octets.
    other = signature[:-1] + last[last.index(signature[-1]) + 1]
    assert base64.urlsafe_b64decode(other + "==") == base64.urlsafe_b64decode(signature + "==")
    return {
        "padding at the end": token + "==",
        "padding in the middle": f"{head}=.{payload}.{signature}",
        "padding in the payload": f"{head}.{payload}=.{signature}",
        "unused bits set": f"{head}.{payload}.{other}",
        "line break at the end": token + "\n",
        "line break inside": f"{head}.{payload}\n.{signature}",
        "carriage return": token + "\r\n",
        "blank": f"{head}. {payload}.{signature}",
        "the other alphabet": f"{head}.{payload}.{signature[:-4]}+/+/",
        "tilde": f"{head}~.{payload}.{signature}",
        "four parts": token + ".AA",
        "five parts": token + ".AA.AA",
        "two parts": f"{head}.{payload}",
        "one part": head,
        "no header": f".{payload}.{signature}",
        "no payload": f"{head}..{signature}",
        "no signature": f"{head}.{payload}.",
        "only dots": "..",
        "nothing": "",
        "one character too few": f"{head[:-1]}.{payload}.{signature}",
        "full width dot": f"{head}\uff0e{payload}\uff0e{signature}",
        "json serialization": json.dumps({"protected": head, "payload": payload, "signature": signature}),
    }


@pytest.mark.parametrize("spelling", respelled())
async def test_a_token_has_one_spelling(spelling: str) -> None:
    token = respelled()[spelling]
    assert await judged(token) is Rejection.MALFORMED
    callers = Callers(TokenTable(()), JwtVerifier(RULES, held(RSA.jwk())))
    assert isinstance(await callers.recognise([b"Bearer " + token.encode()]), Rejection)


# --- the header --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "accepted"),
    [
        ("at+jwt", True),
        ("AT+JWT", True),
        ("application/at+jwt", True),
        ("JWT", True),
        ("jwt", True),
        (MISSING, True),
        ("id+jwt", False),
        ("ID", False),
        ("logout+jwt", False),
        ("dpop+jwt", False),
        ("secevent+jwt", False),
        ("rt+jwt", False),
        ("JOSE", False),
        ("", False),
        (" at+jwt", False),
        (None, False),
        (1, False),
        (["at+jwt"], False),
    ],
    ids=str,
)
async def test_the_type_tells_access_tokens_from_others(kind: Any, accepted: bool) -> None:
    found = await judged(compact(RSA, header_of(RSA, typ=kind), claims_of()))
    assert found == (OWNER if accepted else Rejection.TYPE)


@pytest.mark.parametrize("crit", [["exp"], ["b64"], [], None, "b64", {"b64": 1}, ["canary"]], ids=str)
async def test_what_is_critical_is_not_understood(crit: Any) -> None:
    assert await judged(compact(RSA, header_of(RSA, crit=crit), claims_of())) is Rejection.CRITICAL


@pytest.mark.parametrize("value", [True, False, None])
async def test_a_payload_in_another_coding_is_refused(value: Any) -> None:
    assert await judged(compact(RSA, header_of(RSA, b64=value), claims_of())) is Rejection.CRITICAL


@pytest.mark.parametrize(
    "text",
    [
        '{"alg":"none","alg":"RS256","kid":"rsa-1"}',
        '{"alg":"RS256","alg":"none","kid":"rsa-1"}',
        '{"alg":"RS256","kid":"rsa-2","kid":"rsa-1"}',
        '{"alg":"RS256","kid":"rsa-1","x":{"a":1,"a":2}}',
        '{"alg":"RS256","kid":"rsa-1","x":NaN}',
        '{"alg":"RS256","kid":"rsa-1","x":"\\ud800"}',
        '{"alg":"RS256","kid":"rsa-1","x":' + "[" * 100 + "]" * 100 + "}",
        '{"alg":"RS256","kid":"rsa-1"} x',
        '["RS256"]',
        '"RS256"',
        "null",
        "canary",
    ],
)
async def test_a_header_that_is_not_one_plain_object_is_refused(text: str) -> None:
    assert await judged(compact(RSA, text.encode(), claims_of())) is Rejection.MALFORMED


@pytest.mark.parametrize("kid", [None, 1, True, ["rsa-1"], {"rsa-1": 1}], ids=str)
async def test_the_name_of_a_key_is_a_text(kid: Any) -> None:
    assert await judged(compact(RSA, header_of(RSA, kid=kid), claims_of())) is Rejection.MALFORMED


@pytest.mark.parametrize(
    "kid",
    ["rsa-9", "", "RSA-1", "rsa-1 ", "../../../../dev/null", "/etc/passwd", "https://evil.example/keys", "' OR 1=1 --",
     "rsa-1\x00", "rsa-1\r\n", "%2e%2e", "x" * 8000, "\u202ersa"],
    ids=lambda kid: kid[:20],
)  # fmt: skip
async def test_a_key_of_any_other_name_is_nobodys(kid: str) -> None:
    assert await judged(compact(RSA, header_of(RSA, kid=kid), claims_of())) is Rejection.UNKNOWN_KEY


async def test_keys_that_a_token_brings_along_are_ignored() -> None:
    """RFC 7515, 4.1.2 to 4.1.8: all of these say where a key is; none of them is asked."""
    mine, theirs = RSA, rsa_key("rsa-evil")
    brought = {
        "jwk": theirs.jwk(),
        "jku": "https://evil.example/keys",
        "x5u": "https://evil.example/chain",
        "x5c": ["MIIB"],
        "x5t": "AA",
        "x5t#S256": "AA",
        "iss": "https://evil.example/",
    }
    forged = compact(theirs, header_of(theirs, kid=mine.kid, **brought), claims_of())
    assert await judged(forged, mine) is Rejection.SIGNATURE
    assert await judged(compact(mine, header_of(mine, **brought), claims_of()), mine) == OWNER


async def test_the_signature_of_another_key_is_refused() -> None:
    theirs = rsa_key("rsa-evil")
    assert await judged(compact(theirs, header_of(RSA), claims_of())) is Rejection.SIGNATURE


async def test_two_keys_of_one_name_are_told_apart_by_their_kind() -> None:
    """RFC 7517, 4.5: keys of different types may share a name."""
    first, second = RSA, ec_key("P-256", kid=RSA.kid)
    for key in (first, second):
        assert await judged(mint(key), first, second) == OWNER


async def test_somebody_elses_token_asks_for_no_key() -> None:
    source = held(RSA.jwk())
    for changes in ({"iss": "https://other.example.com/"}, {"aud": "x"}, {"exp": 1}, {"nbf": 9e9}, {"token_use": "id"}):
        assert isinstance(await with_keys(mint(**changes), source), Rejection)
    assert source.asked == []


def test_what_was_read_of_a_token_does_not_print() -> None:
    from mailgate.server.jwt_form import TokenRefused, parse_token

    token = mint(canary="canary-claim")
    printed = repr(parse_token(token)) + repr(TokenRefused(Rejection.SIGNATURE)) + repr(RULES) + repr(held(RSA.jwk()))
    for part in (*token.split("."), "canary", SUBJECT, "rsa-1"):
        assert part not in re.sub(r"kid='rsa-1'", "", printed)
