"""How often a call waits for the mail server: counted by a proxy on the way, exactly, and never timed.

A turn is everything sent before the other side speaks again. Opening a connection costs one more, which the proxy does
not see: the TCP handshake.
"""

from __future__ import annotations

from base64 import b64decode, b64encode, encodebytes
from collections.abc import AsyncIterator, Awaitable

import pytest

from mailgate.limits import KIB, MIB, SCAN_UIDS_DEFAULT
from tests.peers.authority import authority
from tests.peers.dovecot import Dovecot, MailUser
from tests.peers.fault_proxy import Action, Conditions, Direction, Fault, FaultProxy
from tests.peers.processes import eventually
from tests.real.letters import letter
from tests.real.tools import WRITER, Result, Tools, refused, uids, writing_settings_for

FAR = 0.005
"""Seconds each way, so that an answer can never overtake what was sent together with its question."""


@pytest.fixture
async def proxy(dovecot: Dovecot) -> AsyncIterator[FaultProxy]:
    async with FaultProxy(dovecot.plain_port, Conditions(delay_up=FAR, delay_down=FAR)) as made:
        yield made


@pytest.fixture
async def tools(mail_user: MailUser, proxy: FaultProxy) -> AsyncIterator[Tools]:
    """The tools with every gate for writing open, seen by the proxy; nothing is connected yet."""
    made = Tools(writing_settings_for(mail_user, MAIL_IMAP_PORT=str(proxy.port)), WRITER)
    yield made
    await made.aclose()


async def newest(tools: Tools, proxy: FaultProxy, **arguments: object) -> tuple[Result, int]:
    """A page, and the turns that it took."""
    proxy.traffic.reset()
    page = await tools.search(**arguments)
    assert proxy.traffic.connections == 0
    return page, proxy.traffic.turns


async def test_a_warm_read_takes_one_turn(mail_user: MailUser, tools: Tools, proxy: FaultProxy) -> None:
    mail_user.append(bytes(letter("small")))
    reference = (await tools.search())["messages"][0]["reference"]
    proxy.traffic.reset()
    assert (await tools.read(reference))["untrusted"]["headers"]["subject"] == "small"
    assert proxy.traffic.turns == 1
    assert [command.split()[1] for command in bytes(proxy.traffic.sent).split(b"\r\n")[:-1]] == [b"EXAMINE", b"UID"]


async def test_after_a_pause_reading_and_the_newest_page_take_one_turn_all_the_same(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    mail_user.fill("INBOX", range(1, 41))
    reference = (await tools.search())["messages"][0]["reference"]
    monkeypatch.setattr("mailgate.imap.pool.CONNECTION_TRUSTED_SECONDS", -1.0)
    proxy.traffic.reset()
    await tools.read(reference)
    assert proxy.traffic.turns == 1
    assert [line.split()[1] for line in bytes(proxy.traffic.sent).split(b"\r\n")[:-1]] == [b"NOOP", b"EXAMINE", b"UID"]
    mail_user.append(bytes(letter("fresh")))
    page, turns = await newest(tools, proxy)
    assert (page["messages"][0]["reference"]["uid"], turns) == (41, 1)


def sent(proxy: FaultProxy) -> list[str]:
    """The names of the commands that passed since the last reset."""
    return [line.split(maxsplit=2)[1].decode() for line in bytes(proxy.traffic.sent).split(b"\r\n")[:-1]]


@pytest.fixture
def every_folder_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mailgate.imap.opening.KEPT_OPEN_MESSAGES", 1)


@pytest.mark.usefixtures("every_folder_is_large")
async def test_a_large_folder_stays_open_for_the_next_call(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    mail_user.fill("INBOX", range(1, 41))
    first = await tools.search()
    await tools.search()
    page, turns = await newest(tools, proxy)
    assert (sent(proxy), turns, page["messages"]) == (["UID", "NOOP"], 1, first["messages"])
    found, turns = await newest(tools, proxy, subject="number 7")
    assert (sent(proxy), turns, uids(found["messages"])) == (["UID", "NOOP", "UID"], 2, [7])
    proxy.traffic.reset()
    await tools.read(first["messages"][0]["reference"])
    assert (sent(proxy), proxy.traffic.turns) == (["UID", "NOOP"], 1)


@pytest.mark.usefixtures("every_folder_is_large")
async def test_a_folder_that_stayed_open_shows_what_came_what_went_and_what_changed(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    mail_user.fill("INBOX", range(1, 41))
    await tools.search()
    for number in range(41, 44):
        mail_user.append(bytes(letter(f"fresh {number}")))
        page, turns = await newest(tools, proxy)
        assert (page["messages"][0]["reference"]["uid"], turns) == (number, 2)
        page, turns = await newest(tools, proxy)
        assert (page["messages"][0]["reference"]["uid"], turns) == (number, 1)
    mail_user.mark(43, "\\Flagged")
    page, _ = await newest(tools, proxy)
    assert page["messages"][0]["flags"] == ["\\Flagged"]
    reference = page["messages"][0]["reference"]
    mail_user.expunge(43)
    with refused("message_not_found"):
        await tools.read(reference)
    page, _ = await newest(tools, proxy)
    assert page["messages"][0]["reference"]["uid"] == 42


@pytest.mark.usefixtures("every_folder_is_large")
async def test_mail_that_comes_while_another_folder_is_looked_at_is_shown(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    mail_user.fill("INBOX", range(1, 41))
    mail_user.create("Elsewhere")
    await tools.search()
    await tools.search(folder="Elsewhere")
    mail_user.append(bytes(letter("fresh")))
    page, _ = await newest(tools, proxy)
    assert page["messages"][0]["reference"]["uid"] == 41
    with refused("stale_reference"):
        await tools.read({**page["messages"][0]["reference"], "uid_validity": 1})


@pytest.mark.usefixtures("every_folder_is_large")
async def test_a_folder_rebuilt_while_it_stayed_open_makes_references_stale(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    mail_user.fill("INBOX", range(1, 41))
    reference = (await tools.search())["messages"][0]["reference"]
    mail_user.renew_uid_validity("INBOX", 77)
    with refused("stale_reference"):
        await tools.read(reference)
    assert (await tools.search())["messages"][0]["reference"]["uid_validity"] == 77


async def test_a_reference_of_another_uidvalidity_reads_nothing(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    mail_user.append(bytes(letter()))
    reference = (await tools.search())["messages"][0]["reference"]
    proxy.traffic.reset()
    with refused("stale_reference"):
        await tools.read({**reference, "uid_validity": reference["uid_validity"] + 1})
    assert proxy.traffic.turns == 1


async def test_the_newest_page_takes_one_turn_and_shows_what_came_a_moment_ago(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    mail_user.fill("INBOX", range(1, 61))
    await tools.search()
    for number in range(61, 71):
        mail_user.append(bytes(letter(f"fresh {number}")))
        page, turns = await newest(tools, proxy)
        assert uids(page["messages"]) == list(range(number, number - 25, -1))
        assert turns == 1


async def test_a_few_messages_beyond_one_window_cost_no_turn_of_their_own(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    mail_user.fill("INBOX", range(1, SCAN_UIDS_DEFAULT + 200))
    await tools.search()
    _, turns = await newest(tools, proxy, subject="number 7")
    assert turns == 2


async def test_a_folder_searched_before_is_searched_in_wider_windows(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    mail_user.fill("INBOX", range(1, 3 * SCAN_UIDS_DEFAULT + 1))
    await tools.folders()
    first, turns = await newest(tools, proxy, subject="nothing of the kind")
    assert (first["messages"], first["complete"]) == ([], True)
    again, fewer = await newest(tools, proxy, subject="nothing of the kind")
    assert (again["messages"], again["complete"]) == ([], True)
    assert (turns, fewer) == (3, 1)


async def test_the_first_page_of_a_process_takes_one_turn_more(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    mail_user.fill("INBOX", range(1, 61))
    await tools.folders()
    page, turns = await newest(tools, proxy)
    assert uids(page["messages"]) == list(range(60, 35, -1))
    assert turns == 2


async def test_a_guess_that_was_too_short_costs_one_turn_and_no_row(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    mail_user.fill("INBOX", range(1, 31))
    await tools.search()
    mail_user.append_all([bytes(letter(f"while away {number}")) for number in range(300)])
    page, turns = await newest(tools, proxy)
    assert uids(page["messages"]) == list(range(330, 305, -1))
    assert turns == 2
    assert (await newest(tools, proxy))[1] == 1


async def test_messages_that_went_away_cost_turns_and_no_row(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    mail_user.fill("INBOX", range(1, 61))
    await tools.search()
    for uid in range(41, 61):
        mail_user.expunge(uid)
    page, turns = await newest(tools, proxy)
    assert uids(page["messages"]) == list(range(40, 15, -1))
    assert turns == 3
    page, turns = await newest(tools, proxy)
    assert uids(page["messages"]) == list(range(40, 15, -1))
    assert turns == 1


async def test_a_folder_of_a_few_messages_is_complete_in_one_turn(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    mail_user.fill("Sparse", range(1_000, 9_000, 1_000))
    await tools.search(folder="Sparse")
    page, turns = await newest(tools, proxy, folder="Sparse")
    assert uids(page["messages"]) == list(range(8_000, 0, -1_000))
    assert page["complete"]
    assert turns == 1


@pytest.mark.parametrize("step", [1, 3, 40])
async def test_pages_to_the_end_lose_and_double_nothing(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy, step: int
) -> None:
    spread = range(step, 150 * step, step)
    mail_user.fill("Pages", spread)
    for order in ("newest", "newest", "oldest"):
        rows, _ = await tools.search_all(folder="Pages", order=order)
        assert uids(rows) == sorted(spread, reverse=order == "newest")


async def test_the_next_page_takes_one_turn_where_messages_are_close_together(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    mail_user.fill("INBOX", range(1, 101))
    page = await tools.search()
    mail_user.append(bytes(letter("after the first page")))
    page, turns = await newest(tools, proxy, cursor=page["next_cursor"])
    assert uids(page["messages"]) == list(range(75, 50, -1))
    assert turns == 1


@pytest.mark.parametrize("order", ["newest", "oldest"])
async def test_a_warm_filtered_page_takes_two_turns(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy, order: str
) -> None:
    mail_user.fill("INBOX", range(1, SCAN_UIDS_DEFAULT))
    await tools.search()
    page, turns = await newest(tools, proxy, from_="sender", subject="Message", order=order)
    assert len(page["messages"]) == 25
    assert turns == 2


async def test_a_filtered_page_sees_what_came_a_moment_ago(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    mail_user.fill("INBOX", range(1, 31))
    await tools.search()
    uid = mail_user.append(bytes(letter("needle")))
    page, turns = await newest(tools, proxy, subject="needle")
    assert uids(page["messages"]) == [uid]
    assert turns == 2


async def test_folders_with_roles_and_counts_take_one_turn(tools: Tools, proxy: FaultProxy) -> None:
    await tools.folders()
    proxy.traffic.reset()
    listed = await tools.folders(include_counts=True)
    assert listed["Trash"]["role"] == "trash"
    assert listed["INBOX"]["messages"] == 0
    assert proxy.traffic.turns == 1


async def test_marking_as_read_takes_one_turn_to_look_and_one_to_change(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    uid = mail_user.append(bytes(letter()))
    reference = await tools.reference(uid)
    proxy.conditions.faults = (Fault(Direction.UP, Action.STALL, pattern=b"UNSELECT"),)
    proxy.traffic.reset()
    result = await tools.call("mail_set_flags", reference=reference, operation="add", flags=["\\Seen"])
    assert result["flags"] == ["\\Seen"]
    assert await eventually(lambda: proxy.traffic.faults == 1)
    # Leaving the folder is sent, and nobody waits for it: here it is never answered.
    sent = bytes(proxy.traffic.sent).split(b"\r\n")
    assert [b" ".join(line.split()[1:3]) for line in sent[:3]] == [b'SELECT "INBOX"', b"UID FETCH", b"UID STORE"]
    assert proxy.traffic.turns == 3
    proxy.conditions.faults = ()
    assert (await tools.read(reference))["flags"] == ["\\Seen"]


async def test_a_cold_read_takes_a_login_and_one_turn(mail_user: MailUser, tools: Tools, proxy: FaultProxy) -> None:
    uid = mail_user.append(bytes(letter("cold")))
    other = Tools(writing_settings_for(mail_user), WRITER)
    reference = await other.reference(uid)
    await other.aclose()
    assert (await tools.read(reference))["untrusted"]["headers"]["subject"] == "cold"
    assert (proxy.traffic.turns, proxy.traffic.connections) == (2, 1)


async def test_a_cold_search_takes_a_login_and_three_turns(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    mail_user.fill("INBOX", range(1, 31))
    assert len((await tools.search(from_="sender"))["messages"]) == 25
    assert (proxy.traffic.turns, proxy.traffic.connections) == (4, 1)


async def test_tls_adds_the_turns_of_its_handshake_and_the_greeting(mail_user: MailUser, dovecot: Dovecot) -> None:
    uid = mail_user.append(bytes(letter("cold")))
    other = Tools(writing_settings_for(mail_user), WRITER)
    reference = await other.reference(uid)
    await other.aclose()
    async with FaultProxy(dovecot.tls_port, Conditions(delay_up=FAR, delay_down=FAR)) as proxy:
        environ = writing_settings_for(
            mail_user,
            MAIL_IMAP_HOST="localhost",
            MAIL_IMAP_PORT=str(proxy.port),
            MAIL_IMAP_SECURITY="tls",
            MAIL_TLS_CA_FILE=str(authority().ca_file),
        )
        tools = Tools(environ, WRITER)
        await tools.read(reference)
        # Hello, Finished, login, and the read; the greeting is the answer to Finished.
        assert (proxy.traffic.turns, proxy.traffic.connections) == (4, 1)
        await tools.aclose()


# --- large messages ------------------------------------------------------------------------------------------------


def parcel(*files: tuple[str, int], text_at: int = 0) -> tuple[bytes, dict[str, bytes]]:
    """A message with files of so many octets, and its text as the part with this number (from zero)."""
    head = b"From: ann@example.org\r\nSubject: parcel\r\nContent-Type: multipart/mixed; boundary=b\r\n"
    contents = {name: bytes(range(256)) * (octets // 256) for name, octets in files}
    parts = [
        f'Content-Type: application/octet-stream; name="{name}"\r\nContent-Transfer-Encoding: base64\r\n\r\n'.encode()
        + encodebytes(data).replace(b"\n", b"\r\n").removesuffix(b"\r\n")
        for name, data in contents.items()
    ]
    parts.insert(text_at, b"Content-Type: text/plain; charset=utf-8\r\n\r\nThe text.")
    return head + b"".join(b"\r\n--b\r\n" + part for part in parts) + b"\r\n--b--\r\n", contents


TWENTY = (("two.bin", 2 * MIB), ("ten.bin", 10 * MIB), ("late.bin", 2 * MIB), ("last.bin", 256))


async def turns_of(proxy: FaultProxy, work: Awaitable[Result]) -> tuple[Result, int, int]:
    """The answer, the turns that it took, and the octets that came."""
    proxy.traffic.reset()
    answer = await work
    return answer, proxy.traffic.turns, proxy.traffic.down


def octets_of(answer: Result) -> bytes:
    return b64decode(answer["untrusted"]["data_base64"])


@pytest.mark.requirement("M8", "G3")
async def test_of_20_mib_the_text_takes_one_turn_and_so_does_each_attachment_after_it(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    message, files = parcel(*TWENTY)
    assert len(message) > 19 * MIB
    mail_user.append(message)
    reference = (await tools.search())["messages"][0]["reference"]
    answer, turns, down = await turns_of(proxy, tools.read(reference))
    assert answer["untrusted"]["text"] == "The text."
    assert [each["filename"] for each in answer["untrusted"]["attachments"]] == list(files)
    assert "warnings" not in answer or answer["warnings"] == []
    assert (turns, answer["truncated_by"]) == (1, "none")
    assert down <= 64 * KIB
    for index, name in ((1, "two.bin"), (3, "late.bin"), (4, "last.bin")):
        got = tools.call("mail_get_attachment", reference=reference, index=index)
        answer, turns, down = await turns_of(proxy, got)
        assert octets_of(answer) == files[name]
        assert turns == 1
        assert down <= 1.4 * len(b64encode(files[name])) + 4 * KIB


@pytest.mark.requirement("G3")
async def test_an_attachment_of_a_message_that_was_not_read_takes_two_turns(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    message, files = parcel(*TWENTY)
    mail_user.append(message)
    reference = (await tools.search())["messages"][0]["reference"]
    got = tools.call("mail_get_attachment", reference=reference, index=3)
    answer, turns, down = await turns_of(proxy, got)
    assert octets_of(answer) == files["late.bin"]
    assert turns == 2
    assert down <= 1.4 * len(b64encode(files["late.bin"]))


@pytest.mark.requirement("G3")
async def test_an_attachment_that_is_too_large_takes_one_turn(
    mail_user: MailUser, tools: Tools, proxy: FaultProxy
) -> None:
    mail_user.append(parcel(*TWENTY)[0])
    reference = (await tools.search())["messages"][0]["reference"]
    for _ in range(2):
        proxy.traffic.reset()
        with refused("attachment_too_large"):
            await tools.call("mail_get_attachment", reference=reference, index=2)
        assert proxy.traffic.turns == 1
        assert proxy.traffic.down <= 64 * KIB


@pytest.mark.requirement("M8")
async def test_a_text_behind_a_picture_takes_two_turns(mail_user: MailUser, tools: Tools, proxy: FaultProxy) -> None:
    message, files = parcel(*TWENTY, text_at=2)
    mail_user.append(message)
    reference = (await tools.search())["messages"][0]["reference"]
    answer, turns, down = await turns_of(proxy, tools.read(reference))
    assert answer["untrusted"]["text"] == "The text."
    assert [each["filename"] for each in answer["untrusted"]["attachments"]] == list(files)
    assert turns == 2
    assert down <= 64 * KIB
