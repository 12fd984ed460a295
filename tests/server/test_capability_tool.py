"""mail_capabilities answers whatever is missing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mailgate.errors import UpstreamAuthFailed, UpstreamUnavailable
from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.folders import RoleFolder
from mailgate.imap.values import FolderName, SpecialUse
from mailgate.policy import Scope
from mailgate.server.backend import Backend
from mailgate.server.capability_tool import effective_limits
from mailgate.server.catalog import BY_NAME
from mailgate.server.dispatch import Dispatcher
from tests.read.fakes import FakeMailbox
from tests.server.fakes import mailbox, principal, service, settings, unconfigured


async def told(deployment: Any = None, *scopes: Scope) -> dict[str, Any]:
    dispatcher = (deployment or service()).dispatcher
    answer = await dispatcher.call("mail_capabilities", {}, principal(*scopes))
    assert answer.structured is not None, answer.text
    return answer.structured


async def test_it_tells_server_mailbox_features_roles_gates_and_scopes() -> None:
    content = await told(service(settings(MAIL_ENABLE_WRITES="1", MAIL_TOKENS="")), Scope.READ, Scope.SEND)
    assert content["server"]["name"] == "mailgate"
    assert content["mailbox"] == {"address": "owner@example.org"}
    assert content["imap"]["capabilities"] == ["IMAP4rev1", "MOVE"]
    assert content["imap"]["features"]["move"] is True
    assert content["imap"]["features"]["condstore"] is False
    assert content["roles"]["sent"] == {"folder": "Sent Items"}
    assert list(content["roles"]["trash"]) == ["missing"]
    assert set(content["roles"]) == {"inbox", "drafts", "sent", "trash", "junk", "archive", "all", "flagged"}
    assert content["gates"] == {"writes": True, "delete": False, "send": False}
    assert content["scopes"] == ["mail.read", "mail.send"]
    assert content["store"] is None
    assert content["warnings"] == []
    reading = [tool for tool in content["tools"] if BY_NAME[tool["name"]].hints.read_only]
    assert all(tool == {"name": tool["name"], "callable": True} for tool in reading)
    assert "not_configured" not in content


async def test_the_sender_is_the_owner_where_there_is_one() -> None:
    content = await told(service(settings(MAIL_FROM="The Owner <me@example.org>")))
    assert content["mailbox"] == {"address": "me@example.org", "name": "The Owner"}


async def test_warnings_of_the_settings_are_told() -> None:
    content = await told(service(settings(MAIL_ENABLE_WRITES="yes")))
    assert any(warning.startswith("configuration: MAIL_ENABLE_WRITES") for warning in content["warnings"])
    assert content["gates"]["writes"] is False


@pytest.mark.parametrize("error", [UpstreamUnavailable(), UpstreamAuthFailed()], ids=lambda error: error.code)
async def test_an_unreachable_mail_server_is_a_warning(error: Exception) -> None:
    class Unreachable(FakeMailbox):
        async def capabilities(self) -> Any:
            raise error

    content = await told(service(box=Unreachable()))
    assert content["imap"] is None
    assert any(warning.startswith(f"{error.code}: ") for warning in content["warnings"])  # type: ignore[attr-defined]
    assert all("not reached" in role["missing"] for role in content["roles"].values())
    assert all(tool["callable"] for tool in content["tools"] if BY_NAME[tool["name"]].hints.read_only)


async def test_a_mail_server_that_hangs_is_a_warning_within_the_deadline() -> None:
    class Hanging(FakeMailbox):
        async def roles(self) -> Any:
            await asyncio.Event().wait()

    content = await told(service(settings(MAIL_UPSTREAM_TIMEOUT_SECONDS="0.2"), Hanging()))
    assert content["imap"] is None
    assert any(warning.startswith("upstream_timeout: ") for warning in content["warnings"])


async def test_without_mail_settings_it_names_what_is_missing() -> None:
    dispatcher = Dispatcher(Backend(unconfigured()))
    answer = await dispatcher.call("mail_capabilities", {}, principal())
    assert answer.structured is not None
    assert answer.structured["not_configured"] == ["MAIL_IMAP_HOST", "MAIL_USERNAME", "MAIL_PASSWORD"]
    assert answer.structured["mailbox"] == {}
    refused = [tool for tool in answer.structured["tools"] if not tool["callable"]]
    assert [tool["name"] for tool in refused] == [name for name in BY_NAME if name != "mail_capabilities"]
    refused = [tool for tool in refused if BY_NAME[tool["name"]].hints.read_only]
    assert all(tool["reason"].startswith("not configured: MAIL_IMAP_HOST") for tool in refused)
    assert "Missing settings: MAIL_IMAP_HOST" in answer.text


async def test_the_limits_are_those_in_force() -> None:
    changed = settings(MAIL_MAX_REQUEST_BYTES="4096", MAIL_SEARCH_SCAN_UIDS="77", MAIL_SEARCH_BUDGET_SECONDS="0")
    content = await told(service(changed))
    assert content["limits"] == effective_limits(changed)
    assert (content["limits"]["request_bytes"], content["limits"]["search_scan_uids"]) == (4096, 77)
    assert content["limits"]["search_budget_seconds"] == 0


async def test_the_text_stands_on_its_own() -> None:
    answer = await service(box=mailbox()).dispatcher.call("mail_capabilities", {}, principal())
    for said in ("owner@example.org", "move", "sent: Sent Items", "mail_search", "attachment_bytes 2097152"):
        assert said in answer.text


# --- what the mail server must have ------------------------------------------------------------------------------

OPEN = {
    "MAIL_ENABLE_WRITES": "1",
    "MAIL_ENABLE_DELETE": "1",
    "MAIL_ENABLE_SEND": "1",
    "MAIL_FROM": "me@example.org",
    "MAIL_SMTP_HOST": "smtp.example.net",
    "MAIL_STORE": "sqlite:/nonexistent/store",
}


SEND_TOOLS = ("mail_prepare_send", "mail_prepare_reply", "mail_prepare_forward", "mail_send_confirmed")


async def reasons(*announced: str, roles: tuple[SpecialUse, ...] = (SpecialUse.TRASH,), **changes: str) -> Any:
    """Why each tool that cannot be called cannot be, on a server with these extensions and roles."""
    box = mailbox()
    box.announced = CapabilitySet.of(["IMAP4rev1", *announced])
    box.found_roles = {role: RoleFolder(role, FolderName("Some Folder")) for role in roles}
    content = await told(service(settings(**{**OPEN, **changes}), box))
    return {tool["name"]: tool["reason"] for tool in content["tools"] if not tool["callable"]}


async def test_with_all_it_needs_every_tool_can_be_called() -> None:
    assert await reasons("MOVE", "UIDPLUS") == {}


async def test_without_an_extension_the_tools_that_need_it_cannot_be_called() -> None:
    assert await reasons("UIDPLUS") == {
        "mail_move": "the mail server lacks MOVE",
        "mail_trash": "the mail server lacks MOVE",
    }
    assert await reasons("MOVE") == {"mail_delete_permanently": "the mail server lacks UIDPLUS"}


async def test_without_one_trash_only_mail_trash_cannot_be_called() -> None:
    refused = await reasons("MOVE", "UIDPLUS", roles=())
    assert list(refused) == ["mail_trash"]
    assert refused["mail_trash"].startswith("no folder with the role trash: ")


async def test_without_a_sender_no_draft_can_be_saved() -> None:
    assert await reasons("MOVE", "UIDPLUS", MAIL_FROM="", MAIL_ENABLE_SEND="") == {
        "mail_save_draft": "not configured: MAIL_FROM",
        **dict.fromkeys(SEND_TOOLS, "gate closed: MAIL_ENABLE_SEND"),
    }


async def test_authority_comes_before_what_the_mail_server_lacks() -> None:
    refused = await reasons("MOVE", MAIL_ENABLE_WRITES="")
    assert len(refused) == 8
    assert all(reason.startswith("gate closed: MAIL_ENABLE_WRITES") for reason in refused.values())
