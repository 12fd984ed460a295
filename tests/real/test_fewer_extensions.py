"""Servers that offer less: the tools do without, and never send what was not offered."""

from __future__ import annotations

import pytest

from tests.peers.demo import DemoPeer
from tests.peers.dovecot import Dovecot, MailUser
from tests.peers.fault_proxy import Conditions, FaultProxy
from tests.peers.imap_edit import ImapEdit
from tests.peers.imap_user import ImapUser
from tests.peers.rawlog import parse_raw_log
from tests.real.letters import letter, with_attachments
from tests.real.tools import Tools, refused, settings_for, subjects, uids

EVERYTHING = frozenset(
    "CHILDREN CONDSTORE CONTEXT=SEARCH ENABLE ESEARCH ESORT ID IDLE LIST-EXTENDED LIST-STATUS LITERAL+ MOVE NAMESPACE "
    "NOTIFY PREVIEW QRESYNC SASL-IR SEARCHRES SNIPPET=FUZZY SPECIAL-USE STATUS=SIZE UIDPLUS UNSELECT WITHIN".split()
)
BARE = ImapEdit(
    capabilities=EVERYTHING,
    attributes=frozenset({"\\Drafts", "\\Sent", "\\Trash", "\\Junk", "\\Archive", "\\HasChildren", "\\HasNoChildren"}),
    codes=frozenset({"UIDNEXT", "HIGHESTMODSEQ", "UNSEEN"}),
)
NOT_OFFERED = (b"CONDSTORE", b"MODSEQ", b"RETURN", b"+}", b"SPECIAL-USE")
ABSENT = ("move", "uidplus", "condstore", "special_use", "list_status", "literal_plus", "enable", "unselect", "id")
EXTENSION_COMMANDS = {"ID", "ENABLE", "NAMESPACE", "UNSELECT", "IDLE", "COMPRESS"}


async def use_the_tools(tools: Tools) -> None:
    """What a mailbox owner does, on a mailbox with two messages of which the second has attachments."""
    rows = await tools.folders(include_counts=True)
    assert (rows["INBOX"]["messages"], rows["INBOX"]["uid_next"], rows["Sent"]["messages"]) == (2, 3, 0)
    with refused("special_use_missing"):
        await tools.search(folder="role:trash")
    page = await tools.search(limit=1)
    assert (uids(page["messages"]), page["complete"]) == ([2], False)
    assert "modseq" not in page["messages"][0]
    rest = await tools.search(limit=1, cursor=page["next_cursor"])
    assert (uids(rest["messages"]), rest["complete"]) == ([1], True)
    assert subjects((await tools.search(query="größer"))["messages"]) == ["Schön"]
    reference = page["messages"][0]["reference"]
    assert (await tools.read(reference))["untrusted"]["headers"]["subject"] == "Two attachments"
    assert (await tools.call("mail_get_attachment", reference=reference, index=2))["size"] > 0


def fill(user: ImapUser) -> None:
    """The two messages."""
    user.append_all([bytes(letter("Schön", "Er ist größer.\n")), bytes(with_attachments())])


@pytest.mark.requirement("F2", "R5", "S14")
async def test_a_bare_imap4rev1_server_is_enough_and_is_sent_nothing_more(
    mail_user: MailUser, dovecot: Dovecot
) -> None:
    fill(mail_user)
    async with FaultProxy(dovecot.plain_port, Conditions(edit=BARE)) as proxy:
        tools = Tools(settings_for(mail_user, MAIL_IMAP_PORT=str(proxy.port)))
        features = (await tools.call("mail_capabilities"))["imap"]["features"]
        assert not any(features[name] for name in ABSENT)
        await use_the_tools(tools)
        await tools.aclose()
        sent = bytes(proxy.traffic.sent)
    assert [word for word in NOT_OFFERED if word in sent] == []
    assert {command.name for command in parse_raw_log(sent)} & EXTENSION_COMMANDS == set()


async def test_a_server_that_truly_lacks_every_extension_is_enough(demo_peer: DemoPeer) -> None:
    user = demo_peer.new_user(
        without=frozenset(
            "CHILDREN CONDSTORE ENABLE ESEARCH ID LIST-EXTENDED LIST-STATUS LITERAL+ MOVE NAMESPACE SASL-IR "
            "SPECIAL-USE UNSELECT".split()
        )
    )
    fill(user)
    tools = Tools(settings_for(user))
    await use_the_tools(tools)
    await tools.aclose()
    assert {command.name for command in user.commands()} & EXTENSION_COMMANDS == set()


@pytest.mark.requirement("R4")
async def test_where_the_server_names_no_roles_the_operators_map_counts(mail_user: MailUser, dovecot: Dovecot) -> None:
    mail_user.append(bytes(letter("Thrown away")), "Trash")
    async with FaultProxy(dovecot.plain_port, Conditions(edit=BARE)) as proxy:
        tools = Tools(
            settings_for(mail_user, MAIL_IMAP_PORT=str(proxy.port), MAIL_FOLDER_ROLES="trash=Trash,sent=Nowhere")
        )
        assert subjects((await tools.search(folder="role:trash"))["messages"]) == ["Thrown away"]
        await tools.aclose()
