"""Each extension can be taken away: no longer told, and its commands, arguments and codes truly gone."""

from __future__ import annotations

import base64

import pytest

from mailgate.demo.extensions import Extension
from mailgate.demo.seed import seed_mailbox
from mailgate.demo.server import DemoServer
from mailgate.demo.store import DemoMailbox
from tests.demo.raw_client import MESSAGE, NOW, PASSWORD, USERNAME, Literal, numbered_mailbox, serving

ABSENT = [
    ("ID", b"ID NIL"),
    ("ENABLE", b"ENABLE CONDSTORE"),
    ("UIDPLUS", b"UID EXPUNGE 1"),
    ("MOVE", b"UID MOVE 1 Other"),
    ("MOVE", b"MOVE 1 Other"),
    ("CONDSTORE", b"SELECT INBOX (CONDSTORE)"),
    ("CONDSTORE", b"STATUS INBOX (HIGHESTMODSEQ)"),
    ("CONDSTORE", b"FETCH 1 (MODSEQ)"),
    ("CONDSTORE", b"FETCH 1 FLAGS (CHANGEDSINCE 1)"),
    ("CONDSTORE", b"STORE 1 (UNCHANGEDSINCE 1) +FLAGS (a)"),
    ("CONDSTORE", b"SEARCH MODSEQ 1"),
    ("SPECIAL-USE", b'LIST (SPECIAL-USE) "" "*"'),
    ("SPECIAL-USE", b'LIST "" "*" RETURN (SPECIAL-USE)'),
    ("LIST-EXTENDED", b'LIST "" ("*")'),
    ("LIST-EXTENDED", b'LIST "" "*" RETURN (CHILDREN)'),
    ("LIST-EXTENDED", b'LIST "" "*" RETURN (STATUS (MESSAGES))'),
    ("LIST-STATUS", b'LIST "" "*" RETURN (STATUS (MESSAGES))'),
    ("ESEARCH", b"SEARCH RETURN (MIN) ALL"),
    ("UNSELECT", b"UNSELECT"),
    ("NAMESPACE", b"NAMESPACE"),
]


@pytest.mark.parametrize(("name", "line"), ABSENT)
async def test_without_an_extension_its_command_is_bad_and_with_it_fine(name: str, line: bytes) -> None:
    for without, status in (((), b"OK"), ((name,), b"BAD")):
        async with serving(numbered_mailbox(), *without) as peer:
            client = await peer.connect(b"INBOX")
            assert (await client.do(line)).status == status
            if without:
                assert list(peer.mailbox.folder("INBOX").messages) == [1, 2, 3]


@pytest.mark.parametrize("name", list(Extension))
async def test_without_an_extension_it_is_not_told(name: Extension) -> None:
    async with serving(None, name.value) as peer:
        client = await peer.connect(b"")
        told = (await client.do(b"CAPABILITY")).rows[0].split()
        expected = {one.value.encode() for one in Extension} - {name.value.encode()}
        if name is Extension.LIST_EXTENDED:
            expected.discard(b"LIST-STATUS")
        assert set(told) == {b"CAPABILITY", b"IMAP4rev1", *expected}


async def test_without_uidplus_no_code_tells_a_uid() -> None:
    async with serving(numbered_mailbox(), "UIDPLUS") as peer:
        client = await peer.connect(b"INBOX")
        assert (await client.do(b"APPEND Other ", Literal(MESSAGE))).code(b"APPENDUID") is None
        assert (await client.do(b"UID COPY 1 Other")).code(b"COPYUID") is None
        assert (await client.do(b"UID MOVE 1 Other")).code(b"COPYUID") is None
        assert len(peer.mailbox.folder("Other").messages) == 3


async def test_without_condstore_select_tells_no_mod_sequence_and_enable_does_nothing() -> None:
    async with serving(numbered_mailbox(), "CONDSTORE") as peer:
        client = await peer.connect(b"")
        assert (await client.do(b"ENABLE CONDSTORE")).rows == [b"ENABLED"]
        assert (await client.do(b"SELECT INBOX")).code(b"HIGHESTMODSEQ") is None
        assert (await client.do(b"UID STORE 1 +FLAGS (a)")).rows == [b"1 FETCH (UID 1 FLAGS (a))"]


async def test_without_special_use_and_children_list_is_bare() -> None:
    async with serving(seed_mailbox(NOW), "special-use", "children") as peer:
        client = await peer.connect(b"")
        assert (await client.do(b'LIST "" (Sent Projects)')).rows == [
            b'LIST () "/" "Sent"',
            b'LIST (\\Noselect) "/" "Projects"',
        ]


async def test_without_literal_plus_such_a_literal_ends_the_session() -> None:
    async with serving(None, "LITERAL+") as peer:
        client = await peer.connect(b"")
        client.writer.write(b"a APPEND INBOX {5+}\r\nhello\r\n")
        assert (await client.row()).startswith(b"* BYE")
        assert (await (await peer.connect(b"")).do(b"STATUS ", Literal(b"INBOX"), b" (MESSAGES)")).ok


async def test_without_sasl_ir_the_response_needs_its_continuation() -> None:
    response = base64.b64encode(f"\0{USERNAME}\0{PASSWORD}".encode())
    async with serving(None, "SASL-IR") as peer:
        client = await peer.connect()
        assert (await client.do(b"AUTHENTICATE PLAIN " + response)).status == b"BAD"
        client.writer.write(b"a AUTHENTICATE PLAIN\r\n")
        assert await client.row() == b"+ "
        client.writer.write(response + b"\r\n")
        assert (await client.row()).startswith(b"a OK")


def test_an_unknown_extension_cannot_be_taken_away() -> None:
    with pytest.raises(ValueError, match="FLYING"):
        DemoServer(DemoMailbox(), username="a", password="b", without=frozenset({"FLYING"}))
