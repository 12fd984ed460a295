"""The token goes nowhere: not to a mail server, the store or the issuer, not into a log, not into an answer."""

from __future__ import annotations

import base64
import io
import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from mailgate.app import build_app, build_service
from mailgate.imap.endpoint import Security
from mailgate.server.auth import Rejection
from mailgate.server.http import HttpSurface
from mailgate.server.telemetry import configure_logging
from tests.contract import deployment as mail
from tests.peers import smtp_sink
from tests.peers.fault_proxy import FaultProxy
from tests.peers.issuer import Issuer, IssuerFault
from tests.peers.signing import MISSING, SUBJECT, b64, compact, header_of, rsa_key
from tests.server.fakes import ERAS, OWNER_TOKEN, TOKENS, Post, http_client
from tests.server.oauth.deployment import HOST, OPEN, Watched, settings, watched

CANARY = "canary-claim-55d0"
pytestmark = pytest.mark.parametrize("era", ERAS)


@pytest.fixture
def logs(caplog: pytest.LogCaptureFixture) -> Iterator[io.StringIO]:
    """Our own handler at debug level, beside pytest's, on the root logger."""
    root = logging.getLogger()
    before = (list(root.handlers), root.level)
    stream = io.StringIO()
    configure_logging("debug", "json", stream)
    root.addHandler(caplog.handler)
    caplog.handler.setLevel(0)
    try:
        yield stream
    finally:
        root.handlers[:], _ = before[0], root.setLevel(before[1])


def lines(logs: io.StringIO, event: str) -> list[dict[str, Any]]:
    return [line for line in map(json.loads, logs.getvalue().splitlines()) if line["event"] == event]


def traces(token: str) -> set[str]:
    """Everything by which a token could be recognised."""
    return {token, *token.split("."), base64.b64encode(token.encode()).decode(), SUBJECT, CANARY, "canary-client-7b1e"}


# --- what goes out -------------------------------------------------------------------------------------------------


@dataclass
class Wires:
    """A whole deployment whose every upstream octet is seen."""

    app: HttpSurface
    issuer: Issuer
    imap: FaultProxy
    smtp: FaultProxy
    store: Path

    def octets(self) -> dict[str, bytes]:
        files = sorted(self.store.parent.glob("*"))
        return {
            "imap": bytes(self.imap.traffic.sent),
            "smtp": bytes(self.smtp.traffic.sent),
            "issuer": b"".join(seen.raw for seen in self.issuer.requests),
            "store": b"".join(path.read_bytes() for path in files if path.is_file()),
        }


@asynccontextmanager
async def wired(folder: Path) -> AsyncIterator[Wires]:
    async with AsyncExitStack() as stack:
        sink = await stack.enter_async_context(smtp_sink.SmtpSink(Security.PLAINTEXT))
        port, _ = await stack.enter_async_context(mail.demo_server(mail.mailbox_with(mail.raw())))
        imap = await stack.enter_async_context(FaultProxy(port))
        smtp = await stack.enter_async_context(FaultProxy(sink.port))
        issuer = await stack.enter_async_context(Issuer())
        variables = {
            **mail.environ(imap.port),
            **OPEN,
            "MAIL_FROM": "owner@example.com",
            "MAIL_SMTP_HOST": "127.0.0.1",
            "MAIL_SMTP_PORT": str(smtp.port),
            "MAIL_SMTP_SECURITY": "plaintext",
            "MAIL_SMTP_USERNAME": smtp_sink.USERNAME,
            "MAIL_SMTP_PASSWORD": smtp_sink.PASSWORD,
            "MAIL_STORE": f"sqlite:{folder / 'store.sqlite3'}",
        }
        service = build_service(settings(issuer.url, **variables))
        stack.push_async_callback(service.aclose)
        app = build_app(service.settings, service=service)
        yield Wires(app, issuer, imap, smtp, folder / "store.sqlite3")


async def called(app: HttpSurface, era: str, token: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    response = await Post.call(name, arguments, era=era, token=token, headers={"Host": HOST}).to(app)
    assert response.status_code == 200, response.text
    result = response.json()["result"]
    assert result["isError"] is False, result
    for trace in traces(token):
        assert trace not in response.text + str(response.headers)
    content: dict[str, Any] = result["structuredContent"]
    return content


async def test_the_token_of_a_caller_is_on_no_wire_and_in_no_log(
    era: str, tmp_path: Path, logs: io.StringIO, caplog: pytest.LogCaptureFixture
) -> None:
    async with wired(tmp_path) as wires:
        token = wires.issuer.mint(canary=CANARY)
        found = await called(wires.app, era, token, "mail_search", {"subject": "Hello"})
        reference = found["messages"][0]["reference"]
        await called(wires.app, era, token, "mail_read", {"reference": reference})
        await called(wires.app, era, token, "mail_set_flags",
                     {"reference": reference, "operation": "add", "flags": ["\\Seen"]})  # fmt: skip
        message = {"message": {"to": ["a@example.com"], "subject": "x", "text": "y"}}
        prepared = await called(wires.app, era, token, "mail_prepare_send", message)
        confirm = {"prepared_id": prepared["prepared_id"], "confirmed_digest": prepared["digest"], "append_sent": True}
        assert (await called(wires.app, era, token, "mail_send_confirmed", confirm))["status"] == "accepted"
        seen = wires.octets()
    assert all(seen.values())
    assert b"DATA\r\n" in seen["smtp"]
    for name, octets in seen.items():
        for trace in traces(token):
            assert trace.encode() not in octets, name
    assert len(lines(logs, "call")) == 5
    for trace in traces(token):
        assert trace not in logs.getvalue() + caplog.text


# --- what is refused -----------------------------------------------------------------------------------------------


def refused_tokens(issuer: Issuer) -> dict[Rejection, str]:
    """One token for each reason, with canaries wherever there is room."""
    key, theirs = issuer.keys[0], rsa_key("rsa-evil")
    claims = issuer.claims(canary=CANARY)
    good = compact(key, header_of(key), claims)
    signed = good.rpartition(".")[0]
    return {
        Rejection.INVALID: CANARY + "!",
        Rejection.MALFORMED: CANARY,
        Rejection.ALGORITHM: compact(key, header_of(key, alg=CANARY), claims),
        Rejection.TYPE: compact(key, header_of(key, typ=CANARY), claims),
        Rejection.CRITICAL: compact(key, header_of(key, crit=[CANARY]), claims),
        Rejection.CLAIM: compact(key, header_of(key), {**claims, "exp": CANARY}),
        Rejection.ISSUER: compact(key, header_of(key), {**claims, "iss": CANARY}),
        Rejection.AUDIENCE: compact(key, header_of(key), {**claims, "aud": CANARY}),
        Rejection.EXPIRED: compact(key, header_of(key), {**claims, "exp": 1}),
        Rejection.NOT_YET_VALID: compact(key, header_of(key), {**claims, "nbf": 9_000_000_000}),
        Rejection.BOUND: compact(key, header_of(key), {**claims, "cnf": {"jkt": CANARY}}),
        Rejection.UNKNOWN_KEY: compact(key, header_of(key, kid=CANARY), claims),
        Rejection.SIGNATURE: f"{signed}.{b64(theirs.sign(signed.encode()))}",
        Rejection.SUBJECT: compact(key, header_of(key), {**claims, "sub": CANARY}),
    }


async def told(box: Watched, era: str, token: str | None, path: str = "/mcp") -> str:
    """All of what a caller is told."""
    post = Post.call("mail_search", {"subject": CANARY}, era=era, token=token)
    with box.untouched():
        async with http_client(box.app, token) as client:
            response = await client.post(path, content=post.content(), headers=post.fields())
    assert response.status_code == 401
    fields = {name: value for name, value in response.headers.items() if name != "x-request-id"}
    return f"{fields}{response.text}"


async def test_every_reason_is_a_word_in_the_log_and_the_same_answer(
    era: str, logs: io.StringIO, caplog: pytest.LogCaptureFixture
) -> None:
    async with watched() as box:
        tokens = refused_tokens(box.issuer)
        answers = {reason: await told(box, era, token) for reason, token in tokens.items()}
        answers[Rejection.QUERY] = await told(box, era, None, f"/mcp?access_token={tokens[Rejection.SUBJECT]}")
        assert len(set(answers.values())) == 1
        absent = await told(box, era, None)
    reasons = [line["reason"] for line in lines(logs, "refused")]
    assert reasons == [*(reason.value for reason in answers), "absent"]
    assert {*answers, Rejection.ABSENT} == set(Rejection)
    # httpx2 is the client here, and tells its own address with the token in it.
    captured = "\n".join(record.getMessage() for record in caplog.records if record.name != "httpx2")
    everything = logs.getvalue() + captured + "".join(answers.values()) + absent
    for token in tokens.values():
        for trace in traces(token) - {token.split(".")[0]} | {token}:
            assert trace not in everything


async def test_trouble_with_the_issuer_is_told_to_the_operator_in_a_word(
    era: str, logs: io.StringIO, caplog: pytest.LogCaptureFixture
) -> None:
    async with watched() as box:
        box.issuer.faults["*"] = IssuerFault.REDIRECT
        box.issuer.elsewhere = f"http://127.0.0.1:9/{CANARY}"
        token = box.issuer.mint(canary=CANARY)
        response = await Post("tools/list", era=era, token=token).to(box.app)
        url = box.issuer.url
    assert response.status_code == 503
    (line,) = lines(logs, "refused")
    assert (line["code"], line["reason"], line["level"]) == ("keys_unavailable", "redirect", "warning")
    for text in (response.text, str(response.headers), logs.getvalue()):
        for trace in (*traces(token), url):
            assert trace not in text
    assert "redirect" not in response.text
    # httpx2 logs addresses; our own handler above does not let them through.
    assert token not in caplog.text


async def test_nothing_secret_prints(era: str) -> None:
    async with watched() as box:
        await told(box, era, None)
        printed = repr(box.app._callers) + repr(box.app._resource)
    for secret in (OWNER_TOKEN, TOKENS, SUBJECT):
        assert secret not in printed
    for digest in (entry.partition(":")[0] for entry in TOKENS.split(",")):
        assert digest not in printed


async def test_a_claim_that_is_missing_is_not_named(era: str) -> None:
    async with watched() as box:
        for claim in ("iss", "aud", "sub", "exp"):
            answer = await told(box, era, box.issuer.mint(**{claim: MISSING}))
            assert f'"{claim}"' not in answer
