"""Getting the keys from an issuer on the network: discovery, TLS, and everything an issuer can do wrong."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from mailgate.keys.cache import IssuerKeys
from mailgate.keys.discovery import metadata_urls
from mailgate.keys.fetching import HttpDocuments
from mailgate.keys.trouble import KeysUnavailable, KeyTrouble
from mailgate.limits import KEY_DOCUMENT_BYTES_MAX
from tests.peers.authority import authority, foreign_authority
from tests.peers.issuer import BIG, Issuer, IssuerFault, Reply
from tests.peers.processes import free_ports
from tests.peers.signing import rsa_key


def keys_of(
    issuer: Issuer, *, discover: bool = False, ca_file: Path | None = None, seconds: float = 30.0
) -> IssuerKeys:
    url = None if discover else issuer.jwks_url
    return IssuerKeys(issuer.url, url, HttpDocuments(ca_file), seconds=seconds)


async def kids(keys: IssuerKeys) -> list[str | None]:
    return [key.kid for key in await keys.find("rsa-1", "RS256")]


async def trouble(keys: IssuerKeys) -> KeyTrouble:
    with pytest.raises(KeysUnavailable) as caught:
        await keys.find("rsa-1", "RS256")
    return caught.value.trouble


# --- where the metadata is -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("issuer", "urls"),
    [
        (
            "https://login.example.com",
            ["https://login.example.com/.well-known/oauth-authorization-server",
             "https://login.example.com/.well-known/openid-configuration"],
        ),
        (
            "https://login.example.com/",
            ["https://login.example.com/.well-known/oauth-authorization-server",
             "https://login.example.com/.well-known/openid-configuration"],
        ),
        (
            "https://login.example.com:8443/realms/mail/",
            ["https://login.example.com:8443/.well-known/oauth-authorization-server/realms/mail",
             "https://login.example.com:8443/.well-known/openid-configuration/realms/mail",
             "https://login.example.com:8443/realms/mail/.well-known/openid-configuration"],
        ),
    ],
)  # fmt: skip
def test_metadata_is_looked_for_where_the_standards_put_it(issuer: str, urls: list[str]) -> None:
    assert list(metadata_urls(issuer)) == urls


@pytest.mark.parametrize("path", ["", "/", "/realms/mail", "/realms/mail/"])
async def test_keys_are_discovered(path: str) -> None:
    async with Issuer(path=path) as issuer:
        assert await kids(keys_of(issuer, discover=True)) == ["rsa-1"]
        assert issuer.fetches() == 1


@pytest.mark.parametrize("kept", ["oauth-authorization-server", "openid-configuration"])
@pytest.mark.parametrize(
    "fault", [IssuerFault.NOT_FOUND, IssuerFault.HTML, IssuerFault.REDIRECT, IssuerFault.ERROR_500]
)
async def test_one_of_the_documents_is_enough(kept: str, fault: IssuerFault) -> None:
    async with Issuer(path="/realms/mail") as issuer:
        issuer.faults = {path: fault for path in issuer.documents if kept not in path}
        assert await kids(keys_of(issuer, discover=True)) == ["rsa-1"]


async def test_discovery_is_done_once_while_the_keys_stay_where_they_are() -> None:
    now = 1_800_000_000.0
    async with Issuer() as issuer:
        keys = IssuerKeys(issuer.url, None, HttpDocuments(), clock=lambda: now, seconds=30.0)
        await kids(keys)
        now += 400
        await kids(keys)
        assert (len(issuer.requests), issuer.fetches()) == (3, 2)
        issuer.faults["/keys"] = IssuerFault.NOT_FOUND
        issuer.metadata["jwks_uri"] = f"{issuer.base}/moved"
        issuer.routes["GET", "/moved"] = lambda _seen: Reply.json({"keys": [rsa_key().jwk()]})
        now += 400
        assert await kids(keys) == ["rsa-1"]
        now += 30
        assert await kids(keys) == ["rsa-1"]
    assert issuer.paths()[-2:] == ["/.well-known/oauth-authorization-server", "/moved"]


MISMATCHES = ["{base}/", "{base}/other", "http://127.0.0.1", "https://evil.example", "", None, 1, ["{base}"], {"a": 1}]


@pytest.mark.parametrize("said", MISMATCHES, ids=str)
async def test_metadata_of_another_issuer_is_not_believed(said: Any) -> None:
    async with Issuer() as issuer:
        issuer.metadata["issuer"] = said.format(base=issuer.url) if isinstance(said, str) else said
        assert await trouble(keys_of(issuer, discover=True)) is KeyTrouble.ISSUER_MISMATCH
        assert issuer.fetches() == 0


async def test_metadata_without_an_issuer_is_nobodys() -> None:
    async with Issuer() as issuer:
        reply = Reply.json({"jwks_uri": issuer.jwks_url})
        issuer.routes |= {("GET", path): lambda _seen: reply for path in issuer.documents}
        assert await trouble(keys_of(issuer, discover=True)) is KeyTrouble.ISSUER_MISMATCH


@pytest.mark.parametrize(
    "url",
    ["http://login.example.com/keys", "http://10.0.0.1/keys", "http://169.254.169.254/latest", "file:///etc/passwd",
     "ftp://127.0.0.1/keys", "/keys", "//127.0.0.1/keys", "https://", "https:///keys", "https://user:pw@127.0.0.1/keys",
     "https://127.0.0.1/keys#x", "https://127.0.0.1:99999/keys", "https://[::1/keys", "https://127.0.0.1/ke ys",
     "https://127.0.0.1/\r\nX: y", "https://ö.example/keys", "https://127.0.0.1/" + "x" * 3000, "", None, 1, ["https://x"],
     {"a": 1}],
    ids=lambda url: str(url)[:30],
)  # fmt: skip
async def test_keys_are_only_taken_from_a_safe_address(url: Any) -> None:
    async with Issuer() as issuer:
        issuer.metadata["jwks_uri"] = url
        assert await trouble(keys_of(issuer, discover=True)) is KeyTrouble.KEYS_URL
        assert issuer.fetches() == 0


async def test_nothing_of_ours_goes_to_the_issuer_but_the_question() -> None:
    async with Issuer() as issuer:
        await kids(keys_of(issuer, discover=True))
    for seen in issuer.requests:
        assert (seen.method, seen.body, seen.query) == ("GET", b"", {})
        assert set(seen.fields) <= {"host", "accept", "accept-encoding", "user-agent", "connection"}
        assert seen.fields["user-agent"] == "mailgate"


async def test_a_proxy_in_the_environment_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with Issuer() as issuer:
        assert await kids(keys_of(issuer)) == ["rsa-1"]


# --- what an issuer can do wrong -----------------------------------------------------------------------------------

FAULTS = {
    IssuerFault.CLOSE: KeyTrouble.UNREACHABLE,
    IssuerFault.STALL: KeyTrouble.TIMEOUT,
    IssuerFault.DRIP: KeyTrouble.TIMEOUT,
    IssuerFault.NOT_FOUND: KeyTrouble.STATUS,
    IssuerFault.ERROR_500: KeyTrouble.STATUS,
    IssuerFault.BUSY_429: KeyTrouble.STATUS,
    IssuerFault.REDIRECT: KeyTrouble.REDIRECT,
    IssuerFault.HTML: KeyTrouble.UNREADABLE,
    IssuerFault.EMPTY: KeyTrouble.UNREADABLE,
    IssuerFault.LIST: KeyTrouble.UNREADABLE,
    IssuerFault.OTHER_OBJECT: KeyTrouble.UNREADABLE,
    IssuerFault.DEEP: KeyTrouble.UNREADABLE,
    IssuerFault.NOT_UTF_8: KeyTrouble.UNREADABLE,
    IssuerFault.ENDLESS: KeyTrouble.TOO_LARGE,
    IssuerFault.CHUNKED_ENDLESS: KeyTrouble.TOO_LARGE,
    IssuerFault.PACKED: KeyTrouble.ENCODED,
    IssuerFault.TRUNCATED: KeyTrouble.UNREACHABLE,
}


def patience(fault: IssuerFault) -> float:
    """Little where time is what ends it, and enough for a busy machine elsewhere."""
    return 0.2 if FAULTS[fault] is KeyTrouble.TIMEOUT else 30.0


def test_every_fault_is_tried_here() -> None:
    assert set(FAULTS) == set(IssuerFault)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.lower())
async def test_a_faulty_answer_is_no_key_and_the_next_good_one_is(fault: IssuerFault) -> None:
    now = 1_800_000_000.0
    async with Issuer() as issuer:
        issuer.faults["/keys"] = fault
        keys = IssuerKeys(issuer.url, issuer.jwks_url, HttpDocuments(), clock=lambda: now, seconds=patience(fault))
        assert await trouble(keys) is FAULTS[fault]
        issuer.faults.clear()
        now += 30
        assert await kids(keys) == ["rsa-1"]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.lower())
async def test_faulty_metadata_leads_to_no_key(fault: IssuerFault) -> None:
    async with Issuer() as issuer:
        issuer.faults = dict.fromkeys(issuer.documents, fault)
        found = await trouble(keys_of(issuer, discover=True, seconds=patience(fault)))
        assert found is (KeyTrouble.KEYS_URL if fault is IssuerFault.OTHER_OBJECT else FAULTS[fault])
        assert issuer.fetches() == 0


async def test_a_redirect_is_not_followed_wherever_it_leads() -> None:
    async with Issuer() as issuer, Issuer() as other:
        issuer.faults["/keys"] = IssuerFault.REDIRECT
        for elsewhere in (other.jwks_url, f"{issuer.base}/moved", "/moved", "//127.0.0.1/"):
            issuer.elsewhere = elsewhere
            assert await trouble(keys_of(issuer)) is KeyTrouble.REDIRECT
        assert other.requests == []
        assert set(issuer.paths()) == {"/keys"}


async def test_a_large_answer_is_not_read_to_its_end() -> None:
    received = 0

    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal received
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % BIG)
        try:
            while received < BIG:
                writer.write(b" " * 65536)
                received += 65536
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(endless, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/keys"
    async with server:
        assert await trouble(IssuerKeys("http://127.0.0.1", url, HttpDocuments())) is KeyTrouble.TOO_LARGE
    # What is sent and not read stays in socket buffers, which hold a few MiB.
    assert KEY_DOCUMENT_BYTES_MAX < received < BIG


async def test_a_set_of_many_keys_is_looked_at_in_part() -> None:
    async with Issuer() as issuer:
        issuer.keys = []
        issuer.extra_keys = [{"kty": "oct"}] * 100 + [rsa_key().jwk()]
        assert await kids(keys_of(issuer)) == []
        issuer.extra_keys = [{"kty": "oct"}] * 99 + [rsa_key().jwk()]
        assert await kids(keys_of(issuer)) == ["rsa-1"]


async def test_nobody_listens() -> None:
    (port,) = free_ports(1)
    for url in (f"http://127.0.0.1:{port}/keys", f"https://127.0.0.1:{port}/keys"):
        assert await trouble(IssuerKeys("http://127.0.0.1", url, HttpDocuments())) is KeyTrouble.UNREACHABLE


async def test_a_name_that_does_not_exist() -> None:
    keys = IssuerKeys("https://login.invalid", None, HttpDocuments())
    assert await trouble(keys) in (KeyTrouble.UNREACHABLE, KeyTrouble.TIMEOUT)


# --- TLS ---------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def over_tls(context: ssl.SSLContext, *, host: str = "localhost") -> Any:
    async with Issuer(tls=context, host=host) as issuer:
        yield issuer


async def test_an_authority_of_the_operators_own_is_trusted_for_the_issuer_too() -> None:
    async with over_tls(authority().certificate().server_context()) as issuer:
        assert await kids(keys_of(issuer, discover=True, ca_file=authority().ca_file)) == ["rsa-1"]
        assert issuer.url.startswith("https://")


WRONG = {
    "nobody trusts it": lambda: foreign_authority().certificate().server_context(),
    "it has expired": lambda: authority().certificate(expired=True).server_context(),
    "it is for another host": lambda: authority().certificate("login.example.com").server_context(),
    "its TLS is too old": lambda: authority().certificate().server_context(maximum=ssl.TLSVersion.TLSv1_1),
}


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion")
@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("discover", [False, True], ids=["keys", "metadata"])
async def test_an_issuer_that_does_not_prove_who_it_is_gives_no_keys(kind: str, discover: bool) -> None:
    async with over_tls(WRONG[kind]()) as issuer:
        found = await trouble(keys_of(issuer, discover=discover, ca_file=authority().ca_file))
        assert found is KeyTrouble.TLS
        assert issuer.requests == []


async def test_without_the_operators_authority_its_certificates_prove_nothing() -> None:
    async with over_tls(authority().certificate().server_context()) as issuer:
        assert await trouble(keys_of(issuer)) is KeyTrouble.TLS


async def test_a_server_without_tls_gives_no_keys_over_https() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1024)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(plain, "127.0.0.1", 0)
    url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/keys"
    async with server:
        assert await trouble(IssuerKeys("https://127.0.0.1", url, HttpDocuments())) is KeyTrouble.TLS


async def test_an_authority_file_that_went_away_is_trouble_and_no_crash(tmp_path: Path) -> None:
    async with Issuer() as issuer:
        assert await trouble(keys_of(issuer, ca_file=tmp_path / "gone.pem")) is KeyTrouble.CA_FILE
