"""Calls with the issuer's tokens over HTTP, in both eras: let in, turned away, asked for more, told to come later.

Whatever is not let in reaches no mail server, no submission server and no store.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from mailgate.policy import Principal
from mailgate.server.catalog import TOOLS
from mailgate.server.http import PRINCIPAL
from tests.peers.issuer import Issuer, IssuerFault
from tests.peers.signing import AUDIENCE, MISSING, SUBJECT, compact, header_of, rsa_key
from tests.server.fakes import ERAS, OWNER_TOKEN, Post, http_client
from tests.server.oauth.deployment import HOST, Watched, application, watched

ALL = "mail.read mail.write mail.send"
METADATA = "https://mail.example.com/.well-known/oauth-protected-resource/mcp"
REFERENCE = {"folder": "INBOX", "uid_validity": 1, "uid": 2}
SEND = {"prepared_id": "A" * 22, "confirmed_digest": "0" * 64}
MESSAGE = {"message": {"to": ["a@example.com"], "subject": "x"}}

pytestmark = pytest.mark.parametrize("era", ERAS)


def challenge(scope: str, error: str | None = None) -> str:
    said = f'error="{error}", ' if error else ""
    return f'Bearer {said}scope="{scope}", resource_metadata="{METADATA}"'


async def listed(box: Watched, era: str, token: str | None, **headers: str) -> int:
    post = Post("tools/list", era=era, token=token, headers={"Host": HOST, **headers})
    return (await post.to(box.app)).status_code


# --- let in ------------------------------------------------------------------------------------------------------


async def test_the_owner_is_let_in_and_known_by_issuer_and_subject(era: str) -> None:
    async with watched() as box:
        seen: list[Principal] = []
        endpoint = box.app._endpoint

        async def spy(scope: Any, receive: Any, send: Any) -> None:
            seen.append(scope[PRINCIPAL])
            await endpoint(scope, receive, send)

        box.app._endpoint = spy
        post = Post.call("mail_capabilities", era=era, token=box.issuer.mint(scope="mail.read mail.send"))
        result = (await post.to(box.app)).json()["result"]
        assert [(caller.issuer, caller.subject) for caller in seen] == [(box.issuer.url, SUBJECT)]
        assert result["structuredContent"]["scopes"] == ["mail.read", "mail.send"]


async def test_any_valid_token_may_list_tools(era: str) -> None:
    async with watched() as box:
        with box.untouched():
            for scope in ("", "openid", "mail.write"):
                response = await Post("tools/list", era=era, token=box.issuer.mint(scope=scope)).to(box.app)
                assert len(response.json()["result"]["tools"]) == len(TOOLS)


async def test_static_tokens_and_the_issuers_are_accepted_side_by_side(era: str) -> None:
    async with watched() as box:
        assert await listed(box, era, OWNER_TOKEN) == 200
        assert box.issuer.requests == []
        assert await listed(box, era, box.issuer.mint()) == 200
        assert await listed(box, era, OWNER_TOKEN[:-1]) == 401


async def test_an_audience_of_the_operators_own_is_the_one_that_counts(era: str) -> None:
    async with watched(MAIL_OAUTH_AUDIENCE="api://mailgate") as box:
        assert await listed(box, era, box.issuer.mint(aud=["api://mailgate", "other"])) == 200
        assert await listed(box, era, box.issuer.mint()) == 401


@pytest.mark.parametrize("configured", [False, True], ids=["discovered", "configured"])
async def test_keys_come_from_the_configured_place_or_the_discovered_one(era: str, configured: bool) -> None:
    async with Issuer(path="/realms/mail") as issuer:
        app = application(issuer.url, MAIL_OAUTH_JWKS_URL=issuer.jwks_url if configured else "")
        post = Post("tools/list", era=era, token=issuer.mint())
        assert (await post.to(app)).status_code == 200
        assert ("/keys" in issuer.paths(), len(issuer.requests) == 1) == (True, configured)


# --- turned away ---------------------------------------------------------------------------------------------------

NO_TOKEN: dict[str, str] = {"none": ""}
BAD_CREDENTIALS: dict[str, Callable[[str], str]] = {
    "empty": lambda good: "",
    "only the scheme": lambda good: "Bearer",
    "nothing after the scheme": lambda good: "Bearer ",
    "another scheme": lambda good: f"Basic {good}",
    "proof of possession": lambda good: f"DPoP {good}",
    "no scheme": lambda good: good,
    "garbage": lambda good: "Bearer canary-garbage",
    "cut": lambda good: f"Bearer {good[:-1]}",
    "cut to two parts": lambda good: f"Bearer {good.rpartition('.')[0]}",
    "without signature": lambda good: f"Bearer {good.rpartition('.')[0]}.",
    "two tokens": lambda good: f"Bearer {good} {good}",
    "a list": lambda good: f"Bearer {good}, Bearer {good}",
    "quoted": lambda good: f'Bearer "{good}"',
    "longer than any": lambda good: f"Bearer {good}{'A' * 20_000}",
    "padded": lambda good: f"Bearer {good}=",
}


@pytest.mark.parametrize("kind", BAD_CREDENTIALS)
async def test_a_credential_of_no_form_is_an_invalid_token(era: str, kind: str) -> None:
    async with watched() as box:
        good = box.issuer.mint()
        post = Post.call("mail_search", era=era, token=None, headers={"Authorization": BAD_CREDENTIALS[kind](good)})
        with box.untouched():
            response = await post.to(box.app)
        assert response.status_code == 401
        assert response.headers["www-authenticate"] == challenge(ALL, "invalid_token")
        assert box.issuer.requests == []


async def test_without_a_token_there_is_a_challenge_and_no_error(era: str) -> None:
    async with watched() as box:
        with box.untouched():
            response = await Post.call("mail_search", era=era, token=None).to(box.app)
        assert response.status_code == 401
        assert response.headers["www-authenticate"] == challenge(ALL)
        assert box.issuer.requests == []


@pytest.mark.parametrize("place", ["query", "query in capitals", "body", "form", "cookie"])
async def test_a_token_anywhere_but_in_its_field_is_none(era: str, place: str) -> None:
    async with watched() as box:
        token = box.issuer.mint()
        post = Post.call("mail_search", era=era, token=None)
        path, content, fields = "/mcp", post.content(), post.fields()
        if place.startswith("query"):
            name = "ACCESS_TOKEN" if "capitals" in place else "access_token"
            path = f"/mcp?{name}={token}"
            fields["Authorization"] = f"Bearer {token}"
        elif place == "body":
            content = json.dumps({**json.loads(content), "access_token": token}).encode()
        elif place == "form":
            content, fields["Content-Type"] = f"access_token={token}".encode(), "application/x-www-form-urlencoded"
        else:
            fields["Cookie"] = f"access_token={token}"
        with box.untouched():
            async with http_client(box.app, None) as client:
                response = await client.post(path, content=content, headers=fields)
        assert response.status_code == 401
        assert token not in response.text
        assert box.issuer.requests == []


async def test_two_authorization_fields_are_none(era: str) -> None:
    async with watched() as box:
        token = box.issuer.mint()
        post = Post.call("mail_search", era=era, token=None)
        fields = [*post.fields().items(), *[("Authorization", f"Bearer {token}")] * 2]
        with box.untouched():
            async with http_client(box.app, None) as client:
                assert (await client.post("/mcp", content=post.content(), headers=fields)).status_code == 401


BAD_CLAIMS: dict[str, dict[str, Any]] = {
    **{f"{claim} {name}": {claim: value} for claim in ("iss", "aud", "sub", "exp") for name, value in
       {"missing": MISSING, "null": None, "number": 7, "true": True, "list": ["x"], "text": "x", "object": {"x": 1},
        "huge": 10**40}.items()},
    "iss with a slash": {"iss": lambda issuer: issuer.url + "/"},
    "iss in capitals": {"iss": lambda issuer: issuer.url.upper()},
    "aud of another port": {"aud": "https://mail.example.com:8443/mcp"},
    "aud that only begins like ours": {"aud": "https://mail.example.com/mcp.evil.example"},
    "aud without the path": {"aud": "https://mail.example.com"},
    "aud over http": {"aud": "http://mail.example.com/mcp"},
    "aud list without ours": {"aud": ["https://other.example.com/mcp"]},
    "expired": {"exp": 1_000_000_000},
    "not yet valid": {"nbf": 9_000_000_000},
    "issued in the future": {"iat": 9_000_000_000},
    "nbf text": {"nbf": "0"},
    "somebody else": {"sub": "somebody-else"},
    "scope list": {"scope": ["mail.read"]},
    "scope object": {"scope": {"mail.read": True}},
    "an ID token": {"typ": "ID"},
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_CLAIMS)
async def test_a_token_with_a_wrong_claim_is_turned_away_without_saying_why(era: str, kind: str) -> None:
    async with watched() as box:
        changes = {name: value(box.issuer) if callable(value) else value for name, value in BAD_CLAIMS[kind].items()}
        token = box.issuer.mint(**changes)
        with box.untouched():
            response = await Post.call("mail_search", era=era, token=token).to(box.app)
        assert response.status_code == 401
        assert response.headers["www-authenticate"] == challenge(ALL, "invalid_token")
        assert response.json() == {"error": "unauthorized", "error_description": "A valid bearer token is needed."}


@pytest.mark.parametrize("header", [{"alg": "none"}, {"alg": "HS256"}, {"alg": "ES256"}, {"kid": "rsa-9"},
                                    {"kid": "../keys"}, {"crit": ["exp"]}, {"typ": "id+jwt"}], ids=str)  # fmt: skip
async def test_a_token_with_a_wrong_header_is_turned_away(era: str, header: dict[str, Any]) -> None:
    async with watched() as box:
        key = box.issuer.keys[0]
        token = compact(key, header_of(key, **header), box.issuer.claims())
        with box.untouched():
            response = await Post.call("mail_search", era=era, token=token).to(box.app)
        assert response.status_code == 401
        assert response.headers["www-authenticate"] == challenge(ALL, "invalid_token")


async def test_a_token_of_another_key_is_turned_away(era: str) -> None:
    async with watched() as box:
        theirs = rsa_key("rsa-evil")
        brought = {"jku": "http://127.0.0.1:9/keys", "jwk": theirs.jwk()}
        for header in (header_of(theirs), header_of(box.issuer.keys[0]), header_of(theirs, **brought)):
            with box.untouched():
                assert await listed(box, era, compact(theirs, header, box.issuer.claims())) == 401
        assert box.issuer.fetches() == 1


# --- asked for more ------------------------------------------------------------------------------------------------

NEEDS: dict[str, tuple[dict[str, Any], str]] = {
    **{tool.name: ({}, "mail.read mail.write") for tool in TOOLS},
    **{tool.name: ({}, "mail.read") for tool in TOOLS if tool.hints.read_only},
    "mail_prepare_send": (MESSAGE, "mail.read mail.send"),
    "mail_prepare_reply": ({"reference": REFERENCE, **MESSAGE}, "mail.read mail.send"),
    "mail_prepare_forward": ({"reference": REFERENCE, **MESSAGE}, "mail.read mail.send"),
    "mail_send_confirmed": ({**SEND, "append_sent": False}, "mail.read mail.send"),
}
CALLS = [*((name, *needs) for name, needs in NEEDS.items()),
         ("mail_send_confirmed", {**SEND, "append_sent": True}, ALL),
         ("mail_send_confirmed", {**SEND, "append_sent": "true"}, ALL)]  # fmt: skip
GRANTS = ["", "openid", "mail.read", "mail.write", "mail.send", "mail.read mail.write", "mail.read mail.send",
          "mail.write mail.send"]  # fmt: skip


@pytest.mark.requirement("A31")
@pytest.mark.parametrize(("name", "arguments", "needed"), CALLS, ids=lambda value: str(value)[-40:])
async def test_a_call_that_needs_more_names_all_it_needs_in_one_go(
    era: str, name: str, arguments: dict[str, Any], needed: str
) -> None:
    async with watched() as box:
        for granted in GRANTS:
            if set(needed.split()) <= set(granted.split()):
                continue
            with box.untouched():
                post = Post.call(name, arguments, era=era, token=box.issuer.mint(scope=granted))
                response = await post.to(box.app)
            assert response.status_code == 403, granted
            assert response.headers["www-authenticate"] == challenge(needed, "insufficient_scope")


async def test_a_closed_gate_asks_for_nothing(era: str) -> None:
    async with watched(MAIL_ENABLE_SEND="", MAIL_ENABLE_WRITES="") as box:
        for name, arguments, _needed in CALLS:
            if name in [tool.name for tool in TOOLS if tool.hints.read_only]:
                continue
            with box.untouched():
                response = await Post.call(name, arguments, era=era, token=box.issuer.mint(scope="mail.read")).to(
                    box.app
                )
            assert response.status_code == 200
            assert response.json()["result"]["content"][0]["text"].startswith("error gate_closed: ")


async def test_with_what_was_missing_the_same_call_is_let_through(era: str) -> None:
    async with watched() as box:
        assert (
            await Post.call("mail_search", era=era, token=box.issuer.mint(scope="mail.write")).to(box.app)
        ).status_code == 403
        response = await Post.call("mail_search", era=era, token=box.issuer.mint(scope="mail.read")).to(box.app)
        assert response.status_code == 200
        assert box.upstream["imap"].connections > 0


# --- told to come later --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", list(IssuerFault), ids=lambda fault: fault.name.lower())
async def test_trouble_with_the_issuer_is_503_and_a_time(era: str, fault: IssuerFault) -> None:
    async with watched() as box:
        box.issuer.faults["*"] = fault
        box.app._callers.jwts._keys._seconds = 0.3  # type: ignore[union-attr]
        with box.untouched():
            response = await Post.call("mail_search", era=era, token=box.issuer.mint()).to(box.app)
        assert response.status_code == 503
        assert 1 <= int(response.headers["retry-after"]) <= 30
        assert "www-authenticate" not in response.headers
        assert response.json()["error"] == "keys_unavailable"


async def test_in_an_outage_other_tokens_are_what_they_were(era: str) -> None:
    async with watched() as box:
        box.issuer.faults["*"] = IssuerFault.ERROR_500
        with box.untouched():
            assert await listed(box, era, OWNER_TOKEN) == 200
            assert await listed(box, era, None) == 401
            assert await listed(box, era, "canary") == 401
            assert await listed(box, era, box.issuer.mint(exp=1)) == 401
            assert await listed(box, era, box.issuer.mint(iss="https://other.example.com")) == 401
            assert box.issuer.requests == []
            assert await listed(box, era, box.issuer.mint()) == 503


async def test_an_outage_after_the_first_call_is_not_noticed(era: str) -> None:
    async with watched() as box:
        assert await listed(box, era, box.issuer.mint()) == 200
        box.issuer.faults["*"] = IssuerFault.CLOSE
        for _ in range(5):
            assert await listed(box, era, box.issuer.mint()) == 200
        assert box.issuer.fetches() == 1


# --- who asks from where -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("host", "status"),
    [(HOST, 200), (f"{HOST}:443", 200), (HOST.upper(), 200), ("localhost:8000", 200), ("127.0.0.1", 200),
     ("[::1]:80", 200),
     ("evil.example", 421), (f"{HOST}.evil.example", 421), ("evil.example:443", 421), ("10.0.0.1", 421), ("", 421),
     (f"{HOST}@evil.example", 421), (f"evil.example/{HOST}", 421)],
)  # fmt: skip
async def test_the_public_host_and_this_machine_are_answered_for(era: str, host: str, status: int) -> None:
    async with watched() as box:
        with box.untouched():
            assert await listed(box, era, box.issuer.mint(), Host=host) == status


@pytest.mark.parametrize(
    ("origin", "host", "status"),
    [("https://mail.example.com", HOST, 200), ("https://MAIL.example.com:443", HOST, 200),
     ("https://app.example.net", HOST, 200), ("http://localhost:6274", "localhost:8000", 200),
     ("http://localhost:6274", HOST, 403), ("https://evil.example", HOST, 403),
     ("https://evil.example", "localhost", 403),
     ("http://mail.example.com", HOST, 403), ("https://mail.example.com:8443", HOST, 403), ("null", HOST, 403),
     ("https://app.example.net.evil.example", HOST, 403), ("", HOST, 403)],
)  # fmt: skip
async def test_pages_of_other_origins_are_refused_even_with_a_good_token(
    era: str, origin: str, host: str, status: int
) -> None:
    async with watched(MAIL_ALLOWED_ORIGINS="https://app.example.net") as box:
        with box.untouched():
            assert await listed(box, era, box.issuer.mint(), Host=host, Origin=origin) == status


async def test_a_page_can_read_the_challenge(era: str) -> None:
    async with watched() as box:
        post = Post("tools/list", era=era, token=None, headers={"Host": HOST, "Origin": "https://mail.example.com"})
        response = await post.to(box.app)
        assert response.status_code == 401
        assert "WWW-Authenticate" in response.headers["access-control-expose-headers"]


async def test_a_routing_field_that_names_another_tool_gives_no_other_authority(era: str) -> None:
    async with watched() as box:
        for said, asked in (("mail_search", "mail_prepare_send"), ("mail_prepare_send", "mail_search")):
            post = Post.call(
                asked, MESSAGE, era=era, token=box.issuer.mint(scope="mail.read"), headers={"Mcp-Name": said}
            )
            with box.untouched():
                assert (await post.to(box.app)).status_code == 400


# --- over time -----------------------------------------------------------------------------------------------------


async def test_the_rules_hold_on_every_loop_after_another(era: str) -> None:
    """Serverless hosts run one call per event loop; the keys are kept, nothing of a loop is."""
    async with Issuer() as issuer:
        app = application(issuer.url)
        good = Post("tools/list", era=era, token=issuer.mint())
        bad = Post("tools/list", era=era, token=issuer.mint(aud="x"))
        for _ in range(10):
            assert (await asyncio.to_thread(asyncio.run, good.to(app))).status_code == 200
            assert (await asyncio.to_thread(asyncio.run, bad.to(app))).status_code == 401
        assert issuer.fetches() == 1


async def test_the_audience_is_the_public_url_unless_told_otherwise(era: str) -> None:
    async with watched() as box:
        assert await listed(box, era, box.issuer.mint(aud=AUDIENCE)) == 200
        assert await listed(box, era, box.issuer.mint(aud=box.issuer.url)) == 401
