"""What the read tools put on the wire, as Dovecot's raw log and a proxy saw it."""

from __future__ import annotations

import re

import pytest

from tests.peers.authority import authority
from tests.peers.dovecot import Dovecot, MailUser
from tests.peers.fault_proxy import FaultProxy
from tests.peers.rawlog import parse_raw_log
from tests.real.letters import letter, with_attachments
from tests.real.tools import ToolFailed, Tools, refused, settings_for

BEFORE_LOGIN = {"CAPABILITY", "ID", "LOGIN", "AUTHENTICATE", "STARTTLS"}
HARMLESS = {
    "CAPABILITY",
    "ID",
    "ENABLE",
    "LIST",
    "STATUS",
    "EXAMINE",
    "UID SEARCH",
    "UID FETCH",
    "NOOP",
    "UNSELECT",
    "LOGOUT",
}


async def use_everything(tools: Tools) -> None:
    """Every read tool in every way that reaches the server."""
    await tools.call("mail_capabilities")
    await tools.folders()
    await tools.folders(include_counts=True)
    page = await tools.search(limit=1)
    await tools.search(limit=1, cursor=page["next_cursor"])
    await tools.search(query="grün", from_="ann", since="2020-01-01", unread=True, flagged=False)
    await tools.search(folder="role:trash")
    reference = page["messages"][0]["reference"]
    await tools.read(reference)
    await tools.read(reference, headers_only=True)
    await tools.call("mail_get_attachment", reference=reference, index=1)
    with pytest.raises(ToolFailed):
        await tools.call("mail_get_attachment", reference=reference, index=1, as_="text")
    rows = (await tools.search(previews=True))["messages"]
    for headers_only in (False, True):
        await tools.call("mail_read", references=[row["reference"] for row in rows], headers_only=headers_only)
    for wrong in ({"folder": "No such"}, {"folder": "role:all"}):
        with pytest.raises(ToolFailed):
            await tools.search(**wrong)


@pytest.mark.requirement("R2")
async def test_only_commands_that_change_nothing_are_sent(mail_user: MailUser, dovecot_tools: Tools) -> None:
    mail_user.append_all([bytes(letter()), bytes(with_attachments())])
    own = len(mail_user.commands())
    await use_everything(dovecot_tools)
    await dovecot_tools.aclose()
    sent = mail_user.commands()[own:]
    assert {command.name for command in sent} <= HARMLESS
    assert {"LIST", "EXAMINE", "UID SEARCH", "UID FETCH"} <= {command.name for command in sent}
    for command in sent:
        bodies = re.findall(rb"BODY[^ ()]*|RFC822[^ ()]*", command.line.upper()) if command.name == "UID FETCH" else []
        assert all(item.startswith((b"BODY.PEEK[", b"BODYSTRUCTURE", b"RFC822.SIZE")) for item in bodies)


async def test_before_the_login_only_greetings_pass(mail_user: MailUser, dovecot: Dovecot) -> None:
    async with FaultProxy(dovecot.plain_port) as proxy:
        tools = Tools(settings_for(mail_user, MAIL_IMAP_PORT=str(proxy.port)))
        await tools.search()
        await tools.aclose()
        names = [command.name for command in parse_raw_log(bytes(proxy.traffic.sent))]
    login = next(number for number, name in enumerate(names) if name in {"LOGIN", "AUTHENTICATE"})
    assert set(names[: login + 1]) <= BEFORE_LOGIN
    assert names.count("LOGIN") + names.count("AUTHENTICATE") == 1


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_under_tls_nothing_of_password_or_mail_is_readable(
    mail_user: MailUser, dovecot: Dovecot, security: str
) -> None:
    mail_user.append(bytes(letter("Secret subject")))
    port = dovecot.tls_port if security == "tls" else dovecot.plain_port
    async with FaultProxy(port) as proxy:
        tools = Tools(
            settings_for(
                mail_user,
                MAIL_IMAP_HOST="localhost",
                MAIL_IMAP_PORT=str(proxy.port),
                MAIL_IMAP_SECURITY=security,
                MAIL_TLS_CA_FILE=str(authority().ca_file),
            )
        )
        page = await tools.search(subject="Secret")
        await tools.aclose()
        assert len(page["messages"]) == 1
        assert b"LOGIN" not in proxy.traffic.sent
        assert b"AUTHENTICATE" not in proxy.traffic.sent
        assert b"Secret" not in proxy.traffic.sent


@pytest.mark.requirement("A25")
async def test_a_refused_login_is_tried_once(mail_user: MailUser, dovecot: Dovecot) -> None:
    async with FaultProxy(dovecot.plain_port) as proxy:
        tools = Tools(settings_for(mail_user, MAIL_IMAP_PORT=str(proxy.port), MAIL_PASSWORD="wrong"))
        with refused("upstream_auth_failed") as failed:
            await tools.search()
        await tools.aclose()
        sent = bytes(proxy.traffic.sent)
    assert sent.count(b"LOGIN") + sent.count(b"AUTHENTICATE") == 1
    assert "wrong" not in failed.value.text
