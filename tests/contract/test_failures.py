"""A20 to A32: what a failure looks like, which failure it is, and what it leaves behind."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import socket
from dataclasses import replace
from typing import Any

import pytest
from mcp import Client

from mailgate.app import build_service
from mailgate.imap import pool
from mailgate.policy import Principal, Scope
from mailgate.server.dispatch import Dispatcher
from mailgate.server.mcp import build_server
from mailgate.server.stdio import local_principal
from mailgate.settings import load_settings
from tests.contract.deployment import (
    FAILURE,
    PASSWORD,
    READ_TOOLS,
    USERNAME,
    Deployment,
    deployed,
    environ,
    mailbox_with,
    on_demo,
    on_script,
    raw,
    unconfigured,
)
from tests.contract.reference import documented_errors
from tests.peers.authority import authority
from tests.peers.scripted_imap import ScriptedImap, script
from tests.server.fakes import BARE_TOKEN, ERAS, Post, mcp_client

REFERENCE = {"folder": "INBOX", "uid_validity": 1_700_000_001, "uid": 3}
NEEDED: dict[str, dict[str, Any]] = {
    "mail_read": {"reference": REFERENCE},
    "mail_get_attachment": {"reference": REFERENCE, "index": 1},
}
CANARY = "zq7canary"

WRONG: list[tuple[str, str, dict[str, Any]]] = [
    ("invalid_argument", "mail_search", {"limit": 0}),
    ("invalid_argument", "mail_search", {"folder": "role:nothing"}),
    ("unknown_argument", "mail_list_folders", {"x": 1}),
    ("cursor_invalid", "mail_search", {"cursor": "A" * 71}),
    ("folder_not_found", "mail_search", {"folder": "Nowhere"}),
    ("special_use_missing", "mail_search", {"folder": "role:all"}),
    ("stale_reference", "mail_read", {"reference": {**REFERENCE, "uid_validity": 1}}),
    ("message_not_found", "mail_read", {"reference": {**REFERENCE, "uid": 99}}),
    ("attachment_not_found", "mail_get_attachment", {"reference": REFERENCE, "index": 1}),
]


# --- A20 ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("A20")
@pytest.mark.parametrize("era", ERAS)
async def test_a_failure_is_an_error_of_two_lines_and_nothing_else(small: Deployment, era: str) -> None:
    async with mcp_client(small.app, era) as client:
        for code, name, arguments in WRONG:
            result = await client.call_tool(name, arguments)
            assert result.is_error
            assert result.structured_content is None
            (block,) = result.content
            found = FAILURE.fullmatch(block.text)
            assert found, block.text
            assert found[1] == code
            assert found[2].endswith((".", ";"))
            assert found[3]


@pytest.mark.requirement("A20")
async def test_every_code_of_a_failure_is_documented(small: Deployment) -> None:
    assert {code for code, _, _ in WRONG} <= set(documented_errors())
    for code, name, arguments in WRONG:
        await small.fails(code, name, arguments)


# --- A21 ---------------------------------------------------------------------------------------------------------

VALUES: list[tuple[str, dict[str, Any]]] = [
    *(("mail_search", {name: f"{CANARY}\n"}) for name in ("folder", "query", "from", "to", "cc", "subject")),
    *(("mail_search", {name: CANARY * 200}) for name in ("folder", "query", "from", "to", "cc", "subject", "cursor")),
    *(("mail_search", {name: CANARY}) for name in ("folder", "since", "before", "order", "cursor", "limit", "unread")),
    ("mail_search", {"folder": f"role:{CANARY}"}),
    ("mail_search", {"folder": f"wire:{CANARY}%zz"}),
    ("mail_search", {"limit": 7_654_321}),
    ("mail_search", {"since": "7654-32-19"}),
    ("mail_search", {"since": "7654-03-21", "before": "7654-03-21"}),
    ("mail_list_folders", {"include_counts": CANARY}),
    ("mail_read", {"reference": CANARY}),
    ("mail_read", {"reference": {**REFERENCE, "folder": CANARY}}),
    ("mail_read", {"reference": {**REFERENCE, "uid": CANARY}}),
    ("mail_read", {"reference": {**REFERENCE, "uid": 7_654_321}}),
    ("mail_read", {"reference": {**REFERENCE, "uid_validity": 7_654_321}}),
    ("mail_read", {"reference": REFERENCE, "max_chars": 7_654_321}),
    ("mail_read", {"reference": REFERENCE, "offset": 76_543}),
    ("mail_read", {"reference": REFERENCE, "uid": 7_654_321}),
    ("mail_get_attachment", {"reference": REFERENCE, "index": 76}),
    ("mail_get_attachment", {"reference": REFERENCE, "index": 7_654_321}),
]


@pytest.mark.requirement("A21")
@pytest.mark.parametrize(("name", "arguments"), VALUES)
async def test_a_failure_never_repeats_a_value(small: Deployment, name: str, arguments: dict[str, Any]) -> None:
    answer = await small.call(name, arguments)
    assert answer.structured is None
    assert FAILURE.fullmatch(answer.text)
    assert not re.search(f"{CANARY}|76|role:zq", answer.text), answer.text


@pytest.mark.requirement("A21")
@pytest.mark.parametrize(
    "name", ["query", "from", "to", "cc", "subject", "since", "before", "order", "limit", "unread"]
)
async def test_a_failure_names_the_argument_it_is_about(small: Deployment, name: str) -> None:
    assert f"`{name}`" in (await small.fails("invalid_argument", "mail_search", {name: f"{CANARY}\n"}))


@pytest.mark.requirement("A21")
async def test_a_failure_names_the_limit_that_was_passed(small: Deployment) -> None:
    for name, arguments, limit in (
        ("mail_search", {"limit": 101}, "100"),
        ("mail_search", {"query": "x" * 513}, "512"),
        ("mail_read", {"reference": REFERENCE, "max_chars": 262_145}, "262144"),
    ):
        assert limit in await small.fails("invalid_argument", name, arguments)


# --- A22 ---------------------------------------------------------------------------------------------------------

READY = "@login IMAP4rev1 CONDSTORE"
SPOKEN = {
    "login": f"S: * OK [CAPABILITY IMAP4rev1] {CANARY}\nC: $ LOGIN ...\nS: $ NO [ALERT] {CANARY}",
    "login unavailable": f"S: * OK [CAPABILITY IMAP4rev1] x\nC: $ LOGIN ...\nS: $ NO [UNAVAILABLE] {CANARY}",
    "greeting": f"S: * BYE {CANARY}",
    "no greeting": f"S: HTTP/1.1 400 {CANARY}",
    "examine": f"{READY}\nC: $ EXAMINE ...\nS: $ NO [NOPERM] {CANARY}",
    "examine bad": f"{READY}\nC: $ EXAMINE ...\nS: $ BAD {CANARY}",
    "alert": f"{READY}\nC: $ EXAMINE ...\nS: * OK [ALERT] {CANARY}\nS: $ NO [SERVERBUG] {CANARY}\nC: $ LIST ...\n"
    f'S: * LIST () "/" INBOX\nS: $ OK {CANARY}',
    "bye": f"{READY}\nC: $ EXAMINE ...\nS: * BYE {CANARY}\nS-close",
    "search": f"{READY}\n@examine\nC: $ UID SEARCH ...\nS: $ NO {CANARY}",
    "search bad": f"{READY}\n@examine\nC: $ UID SEARCH ...\nS: $ BAD {CANARY}",
    "charset": f"{READY}\n@examine\nC: $ UID SEARCH ...\nS: $ NO [BADCHARSET ({CANARY})] {CANARY}",
    "broken": f"{READY}\nC: $ EXAMINE ...\nS: * OK [UIDVALIDITY {CANARY}] {CANARY}\nS: $ OK {CANARY}",
    "wrong tag": f"{READY}\nC: $ EXAMINE ...\nS: {CANARY} OK",
    "continuation": f"{READY}\nC: $ EXAMINE ...\nS: + {CANARY}",
    "fetch": f"{READY}\n@examine\nC: $ UID SEARCH ...\nS: * SEARCH 3\nS: $ OK\nC: $ UID FETCH ...\n"
    f"S: * 1 FETCH (UID 3 FLAGS ({CANARY}) {CANARY}\nS: $ NO [LIMIT] {CANARY}",
}


@pytest.mark.requirement("A22")
@pytest.mark.parametrize("where", list(SPOKEN))
async def test_nothing_a_server_says_appears_in_a_failure(where: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with on_script(SPOKEN[where], strict=False) as box:
        answer = await box.call("mail_search", {"query": "words"})
    assert answer.structured is None, answer.text
    assert FAILURE.fullmatch(answer.text)
    assert CANARY not in answer.text.lower()
    assert CANARY not in caplog.text.lower()


@pytest.mark.requirement("A22")
async def test_nothing_from_a_message_appears_in_a_failure() -> None:
    big = "Content-Type: text/plain\nContent-Disposition: attachment; filename={0}.txt\nContent-ID: <{0}>\n\n{0}"
    message = raw(
        "--b\n" + big.format(CANARY + "x" * 100) + "\n--b\n" + big.format(CANARY) + "x" * 2_200_000 + "\n--b--",
        from_=f"{CANARY} <{CANARY}@example.org>",
        subject=CANARY,
        date=CANARY,
        message_id=f"<{CANARY}@example.org>",
        content_type='multipart/mixed; boundary="b"',
    )
    async with on_demo(mailbox_with(message, flags=(CANARY,)), MAIL_MAX_RESULT_BYTES="16384") as box:
        reference = await box.reference()
        for code, name, arguments in (
            ("attachment_not_found", "mail_get_attachment", {"reference": reference, "index": 9}),
            ("attachment_too_large", "mail_get_attachment", {"reference": reference, "index": 2}),
            ("message_not_found", "mail_read", {"reference": {**reference, "uid": 9}}),
            ("stale_reference", "mail_read", {"reference": {**reference, "uid_validity": 9}}),
            ("invalid_argument", "mail_read", {"reference": reference, "offset": 200_000}),
        ):
            assert CANARY not in await box.fails(code, name, arguments)


# --- A23 ---------------------------------------------------------------------------------------------------------


class Fault(Exception):
    """Something that mailgate did not expect."""


@pytest.mark.requirement("A23")
@pytest.mark.parametrize("fault", [Fault(CANARY), KeyError(CANARY), TimeoutError(CANARY), RecursionError(CANARY)])
async def test_a_fault_is_an_incident_id_and_nothing_else(
    small: Deployment, fault: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: Any) -> Any:
        raise fault

    own = small.service.dispatcher
    dispatcher = Dispatcher(own.backend, tuple(replace(tool, handler=broken) for tool in own.tools))
    incidents = set()
    for name in READ_TOOLS:
        answer = await dispatcher.call(name, NEEDED.get(name, {}), Principal("local", "owner", frozenset(Scope)))
        found = FAILURE.fullmatch(answer.text)
        assert answer.structured is None
        assert found
        assert found[1] == "internal_error"
        incident = re.search(r"\b[0-9a-f]{16}\b", found[2])
        assert incident
        incidents.add(incident[0])
        assert CANARY not in answer.text + caplog.text
        assert type(fault).__name__ not in answer.text
        logged = [getattr(record, "mailgate_fields", {}) for record in caplog.records]
        assert [fields for fields in logged if fields.get("incident") == incident[0]]
        assert CANARY not in str(logged)
    assert len(incidents) == len(READ_TOOLS)


# --- A24 ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("A24")
@pytest.mark.parametrize("name", READ_TOOLS[1:])
async def test_without_mail_settings_a_call_names_what_is_missing(name: str) -> None:
    text = await unconfigured().fails("not_configured", name, NEEDED.get(name, {}))
    assert all(variable in text for variable in ("MAIL_IMAP_HOST", "MAIL_USERNAME", "MAIL_PASSWORD"))
    assert "not_configured" in (await unconfigured().ok("mail_capabilities"))


@pytest.mark.requirement("A24")
async def test_only_what_is_missing_is_named() -> None:
    box = unconfigured(MAIL_USERNAME=USERNAME, MAIL_PASSWORD=PASSWORD)
    text = await box.fails("not_configured", "mail_search")
    assert "MAIL_IMAP_HOST" in text
    assert "MAIL_USERNAME" not in text
    assert PASSWORD not in text
    assert USERNAME not in text


# --- A25 to A28, A30 ---------------------------------------------------------------------------------------------

OFFERS = "S: * OK [CAPABILITY IMAP4rev1 {0}] ready"


@pytest.mark.requirement("A25")
@pytest.mark.parametrize(
    "said", ["NO [AUTHENTICATIONFAILED] no", "NO no", "NO [EXPIRED] old", "BAD no", "NO [ALERT] x"]
)
@pytest.mark.parametrize("mechanism", ["LOGIN", "AUTHENTICATE PLAIN"])
async def test_a_refused_login_is_tried_once(said: str, mechanism: str) -> None:
    offers = OFFERS.format("SASL-IR AUTH=PLAIN" if "PLAIN" in mechanism else "")
    async with on_script(f"{offers}\nC: $ {mechanism} ...\nS: $ {said}") as box:
        text = await box.fails("upstream_auth_failed", "mail_search")
        assert [line.partition(b" ")[0] for line in box.sent if line != b"LOGOUT"] == [mechanism.encode().split()[0]]
    assert USERNAME not in text
    assert PASSWORD not in text


@pytest.mark.requirement("A25")
@pytest.mark.parametrize("code", ["UNAVAILABLE", "LIMIT", "INUSE", "inuse"])
@pytest.mark.parametrize("name", READ_TOOLS[1:])
async def test_a_login_refused_by_a_busy_server_is_unavailable(code: str, name: str) -> None:
    async with on_script(f"{OFFERS.format('')}\nC: $ LOGIN ...\nS: $ NO [{code}] later") as box:
        await box.fails("upstream_unavailable", name, NEEDED.get(name, {}))


SEARCH = {"unread": True}
"""A filter, so that the page takes a search."""

GONE = {
    "bye at once": "S: * BYE full",
    "closed at once": "S-close",
    "closed after the login": f"{READY}\nC: $ EXAMINE ...\nS-close",
    "reset": f"{READY}\nC: $ EXAMINE ...\nS-cut",
    "bye": f"{READY}\n@examine\nC: $ UID SEARCH ...\nS: * BYE going\nS-close",
    "in a literal": f"{READY}\n@examine\nC: $ UID SEARCH ...\nS: * SEARCH 3\nS: $ OK\nC: $ UID FETCH ...\n"
    "S-raw: * 1 FETCH (UID 3 BODY[HEADER.FIELDS (FROM)] {100}\\r\\nFrom: a\nS-close",
    "half a line": f"{READY}\n@examine\nC: $ UID SEARCH ...\nS-raw: * SEARCH 1 2\nS-close",
}


@pytest.mark.requirement("A26", "S16")
@pytest.mark.parametrize("how", list(GONE))
async def test_a_server_that_goes_away_is_unavailable(how: str) -> None:
    async with on_script(GONE[how]) as box:
        await box.fails("upstream_unavailable", "mail_search", SEARCH)


@pytest.mark.requirement("A26")
async def test_a_server_that_is_not_there_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        async with deployed(unused.getsockname()[1]) as box:
            await box.fails("upstream_unavailable", "mail_search")
    monkeypatch.setattr(socket, "getaddrinfo", no_such_name)
    async with deployed(993, MAIL_IMAP_HOST="no-such-host.invalid", MAIL_IMAP_SECURITY="tls") as box:
        await box.fails("upstream_unavailable", "mail_search")


def no_such_name(*_: Any, **__: Any) -> Any:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.requirement("A26")
@pytest.mark.parametrize("trusted", [False, True])
async def test_a_certificate_that_proves_nothing_is_unavailable(trusted: bool) -> None:
    """Once an authority nobody knows, once a known one for another name; no password leaves."""
    names = ("another.example",) if trusted else ("localhost",)
    context = authority().certificate(*names).server_context()
    variables = {"MAIL_TLS_CA_FILE": str(authority().ca_file)} if trusted else {}
    async with (
        ScriptedImap([script("S: * OK hello")], tls=True, context=context) as peer,
        deployed(peer.port, MAIL_IMAP_HOST="localhost", MAIL_IMAP_SECURITY="tls", **variables) as box,
    ):
        await box.fails("upstream_unavailable", "mail_search")
        assert peer.received == []


SILENT = {
    "greeting": "S-stall",
    "login": f"{OFFERS.format('')}\nC: $ LOGIN ...\nS-stall",
    "search": f"{READY}\n@examine\nC: $ UID SEARCH ...\nS-stall",
    "rows without end": f"{READY}\n@examine\nC: $ UID SEARCH ...\nS-drip: * OK still searching\\x0d\\x0a",
    "octets without end": f"{READY}\n@examine\nC: $ UID SEARCH ...\nS-drip: x",
}


@pytest.mark.requirement("A27")
@pytest.mark.parametrize("where", list(SILENT))
async def test_a_server_that_does_not_answer_is_a_timeout(where: str) -> None:
    async with on_script(SILENT[where], MAIL_UPSTREAM_TIMEOUT_SECONDS="0.15") as box:
        async with asyncio.timeout(3):
            await box.fails("upstream_timeout", "mail_search", SEARCH)


BROKEN = {
    "another protocol": "S: HTTP/1.1 400 Bad Request",
    "a greeting of NO": "S: * NO go away",
    "no uidvalidity": f"{READY}\nC: $ EXAMINE ...\nS: * 3 EXISTS\nS: $ OK done",
    "a tag nobody sent": f"{READY}\nC: $ EXAMINE ...\nS: A999 OK done",
    "an unasked continuation": f"{READY}\nC: $ EXAMINE ...\nS: + go on",
    "a literal beyond all bounds": f"{READY}\n@examine\nC: $ UID SEARCH ...\nS: * SEARCH {{4000000000}}",
    "a line beyond all bounds": f"{READY}\n@examine\nC: $ UID SEARCH ...\nS: * SEARCH {'12345678 ' * 70_000}\nS: $ OK",
    "rows beyond all bounds": f"{READY}\n@examine\nC: $ UID SEARCH ...\nS-repeat: 1..20100 * {{n}} EXISTS",
    "no numbers": f"{READY}\n@examine\nC: $ UID SEARCH ...\nS: * SEARCH one two\nS: $ OK done",
    "no end of a quoted string": f'{READY}\nC: $ EXAMINE ...\nS: * LIST () "/" "x\nS: * 3 EXISTS\nS: $ OK done',
}


@pytest.mark.requirement("A28")
@pytest.mark.parametrize("what", list(BROKEN))
async def test_a_server_that_breaks_the_protocol_is_a_protocol_error(what: str) -> None:
    async with on_script(BROKEN[what], strict=False) as box:
        await box.fails("upstream_protocol_error", "mail_search", SEARCH)


@pytest.mark.requirement("A30")
@pytest.mark.parametrize("said", ["NO [NOPERM] no", "NO [SERVERBUG] no", "NO no", "NO [SOMETHING-NEW] no", "BAD no"])
async def test_a_refusal_without_a_better_code_is_refused(said: str) -> None:
    looked = 'C: $ LIST ...\nS: * LIST () "/" INBOX\nS: $ OK done'
    async with on_script(f"{READY}\nC: $ EXAMINE ...\nS: $ {said}\n{looked}", strict=False) as box:
        await box.fails("upstream_refused", "mail_search")


@pytest.mark.requirement("A30")
async def test_a_refused_search_and_a_refused_list_are_refused() -> None:
    async with on_script(f"{READY}\n@examine\nC: $ UID SEARCH ...\nS: $ NO no") as box:
        await box.fails("upstream_refused", "mail_search", SEARCH)
    async with on_script(f"{READY}\nC: $ LIST ...\nS: $ NO no") as box:
        await box.fails("upstream_refused", "mail_list_folders")


# --- A29 ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("A29")
@pytest.mark.parametrize("connections", [1, 2])
async def test_when_every_connection_stays_in_use_the_call_is_told_so(
    connections: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "QUEUE_SECONDS", 0.05)
    held = f"{READY}\nC: $ EXAMINE ...\nS-stall"
    async with (
        ScriptedImap([script(held)] * connections) as peer,
        deployed(peer.port, MAIL_IMAP_CONNECTIONS=str(connections)) as box,
    ):
        waiting = [asyncio.create_task(box.call("mail_search")) for _ in range(connections)]
        while sum(line.startswith(b"EXAMINE") for line in peer.commands) < connections:
            await asyncio.sleep(0)
        for name in READ_TOOLS[1:]:
            await box.fails("upstream_busy", name, NEEDED.get(name, {}))
        assert peer.accepted == connections
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


# --- A31 ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("A31")
@pytest.mark.parametrize("name", READ_TOOLS)
@pytest.mark.parametrize("scopes", [(), (Scope.WRITE,), (Scope.SEND, Scope.WRITE)])
@pytest.mark.parametrize("era", ERAS)
async def test_over_stdio_a_call_without_its_scope_is_a_tool_error(
    small: Deployment, name: str, scopes: tuple[Scope, ...], era: str
) -> None:
    server = build_server(small.service.dispatcher, local_principal(scopes))
    async with Client(server, mode=era) as client:
        result = await client.call_tool(name, NEEDED.get(name, {}))
    assert result.is_error
    assert result.content[0].text.startswith("error scope_missing: ")
    assert "mail.read" in result.content[0].text
    assert small.sent == []


@pytest.mark.requirement("A31")
@pytest.mark.parametrize("name", READ_TOOLS)
@pytest.mark.parametrize("era", ERAS)
async def test_over_http_a_call_without_its_scope_is_forbidden(small: Deployment, name: str, era: str) -> None:
    response = await Post.call(name, NEEDED.get(name, {}), era=era, token=BARE_TOKEN).to(small.app)
    assert response.status_code == 403
    scheme, _, rest = response.headers["www-authenticate"].partition(" ")
    parameters = dict(re.findall(r'(\w+)="([^"]*)"', rest))
    assert (scheme, parameters["error"], parameters["scope"]) == ("Bearer", "insufficient_scope", "mail.read")
    assert small.sent == []


@pytest.mark.requirement("A31")
async def test_the_dispatcher_asks_again_and_answers_before_it_looks_at_the_arguments(small: Deployment) -> None:
    nobody = Principal("static", "x", frozenset({Scope.WRITE}))
    await small.fails("scope_missing", "mail_search", {"nonsense": CANARY}, caller=nobody)
    bare = build_service(load_settings({key: value for key, value in environ(1).items() if key != "MAIL_IMAP_HOST"}))
    await Deployment(bare).fails("scope_missing", "mail_search", caller=nobody)


# --- A32 ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("A32")
@pytest.mark.parametrize("how", [*GONE, "search", *BROKEN])
async def test_after_a_failure_the_next_call_works_on_a_fresh_connection(how: str) -> None:
    first = {**GONE, **SILENT, **BROKEN}[how]
    second = f"{READY}\n@examine exists=0 uidnext=1"
    async with on_script(first, second, strict=False, MAIL_UPSTREAM_TIMEOUT_SECONDS="1") as box:
        assert (await box.call("mail_search", SEARCH)).failed
        page = await box.search(folder="Archive")
    assert (page["messages"], page["complete"]) == ([], True)


@pytest.mark.requirement("A32")
async def test_failed_calls_change_nothing() -> None:
    mailbox = mailbox_with(*(raw() for _ in range(5)))
    before = json.dumps({name: [str(m) for m in folder.messages.values()] for name, folder in mailbox.folders.items()})
    async with on_demo(mailbox) as box:
        for code, name, arguments in WRONG:
            await box.fails(code, name, arguments)
    after = json.dumps({name: [str(m) for m in folder.messages.values()] for name, folder in mailbox.folders.items()})
    assert after == before
