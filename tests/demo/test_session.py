"""Logging in, states, literals, bounds, and how a session ends."""

from __future__ import annotations

import asyncio
import base64

import pytest

from mailgate.demo import reading, server, session
from tests.demo.raw_client import MESSAGE, NOW, PASSWORD, USERNAME, Literal, RawClient, numbered_mailbox, serving

PLAIN = base64.b64encode(f"\0{USERNAME}\0{PASSWORD}".encode())


async def test_the_greeting_and_capability_before_login_tell_less_than_after_it() -> None:
    async with serving() as peer:
        client = await peer.connect()
        before = (await client.do(b"CAPABILITY")).rows_of(b"CAPABILITY")[0].split()
        assert b"AUTH=PLAIN" in before
        assert b"MOVE" not in before
        answer = await client.do(b'LOGIN %b "%b"' % (USERNAME.encode(), PASSWORD.encode()))
        told = (answer.code(b"CAPABILITY") or b"").split()
        assert (await client.do(b"CAPABILITY")).rows_of(b"CAPABILITY")[0].split()[1:] == told
        assert {b"IMAP4rev1", b"MOVE", b"UIDPLUS", b"CONDSTORE", b"ESEARCH", b"LIST-STATUS"} <= set(told)


@pytest.mark.parametrize("arguments", [b"robin@example.com wrong", b'nobody "open sesame"', b'"" ""'])
async def test_a_wrong_login_is_refused_and_says_so(arguments: bytes) -> None:
    async with serving() as peer:
        client = await peer.connect()
        answer = await client.do(b"LOGIN " + arguments)
        assert answer.status == b"NO"
        assert answer.code(b"AUTHENTICATIONFAILED") == b""
        assert (await client.do(b"SELECT INBOX")).status == b"BAD"


async def test_the_third_wrong_login_ends_the_session() -> None:
    async with serving() as peer:
        client = await peer.connect()
        answers = [await client.do(b"LOGIN a b") for _ in range(3)]
        assert answers[2].rows_of(b"BYE")
        assert await client.row() == b""


async def test_login_takes_literals() -> None:
    async with serving() as peer:
        client = await peer.connect()
        assert (await client.do(b"LOGIN ", Literal(USERNAME.encode()), b" ", Literal(PASSWORD.encode(), plus=True))).ok


async def test_authenticate_plain_with_the_initial_response() -> None:
    async with serving() as peer:
        client = await peer.connect()
        assert (await client.do(b"AUTHENTICATE PLAIN " + PLAIN)).ok


@pytest.mark.parametrize(("line", "status"), [(PLAIN, b"OK"), (b"*", b"BAD"), (b"????", b"BAD"), (b"AAAA", b"BAD")])
async def test_authenticate_plain_with_a_continuation(line: bytes, status: bytes) -> None:
    async with serving() as peer:
        client = await peer.connect()
        client.writer.write(b"a AUTHENTICATE PLAIN\r\n")
        assert await client.row() == b"+ "
        client.writer.write(line + b"\r\n")
        assert (await client.row()).startswith(b"a " + status)


async def test_another_mechanism_is_refused() -> None:
    async with serving() as peer:
        assert (await (await peer.connect()).do(b"AUTHENTICATE CRAM-MD5")).status == b"NO"


async def test_logout_says_bye_and_closes() -> None:
    async with serving() as peer:
        client = await peer.connect(b"")
        answer = await client.do(b"LOGOUT")
        assert answer.ok
        assert answer.rows_of(b"BYE")
        assert await client.row() == b""


async def test_noop_id_namespace_and_enable_answer() -> None:
    async with serving() as peer:
        client = await peer.connect(b"")
        assert (await client.do(b"NOOP")).ok
        assert (await client.do(b'ID ("name" "mailgate" "version" NIL)')).rows_of(b"ID")
        assert (await client.do(b"ID NIL")).ok
        assert (await client.do(b"NAMESPACE")).rows == [b'NAMESPACE (("" "/")) NIL NIL']
        assert (await client.do(b"ENABLE CONDSTORE X-OTHER")).rows == [b"ENABLED CONDSTORE"]


@pytest.mark.parametrize(
    "line",
    [
        b"XYZZY",
        b"",
        b"SELECT",
        b"SELECT  INBOX",
        b"SELECT INBOX ",
        b'SELECT "INBOX',
        b"STATUS INBOX ()",
        b"STATUS INBOX (WEATHER)",
        b"FETCH 1 FLAGS",
        b"UID",
        b"UID NOOP",
        b"LOGIN again again",
        b"ENABLE",
        b"ID (1 2)",
        b'SELECT "caf\xc3\xa9"',
        b"SELECT \x00",
    ],
)
async def test_what_the_grammar_or_the_state_does_not_allow_is_bad_and_the_session_goes_on(line: bytes) -> None:
    async with serving() as peer:
        client = await peer.connect(b"")
        assert (await client.do(line)).status == b"BAD"
        assert (await client.do(b"NOOP")).ok


async def test_every_command_reaches_the_hook_as_it_was_sent() -> None:
    async with serving() as peer:
        client = await peer.connect(b"")
        await client.do(b"APPEND INBOX (\\Seen) ", Literal(MESSAGE, plus=True))
        await client.do(b"STATUS ", Literal(b"INBOX"), b" (MESSAGES)")
        assert peer.commands[1] == b"t2 APPEND INBOX (\\Seen) {%d+}\r\n%b" % (len(MESSAGE), MESSAGE)
        assert peer.commands[2] == b"t3 STATUS {5}\r\nINBOX (MESSAGES)"


async def test_a_synchronising_literal_over_the_bound_is_refused_and_the_session_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "MAX_LITERALS", 100)
    async with serving() as peer:
        client = await peer.connect(b"")
        answer = await client.do(b"APPEND INBOX ", Literal(b"x" * 101))
        assert (answer.status, answer.text[:8]) == (b"NO", b"[TOOBIG]")
        assert (await client.do(b"NOOP")).ok


async def test_an_unasked_literal_over_the_bound_ends_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_LITERALS", 100)
    async with serving() as peer:
        client = await peer.connect(b"")
        client.writer.write(b"a APPEND INBOX {101+}\r\n")
        assert (await client.row()).startswith(b"* BYE")


async def test_a_line_over_the_bound_ends_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_LINE", 1024)
    async with serving() as peer:
        client = await peer.connect(b"")
        client.writer.write(b"a NOOP" + b" " * 5000)
        assert (await client.row()).startswith(b"* BYE")


async def test_a_client_that_is_never_understood_is_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "BAD_COMMANDS_MAX", 3)
    async with serving() as peer:
        client = await peer.connect(b"")
        for _ in range(3):
            await client.do(b"HUH")
        assert (await client.row()).startswith(b"* BYE")


async def test_one_session_too_many_is_told_bye_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "SESSIONS_MAX", 1)
    async with serving() as peer:
        first = await peer.connect(b"")
        second = RawClient(*await asyncio.open_connection("127.0.0.1", peer.port))
        peer.clients.append(second)
        assert (await second.row()).startswith(b"* BYE [UNAVAILABLE]")
        assert await second.row() == b""
        assert (await first.do(b"NOOP")).ok


async def test_stopping_says_bye_to_every_session() -> None:
    async with serving() as peer:
        clients = [await peer.connect(), await peer.connect(b"INBOX")]
        await peer.server.stop()
        for client in clients:
            assert (await client.row()).startswith(b"* BYE")
            assert await client.row() == b""
        await peer.server.stop()


async def test_stopping_does_not_wait_for_a_client_that_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "STOP_SECONDS", 0.01)
    mailbox = numbered_mailbox(1)
    mailbox.append("INBOX", b"x" * 8_000_000, (), NOW)
    async with serving(mailbox) as peer:
        client = await peer.connect(b"INBOX")
        client.writer.write(b"a UID FETCH 2 BODY.PEEK[]\r\n")
        assert (await client.reader.readline()).startswith(b"* 2 FETCH")
        async with asyncio.timeout(5):
            await peer.server.stop()


async def test_an_authentication_that_never_ends_its_line_ends_the_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_LINE", 1024)
    async with serving() as peer:
        client = await peer.connect()
        client.writer.write(b"a AUTHENTICATE PLAIN\r\n" + b"A" * 5000)
        assert await client.row() == b"+ "
        assert (await client.row()).startswith(b"* BYE")


async def test_a_client_that_goes_away_in_mid_literal_leaves_the_server_well() -> None:
    async with serving(numbered_mailbox()) as peer:
        client = await peer.connect(b"INBOX")
        client.writer.write(b"a APPEND INBOX {100+}\r\nhalf")
        client.writer.write_eof()
        assert await client.row() == b""
        assert (await (await peer.connect(b"INBOX")).do(b"NOOP")).ok


async def test_commands_sent_in_one_go_are_answered_in_order() -> None:
    async with serving(numbered_mailbox()) as peer:
        client = await peer.connect(b"INBOX")
        client.writer.write(b"a NOOP\r\nb UID SEARCH ALL\r\nc NOOP\r\n")
        assert [(await client.row())[:8] for _ in range(4)] == [b"a OK don", b"* SEARCH", b"b OK sea", b"c OK don"]
