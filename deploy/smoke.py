"""Check a deployed mailgate from outside, with Python's own library alone: a line per check, exit 1 on a failure.

    MAILGATE_TOKEN=… deploy/smoke https://mail.example.com/mcp

The token comes from the environment only and is never printed. Nothing is written and nothing is sent: the one tool
that is called is `mail_capabilities`, which logs in to the mail server and asks what it can do. Proxies are not used
and redirects are not followed.
"""

from __future__ import annotations

import argparse
import http.client
import ipaddress
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import SplitResult, urlsplit

TOKEN_VARIABLE = "MAILGATE_TOKEN"  # noqa: S105 - the name of a variable
BODY_MAX = 8 * 1024 * 1024
OLD_ERA = "2025-11-25"
NEW_ERA = "2026-07-28"
CLIENT = {"name": "mailgate-smoke", "version": "1"}
METADATA = "/.well-known/oauth-protected-resource"


class CheckFailed(Exception):
    """A check did not hold; the text says what was seen instead. It never holds a body or a token."""


class Skipped(Exception):
    """A check that cannot be made here, and why."""


@dataclass(frozen=True)
class Answer:
    """One HTTP answer. `fields` has names in lower case; a field that came twice is joined with a comma."""

    status: int
    fields: Mapping[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        """The body as one JSON object."""
        try:
            value = json.loads(self.body)
        except ValueError:
            raise CheckFailed(f"status {self.status}, and the body is no JSON") from None
        if not isinstance(value, dict):
            raise CheckFailed(f"status {self.status}, and the body is no JSON object")
        return value

    def expect(self, status: int) -> Answer:
        """This answer, if it has that status."""
        if self.status != status:
            where = " (a redirect: give the address it leads to)" if 300 <= self.status < 400 else ""
            raise CheckFailed(f"status {self.status} instead of {status}{where}")
        return self


@dataclass
class Target:
    """The deployed endpoint, and what the checks have learned about it so far."""

    url: SplitResult
    token: str
    seconds: float
    health: bool = True
    scopes: str | None = None
    metadata_url: str | None = None

    def request(
        self, method: str, path: str | None = None, body: object = None, fields: Mapping[str, str] | None = None
    ) -> Answer:
        """One request on a connection of its own."""
        kind = http.client.HTTPSConnection if self.url.scheme == "https" else http.client.HTTPConnection
        connection = kind(self.url.hostname or "", self.url.port, timeout=self.seconds)
        sent = {"Accept": "application/json, text/event-stream", **(fields or {})}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            sent["Content-Type"] = "application/json"
        try:
            connection.request(method, path or self.url.path or "/", body=data, headers=sent)
            response = connection.getresponse()
            content = _content(response, time.monotonic() + self.seconds)
        except TimeoutError:
            raise CheckFailed(f"no complete answer within {self.seconds:g} s") from None
        except (OSError, http.client.HTTPException) as error:
            raise CheckFailed(f"no answer ({type(error).__name__})") from None
        finally:
            connection.close()
        joined: dict[str, str] = {}
        for name, value in response.getheaders():
            name = name.lower()
            joined[name] = f"{joined[name]}, {value}" if name in joined else value
        return Answer(response.status, joined, content)

    def post(self, body: object, fields: Mapping[str, str] | None = None) -> Answer:
        """A message to the endpoint, as the owner."""
        return self.request("POST", None, body, {"Authorization": f"Bearer {self.token}", **(fields or {})})


def _content(response: http.client.HTTPResponse, deadline: float) -> bytes:
    """The body. A stream that never ends, with a sign of life now and then, ends here all the same."""
    content = b""
    while piece := response.read1(65536):
        content += piece
        if len(content) > BODY_MAX:
            raise CheckFailed(f"an answer of more than {BODY_MAX} bytes")
        if time.monotonic() > deadline:
            raise TimeoutError
    return content


def old_message(method: str, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """A message and its header fields in the era that begins with `initialize`."""
    fields = {} if method == "initialize" else {"MCP-Protocol-Version": OLD_ERA}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}, fields


def new_message(method: str, params: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """The same in the era in which every request says who is asking."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": NEW_ERA,
        "io.modelcontextprotocol/clientInfo": CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    fields = {"MCP-Protocol-Version": NEW_ERA, "Mcp-Method": method}
    if "name" in params:
        fields["Mcp-Name"] = params["name"]
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}, fields


Era = Callable[[str, dict[str, Any]], tuple[dict[str, Any], dict[str, str]]]
ERAS: tuple[tuple[str, Era], ...] = ((OLD_ERA, old_message), (NEW_ERA, new_message))


def result_of(target: Target, era: Era, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The result of one JSON-RPC call."""
    answer = target.post(*era(method, params))
    if answer.status == 401:
        raise CheckFailed(f"status 401: the token in {TOKEN_VARIABLE} is not accepted")
    result = answer.expect(200).json().get("result")
    if not isinstance(result, dict):
        raise CheckFailed("the answer is a JSON-RPC error")
    return result


# --- checks: each returns what it saw, or raises ---------------------------------------------------------------------


def healthz(target: Target) -> str:
    """The process answers."""
    _expect_ok(_health(target, "/healthz"))
    return "the process answers"


def readyz(target: Target) -> str:
    """The settings are complete."""
    answer = _health(target, "/readyz")
    if answer.status == 503:
        missing = answer.json().get("missing")
        names = [name for name in missing if re.fullmatch("[A-Z_]+", str(name))] if isinstance(missing, list) else []
        raise CheckFailed(f"not configured, missing: {', '.join(names)}" if names else "not ready, or about to end")
    _expect_ok(answer)
    return "the settings are complete"


def no_token(target: Target) -> str:
    """Without a token: 401 that says which scopes help, and where the metadata is in OAuth mode."""
    answer = _stranger(target).expect(401)
    challenge = answer.fields.get("www-authenticate", "")
    scopes = _parameter(challenge, "scope")
    if not challenge.lower().startswith("bearer ") or not scopes:
        raise CheckFailed("no Bearer challenge with a scope")
    if _parameter(challenge, "error"):
        raise CheckFailed("the challenge calls a missing token an error")
    target.scopes, target.metadata_url = scopes, _parameter(challenge, "resource_metadata")
    return f"401, scope {scopes}"


def wrong_token(target: Target) -> str:
    """A made-up token: 401 with `invalid_token`."""
    answer = _stranger(target, Authorization="Bearer mg_smoke-no-such-token")
    if _parameter(answer.expect(401).fields.get("www-authenticate", ""), "error") != "invalid_token":
        raise CheckFailed("the challenge does not say invalid_token")
    return "401, invalid_token"


def metadata(target: Target) -> str:
    """Protected-resource metadata at both locations (RFC 9728); with static tokens alone, none at all."""
    if target.scopes is None:
        raise Skipped("there was no challenge to follow")
    locations = (f"{METADATA}{target.url.path}", METADATA)
    if target.metadata_url is None:
        for path in locations:
            target.request("GET", path).expect(404)
        return "static tokens only, and no metadata that would send a client elsewhere"
    named = urlsplit(target.metadata_url)
    if (named.scheme, named.netloc) != (target.url.scheme, target.url.netloc):
        raise CheckFailed("the challenge names metadata on another host; is MAIL_PUBLIC_URL the URL given here?")
    documents = [target.request("GET", path).expect(200).json() for path in dict.fromkeys((named.path, *locations))]
    if any(document != documents[0] for document in documents):
        raise CheckFailed("the two locations answer differently")
    return _check_document(target, documents[0])


def _check_document(target: Target, document: dict[str, Any]) -> str:
    if document.get("resource") != target.url.geturl():
        raise CheckFailed("it is for another resource; is MAIL_PUBLIC_URL the URL given here, to the letter?")
    servers = document.get("authorization_servers")
    if not isinstance(servers, list) or not servers:
        raise CheckFailed("it names no authorization server")
    if document.get("scopes_supported") != (target.scopes or "").split():
        raise CheckFailed("its scopes are not those of the challenge")
    return "both locations, one document"


def only_post(target: Target) -> str:
    """GET and DELETE on the endpoint: 405, and at once."""
    for method in ("GET", "DELETE"):
        answer = target.request(method).expect(405)
        if answer.fields.get("allow") != "POST":
            raise CheckFailed("405 without Allow: POST")
    return "405 for GET and DELETE"


def foreign_origin(target: Target) -> str:
    """A page of another site: 403."""
    _stranger(target, Origin="https://smoke.invalid").expect(403)
    return "403"


def wrong_host(target: Target) -> str:
    """A request for another host: refused, by mailgate or by what stands in front of it.

    Without the token: what stands in front may send it to somebody else.
    """
    try:
        answer = _stranger(target, Host="smoke.invalid")
    except CheckFailed:
        _stranger(target)  # a server that answers nobody has refused nothing
        return "refused on the way: no answer"
    if answer.status == 421:
        return "421"
    if answer.status < 400 or answer.status in (401, 405):
        raise CheckFailed(f"status {answer.status}: the request got through")
    return f"refused on the way: {answer.status}"


def initialize(target: Target) -> str:
    """The older handshake."""
    params = {"protocolVersion": OLD_ERA, "capabilities": {}, "clientInfo": CLIENT}
    result = result_of(target, old_message, "initialize", params)
    if result.get("protocolVersion") != OLD_ERA or not isinstance(result.get("serverInfo"), dict):
        raise CheckFailed("no version or server in it")
    return "understood"


def discover(target: Target) -> str:
    """The newer era's discovery."""
    result = result_of(target, new_message, "server/discover", {})
    if NEW_ERA not in (result.get("supportedVersions") or ()):
        raise CheckFailed(f"{NEW_ERA} is not among the versions")
    return "understood"


def list_tools(target: Target, era: Era) -> str:
    """The tools, each with a schema."""
    tools = result_of(target, era, "tools/list", {}).get("tools")
    rows = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    names = {tool.get("name") for tool in rows if isinstance(tool.get("inputSchema"), dict)}
    if not {"mail_capabilities", "mail_search"} <= names:
        raise CheckFailed("the reading tools are not among them")
    return f"{len(names)} tools"


def capabilities(target: Target, era: Era) -> str:
    """`mail_capabilities`: the mail server can be reached and logged in to."""
    call = {"name": "mail_capabilities", "arguments": {}}
    result = result_of(target, era, "tools/call", call)
    content = result.get("structuredContent")
    if result.get("isError") or not isinstance(content, dict):
        raise CheckFailed(f"the tool failed: {_error_code(result)}")
    if content.get("imap") is None:
        raise CheckFailed("no mail server behind it; its warnings say why: ask mail_capabilities in a client")
    tools = content.get("tools")
    usable = [tool for tool in tools if tool.get("callable")] if isinstance(tools, list) else []
    gates = content.get("gates")
    opened = [name for name in ("writes", "delete", "send") if isinstance(gates, dict) and gates.get(name)]
    return f"logged in, {len(usable)} tools callable, open gates: {', '.join(opened) or 'none'}"


def _stranger(target: Target, **more: str) -> Answer:
    """A call without the token."""
    message, fields = old_message("tools/list", {})
    return target.request("POST", None, message, {**fields, **more})


def _health(target: Target, path: str) -> Answer:
    if not target.health:
        raise Skipped("--without-health")
    return target.request("GET", path)


def _expect_ok(answer: Answer) -> None:
    if answer.expect(200).json().get("status") != "ok":
        raise CheckFailed("the status in it is not ok")


def _parameter(challenge: str, name: str) -> str | None:
    return next(iter(re.findall(rf'[ ,]{name}="([^"]*)"', challenge)), None)


def _error_code(result: dict[str, Any]) -> str:
    blocks = result.get("content")
    text = blocks[0].get("text") if isinstance(blocks, list) and blocks and isinstance(blocks[0], dict) else None
    return next(iter(re.findall(r"\Aerror ([a-z_]{1,40}): ", str(text))), "no code")


def checks() -> Iterator[tuple[str, Callable[[Target], str]]]:
    """Every check with its name, in an order in which a later one can use what an earlier one learned."""
    yield "healthz", healthz
    yield "readyz", readyz
    yield "no token", no_token
    yield "wrong token", wrong_token
    yield "metadata", metadata
    yield "POST only", only_post
    yield "foreign Origin", foreign_origin
    yield "wrong Host", wrong_host
    yield f"initialize {OLD_ERA}", initialize
    yield f"server/discover {NEW_ERA}", discover
    for name, era in ERAS:
        yield f"tools/list {name}", partial(list_tools, era=era)
        yield f"mail_capabilities {name}", partial(capabilities, era=era)


def run(target: Target, say: Callable[[str], object]) -> bool:
    """Makes every check and says a line for each; False when one failed."""
    failed = 0
    for name, check in checks():
        try:
            say(f"ok   {name}: {check(target)}")
        except Skipped as reason:
            say(f"skip {name}: {reason}")
        except CheckFailed as reason:
            failed += 1
            say(f"FAIL {name}: {reason}")
    return failed == 0


def endpoint(text: str) -> SplitResult:
    """A URL that a token may be sent to."""
    try:
        url = urlsplit(text)
        usable = bool(url.hostname) and (url.port or 1) > 0
    except ValueError:
        usable = False
    if not usable or url.scheme not in ("http", "https") or url.username or url.query or url.fragment:
        raise argparse.ArgumentTypeError("give the endpoint's URL, such as https://mail.example.com/mcp")
    if url.scheme == "http" and not _is_loopback(url.hostname or ""):
        raise argparse.ArgumentTypeError("http is for this machine only: the token would be readable on the way")
    return url


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def main(arguments: list[str] | None = None) -> int:
    """0 when every check passed, 1 when one failed, 2 when there was nothing to check with."""
    parser = argparse.ArgumentParser(
        prog="deploy/smoke", description=f"Check a deployed mailgate. Its token is read from {TOKEN_VARIABLE}."
    )
    parser.add_argument("url", type=endpoint, help="the endpoint, such as https://mail.example.com/mcp")
    parser.add_argument("--seconds", type=float, default=30.0, help="longest wait for one answer (default 30)")
    parser.add_argument(
        "--without-health", action="store_true", help="leave out /healthz and /readyz, where the host keeps them"
    )
    options = parser.parse_args(arguments)
    token = os.environ.get(TOKEN_VARIABLE, "")
    if not re.fullmatch(r"[A-Za-z0-9._~+/-]+=*", token):
        parser.error(f"{TOKEN_VARIABLE} holds no bearer token")
    target = Target(options.url, token, options.seconds, health=not options.without_health)
    return 0 if run(target, lambda line: print(line, flush=True)) else 1  # noqa: T201 - this is a command


if __name__ == "__main__":
    sys.exit(main())
