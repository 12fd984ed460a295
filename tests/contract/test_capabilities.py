"""C1 to C9: what mail_capabilities tells."""

from __future__ import annotations

from typing import Any

import pytest

from mailgate import __version__, limits
from mailgate.demo.store import DemoMailbox
from mailgate.policy import Principal, Scope
from tests.contract.deployment import (
    READ_TOOLS,
    SEND_TOOLS,
    USERNAME,
    WRITE_TOOLS,
    Deployment,
    codes,
    mailbox_with,
    on_demo,
    on_script,
    unconfigured,
)
from tests.contract.reference import documented_errors
from tests.server.fakes import ERAS, OWNER_TOKEN, READ_TOKEN, Post, token_entry

PLAIN = {"MAIL_TOKENS": token_entry(READ_TOKEN, "mail.read")}
"""Settings that give no reason for a warning."""
ROLES = ("inbox", "drafts", "sent", "trash", "junk", "archive", "all", "flagged")
FIELDS = {"server", "mailbox", "imap", "roles", "gates", "scopes", "tools", "limits", "store", "warnings"}


async def told(box: Deployment, *scopes: Scope) -> dict[str, Any]:
    return await box.ok("mail_capabilities", {}, Principal("local", "owner", frozenset(scopes or Scope)))


@pytest.mark.requirement("C1")
async def test_it_names_the_server_and_the_owner(small: Deployment) -> None:
    answer = await told(small)
    assert set(answer) == FIELDS
    assert answer["server"] == {"name": "mailgate", "version": __version__}
    assert answer["mailbox"] == {"address": USERNAME}
    async with on_demo(mailbox_with(), MAIL_FROM='"Owner, The" <me@example.org>') as box:
        assert (await told(box))["mailbox"] == {"address": "me@example.org", "name": "Owner, The"}


@pytest.mark.requirement("C2")
async def test_it_tells_what_the_mail_server_offers_after_the_login() -> None:
    async with on_demo(mailbox_with()) as box:
        imap = (await told(box))["imap"]
    assert {"IMAP4rev1".upper(), "MOVE", "UIDPLUS", "CONDSTORE"} <= {name.upper() for name in imap["capabilities"]}
    features = imap["features"]
    assert all(isinstance(value, bool) for value in features.values())
    assert {name for name in FEATURES if features[name]} == {"move", "uidplus", "condstore", "special_use", "esearch"}
    async with on_demo(mailbox_with(), "MOVE", "CONDSTORE") as box:
        features = (await told(box))["imap"]["features"]
    assert {name for name in FEATURES if features[name]} == {"uidplus", "special_use", "esearch"}


FEATURES = ("move", "uidplus", "condstore", "special_use", "esearch", "sort", "thread", "preview")


@pytest.mark.requirement("C2")
async def test_features_follow_the_capabilities_of_the_session() -> None:
    offers = "IMAP4rev1 SORT THREAD=REFERENCES PREVIEW"
    async with on_script(f'@login {offers}\nC: $ LIST ...\nS: * LIST () "/" INBOX\nS: $ OK done') as box:
        imap = (await told(box))["imap"]
    assert {name for name in FEATURES if imap["features"][name]} == {"sort", "thread", "preview"}
    assert {name.upper() for name in imap["capabilities"]} == {name.upper() for name in offers.split()}


@pytest.mark.requirement("C3")
async def test_every_role_has_a_folder_or_says_why_not() -> None:
    mailbox = DemoMailbox()
    for name, role in (("Gone", "\\Trash"), ("One", "\\Sent"), ("Two", "\\Sent"), ("Kept", "\\Archive")):
        mailbox.create(name, role)
    async with on_demo(mailbox, MAIL_FOLDER_ROLES="drafts=Kept,junk=Nowhere") as box:
        roles = (await told(box))["roles"]
        folders = {role: roles[role]["folder"] for role in ROLES if "folder" in roles[role]}
        assert {"inbox": "INBOX", "trash": "Gone", "archive": "Kept", "drafts": "Kept"}.items() <= folders.items()
        missing = {role: roles[role]["missing"] for role in ROLES if "missing" in roles[role]}
        assert {"sent", "all", "flagged", "junk"} == set(missing)
        assert missing["sent"] != missing["all"]
        assert set(roles) == set(ROLES)
        assert all(len(role) == 1 for role in roles.values())
        for role, folder in folders.items():
            assert (await box.search(folder=f"role:{role}"))["folder"] == folder
        for role in missing:
            code = "special_use_ambiguous" if role == "sent" else "special_use_missing"
            await box.fails(code, "mail_search", {"folder": f"role:{role}"})


@pytest.mark.requirement("C4")
@pytest.mark.parametrize("scopes", [(Scope.READ,), (Scope.READ, Scope.SEND), tuple(Scope)])
async def test_it_tells_the_gates_and_the_callers_own_scopes(scopes: tuple[Scope, ...]) -> None:
    async with on_demo(mailbox_with(), MAIL_ENABLE_WRITES="1", MAIL_ENABLE_DELETE="true") as box:
        answer = await told(box, *scopes)
    assert answer["gates"] == {"writes": True, "delete": False, "send": False}
    assert sorted(answer["scopes"]) == sorted(scope.value for scope in scopes)


@pytest.mark.requirement("C4")
@pytest.mark.parametrize("era", ERAS)
async def test_over_http_the_scopes_are_those_of_the_token(small: Deployment, era: str) -> None:
    for token, scopes in ((READ_TOKEN, ["mail.read"]), (OWNER_TOKEN, ["mail.read", "mail.send", "mail.write"])):
        response = await Post.call("mail_capabilities", era=era, token=token).to(small.app)
        assert sorted(response.json()["result"]["structuredContent"]["scopes"]) == scopes


GATE = {**dict.fromkeys(WRITE_TOOLS, "MAIL_ENABLE_WRITES"), **dict.fromkeys(SEND_TOOLS, "MAIL_ENABLE_SEND")}


@pytest.mark.requirement("C5")
async def test_every_tool_has_a_row_that_is_true(small: Deployment) -> None:
    rows = (await told(small))["tools"]
    assert [row["name"] for row in rows] == [*READ_TOOLS, *WRITE_TOOLS, *SEND_TOOLS]
    assert all(row == {"name": row["name"], "callable": True} for row in rows[: len(READ_TOOLS)])
    for row in rows[len(READ_TOOLS) :]:
        assert row["callable"] is False
        assert GATE[row["name"]] in row["reason"]
        assert (await small.call(row["name"], {})).text.startswith("error gate_closed: ")
    rows = (await told(unconfigured()))["tools"]
    assert {row["name"] for row in rows if row["callable"]} == {"mail_capabilities"}
    for row in rows[1:]:
        assert set(row) == {"name", "callable", "reason"}
        assert GATE.get(row["name"], "MAIL_IMAP_HOST") in row["reason"]
        answer = await unconfigured().call(row["name"], {})
        assert answer.failed


PROMISED = {
    "search_limit": 100,
    "folders": 2000,
    "max_chars": 262_144,
    "source_bytes": 5 * 2**20,
    "text_bytes": 256 * 2**10,
    "mime_depth": 12,
    "mime_parts": 100,
    "html_bytes": 2**20,
    "html_token_bytes": 64 * 2**10,
    "html_tokens": 20_000,
    "html_open_elements": 128,
    "attachment_bytes": 2 * 2**20,
    "keyword_chars": 64,
    "recipients": 50,
    "subject_bytes": 512,
    "text_write_bytes": 2**20,
    "uploads": 20,
    "upload_bytes": 3 * 2**20,
    "message_bytes": 5 * 2**20,
    "references": 10,
    "preview_chars": 160,
    "quoted_blocks": 100,
    "prepared_seconds": 900,
    "send_deadline_seconds": 120,
    "store_seconds": 5,
}
CHANGED = {
    "MAIL_SEARCH_SCAN_UIDS": ("search_scan_uids", "77", 1000),
    "MAIL_SEARCH_BUDGET_SECONDS": ("search_budget_seconds", "0", 5),
    "MAIL_IMAP_CONNECTIONS": ("imap_connections", "3", 2),
    "MAIL_MAX_REQUEST_BYTES": ("request_bytes", "70000", 8 * 2**20),
    "MAIL_MAX_RESULT_BYTES": ("result_bytes", "80000", 4 * 2**20),
    "MAIL_UPSTREAM_TIMEOUT_SECONDS": ("upstream_timeout_seconds", "17.5", 30),
}
BITES = {
    "search_term_bytes": limits.SEARCH_TERM_MAX,
    "folder_name_bytes": limits.FOLDER_NAME_MAX,
    "status_commands": limits.STATUS_MAX,
    "json_depth": limits.JSON_DEPTH_MAX,
    "header_bytes": limits.HEADER_BYTES_MAX,
    "header_fields": limits.HEADER_FIELDS_MAX,
    "header_value_chars": limits.HEADER_VALUE_CHARS_MAX,
    "addresses": limits.ADDRESSES_MAX,
    "filename_chars": limits.FILENAME_CHARS_MAX,
    "parse_seconds": limits.PARSE_SECONDS,
    "queue_seconds": limits.QUEUE_SECONDS,
    "flags": limits.FLAGS_MAX,
}
"""Further bounds that a caller can run into."""


@pytest.mark.requirement("C6")
async def test_every_limit_is_told_as_it_is_in_force(small: Deployment) -> None:
    usual = {name: value for name, _, value in CHANGED.values()}
    assert (await told(small))["limits"] == {**PROMISED, **BITES, **usual}
    variables = {variable: text for variable, (_, text, _) in CHANGED.items()}
    changed = {name: float(text) for name, text, _ in CHANGED.values()}
    async with on_demo(mailbox_with(), **variables) as box:
        assert (await told(box))["limits"] == {**PROMISED, **BITES, **changed}
        await box.search(limit=100)
        await box.fails("invalid_argument", "mail_search", {"limit": 101})


@pytest.mark.requirement("C7")
async def test_nothing_is_stored_while_nothing_can_be_prepared(small: Deployment) -> None:
    assert (await told(small))["store"] is None
    assert (await told(unconfigured()))["store"] is None


@pytest.mark.requirement("C8")
async def test_without_mail_settings_the_form_is_the_same_and_the_variables_are_named(small: Deployment) -> None:
    answer = await told(unconfigured())
    assert set(answer) == FIELDS | {"not_configured"}
    assert answer["imap"] is None
    assert answer["not_configured"] == ["MAIL_IMAP_HOST", "MAIL_USERNAME", "MAIL_PASSWORD"]
    assert set(answer["roles"]) == set(ROLES)
    assert all(set(role) == {"missing"} for role in answer["roles"].values())
    configured = await told(small)
    for field in FIELDS - {"imap", "store"}:
        assert type(answer[field]) is type(configured[field])
    assert "not_configured" not in configured
    partly = await told(unconfigured(MAIL_USERNAME=USERNAME))
    assert partly["not_configured"] == ["MAIL_IMAP_HOST", "MAIL_PASSWORD"]


@pytest.mark.requirement("C9")
async def test_settings_that_leave_something_to_be_desired_are_warnings() -> None:
    async with on_demo(mailbox_with(), MAIL_ENABLE_SEND="yes", **PLAIN) as box:
        (warning,) = (await told(box))["warnings"]
    assert warning.startswith("configuration: ")
    assert "MAIL_ENABLE_SEND" in warning
    assert "yes" not in warning
    async with on_demo(mailbox_with(), **PLAIN) as box:
        assert (await told(box))["warnings"] == []


UNREACHED = {
    "upstream_unavailable": "S: * BYE full",
    "upstream_auth_failed": "S: * OK [CAPABILITY IMAP4rev1] x\nC: $ LOGIN ...\nS: $ NO no",
    "upstream_protocol_error": "S: HTTP/1.1 400 Bad Request",
    "upstream_refused": "@login IMAP4rev1\nC: $ LIST ...\nS: $ NO no",
    "upstream_timeout": "S-stall",
}


@pytest.mark.requirement("C9")
@pytest.mark.parametrize("code", list(UNREACHED))
async def test_a_mail_server_that_does_not_answer_is_a_warning(code: str) -> None:
    timeout = "0.2" if code == "upstream_timeout" else "10"
    async with on_script(UNREACHED[code], MAIL_UPSTREAM_TIMEOUT_SECONDS=timeout, **PLAIN) as box:
        answer = await told(box)
    assert code in documented_errors()
    assert codes(answer) == [code]
    assert answer["imap"] is None
    assert all(set(role) == {"missing"} for role in answer["roles"].values())
    assert all(row["callable"] for row in answer["tools"] if row["name"] in READ_TOOLS)
    assert set(answer) == FIELDS
