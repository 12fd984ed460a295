"""Broken issuers: the right cause is named, with the door that fetches keys for tokens."""

from __future__ import annotations

import pytest

from mailgate.doctor.issuer import TROUBLES
from mailgate.keys.trouble import KeyTrouble
from tests.doctor.deployment import SHORT, Examined, black_hole, closed_port, examined, imap
from tests.peers.authority import authority, foreign_authority
from tests.peers.issuer import Issuer, IssuerFault

PUBLIC = "http://localhost:8000/mcp"


async def examined_issuer(url: str, **more: str) -> Examined:
    oauth = {"MAIL_OAUTH_ISSUER": url, "MAIL_OWNER_SUBJECTS": "owner", "MAIL_PUBLIC_URL": PUBLIC}
    return await examined(imap(closed_port(), **{**oauth, **more}), patience=SHORT)


def failures_of(found: Examined) -> list[str]:
    return [check for check in found.failures if not check.startswith("imap.")]


async def test_a_healthy_issuer() -> None:
    async with Issuer(path="/realms/home") as issuer:
        found = await examined_issuer(issuer.url)
        assert {seen.method for seen in issuer.requests} == {"GET"}
    assert failures_of(found) == []
    assert found.verdict("issuer.metadata") == "ok"
    assert found.cause("issuer.keys") == "1 usable."
    assert found.verdict("http") == "ok"


async def test_an_issuer_that_calls_itself_otherwise() -> None:
    async with Issuer() as issuer:
        found = await examined_issuer(f"{issuer.url}/")
    assert failures_of(found) == ["issuer.metadata"]
    assert "names another issuer" in found.cause("issuer.metadata")
    assert "letter for letter" in found.next_step("issuer.metadata")


async def test_an_issuer_without_metadata() -> None:
    async with Issuer() as issuer:
        issuer.faults["*"] = IssuerFault.NOT_FOUND
        found = await examined_issuer(issuer.url)
    assert failures_of(found) == ["issuer.metadata"]
    assert "no document there" in found.cause("issuer.metadata")


async def test_keys_that_cannot_be_fetched() -> None:
    async with Issuer() as issuer:
        issuer.faults["/keys"] = IssuerFault.REDIRECT
        found = await examined_issuer(issuer.url)
    assert failures_of(found) == ["issuer.keys"]
    assert "redirects are not followed" in found.cause("issuer.keys")


async def test_a_key_set_without_a_usable_key() -> None:
    async with Issuer() as issuer:
        issuer.keys = []
        issuer.extra_keys = [{"kty": "oct", "k": "c2VjcmV0", "alg": "HS256"}]
        found = await examined_issuer(issuer.url)
    assert failures_of(found) == ["issuer.keys"]
    assert "no key that a signature can be checked with" in found.cause("issuer.keys")


async def test_keys_from_a_configured_place_do_without_metadata_but_clients_do_not() -> None:
    async with Issuer() as issuer:
        for path in issuer.documents:
            issuer.faults[path] = IssuerFault.NOT_FOUND
        found = await examined_issuer(issuer.url, MAIL_OAUTH_JWKS_URL=issuer.jwks_url)
    assert failures_of(found) == []
    assert found.verdict("issuer.metadata") == "warn"
    assert "clients cannot find the login" in found.cause("issuer.metadata")
    assert found.verdict("issuer.keys") == "ok"


async def test_an_issuer_that_says_nothing() -> None:
    async with Issuer() as issuer:
        issuer.faults["*"] = IssuerFault.STALL
        found = await examined_issuer(issuer.url)
    assert failures_of(found) == ["issuer.metadata"]
    assert "does not answer in time" in found.cause("issuer.metadata")
    with black_hole() as port:
        found = await examined_issuer(f"http://127.0.0.1:{port}")
    assert failures_of(found) == ["issuer.metadata"]


async def test_an_issuer_that_cannot_be_reached() -> None:
    port = closed_port()
    found = await examined_issuer(f"http://127.0.0.1:{port}")
    assert failures_of(found) == ["issuer.metadata"]
    assert f"refuses connections on port {port}" in found.cause("issuer.metadata")
    assert "MAIL_OAUTH_ISSUER" in found.next_step("issuer.metadata")


async def test_an_issuer_whose_name_does_not_resolve() -> None:
    found = await examined_issuer("https://login.nowhere.invalid")
    assert failures_of(found) == ["issuer.metadata"]
    assert "login.nowhere.invalid" in found.cause("issuer.metadata")


CERTIFICATES = {
    "wrong host": (lambda: authority().certificate("login.example.net"), "for another host than localhost"),
    "expired": (lambda: authority().certificate(expired=True), "has expired"),
    "unknown authority": (lambda: foreign_authority().certificate(), "does not know"),
}


@pytest.mark.parametrize("kind", CERTIFICATES)
async def test_a_bad_certificate_is_told_from_another(kind: str) -> None:
    certificate, cause = CERTIFICATES[kind]
    async with Issuer(tls=certificate().server_context(), host="localhost") as issuer:
        found = await examined_issuer(issuer.url)
    assert failures_of(found) == ["issuer.metadata"]
    assert cause in found.cause("issuer.metadata")


def test_every_trouble_has_words() -> None:
    assert set(TROUBLES) == set(KeyTrouble)


async def test_an_audience_that_clients_do_not_ask_for() -> None:
    async with Issuer() as issuer:
        found = await examined_issuer(issuer.url, MAIL_OAUTH_AUDIENCE="urn:something-else")
    assert found.verdict("public_url") == "warn"
    assert "MAIL_OAUTH_AUDIENCE differs" in found.cause("public_url")
