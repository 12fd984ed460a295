"""LIST, STATUS, CREATE, RENAME, DELETE, SUBSCRIBE, APPEND."""

from __future__ import annotations

import pytest

from mailgate.demo.seed import seed_mailbox
from tests.demo.raw_client import MESSAGE, NOW, Literal, numbered_mailbox, serving


async def listed(*pieces: bytes) -> list[bytes]:
    async with serving(seed_mailbox(NOW)) as peer:
        answer = await (await peer.connect(b"")).do(*pieces)
        assert answer.ok
        return answer.rows


async def test_list_shows_every_folder_with_special_use_children_and_modified_utf7() -> None:
    assert await listed(b'LIST "" "*"') == [
        b'LIST (\\HasNoChildren) "/" "INBOX"',
        b'LIST (\\HasNoChildren \\Drafts) "/" "Drafts"',
        b'LIST (\\HasNoChildren \\Sent) "/" "Sent"',
        b'LIST (\\HasNoChildren \\Trash) "/" "Trash"',
        b'LIST (\\HasNoChildren \\Junk) "/" "Junk"',
        b'LIST (\\HasNoChildren \\Archive) "/" "Archive"',
        b'LIST (\\Noselect \\HasChildren) "/" "Projects"',
        b'LIST (\\HasNoChildren) "/" "Projects/Aurora"',
        b'LIST (\\HasNoChildren) "/" "R&AOk-unions &- Budget"',
        b'LIST (\\HasNoChildren) "/" "&ZeVnLIqe-"',
    ]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        (b'"" "%"', {b'"Projects"', b'"INBOX"', b'"Sent"'}),
        (b'"" "Projects/%"', {b'"Projects/Aurora"'}),
        (b'"Projects/" "*"', {b'"Projects/Aurora"'}),
        (b'"" inbox', {b'"INBOX"'}),
        (b'"" *a', {b'"Projects/Aurora"'}),
        (b'"" "no such"', set()),
    ],
)
async def test_list_patterns(pattern: bytes, names: set[bytes]) -> None:
    rows = await listed(b"LIST " + pattern)
    assert names <= {row.rpartition(b" ")[2] for row in rows}
    assert names or not rows
    assert b"%" not in pattern or all(row.count(b"/") == pattern.count(b"/") + 1 for row in rows)


async def test_an_empty_pattern_asks_for_the_delimiter() -> None:
    assert await listed(b'LIST "" ""') == [b'LIST (\\Noselect) "/" ""']


async def test_list_status_follows_each_folder_that_can_be_selected() -> None:
    rows = await listed(b'LIST "" ("INBOX" "Proj*") RETURN (SPECIAL-USE STATUS (MESSAGES UIDVALIDITY))')
    assert [row.split(b" ")[0] for row in rows] == [b"LIST", b"STATUS", b"LIST", b"LIST", b"STATUS"]
    assert rows[4] == b'STATUS "Projects/Aurora" (MESSAGES 4 UIDVALIDITY 1700000008)'


async def test_selecting_by_special_use_lists_only_those() -> None:
    rows = await listed(b'LIST (SPECIAL-USE) "" "*" RETURN (CHILDREN SUBSCRIBED)')
    assert [row.rpartition(b" ")[2] for row in rows] == [b'"Drafts"', b'"Sent"', b'"Trash"', b'"Junk"', b'"Archive"']
    assert all(b"\\Subscribed" in row for row in rows)


async def test_status_counts() -> None:
    async with serving(numbered_mailbox(3)) as peer:
        client = await peer.connect(b"")
        await client.do(b"APPEND INBOX (\\Seen) ", Literal(MESSAGE))
        answer = await client.do(b"STATUS inbox (MESSAGES RECENT UIDNEXT UIDVALIDITY UNSEEN HIGHESTMODSEQ)")
        assert answer.rows == [
            b'STATUS "INBOX" (MESSAGES 4 RECENT 0 UIDNEXT 5 UIDVALIDITY 1700000001 UNSEEN 3 HIGHESTMODSEQ 5)'
        ]


@pytest.mark.parametrize(("name", "code"), [(b"Nowhere", b"[NONEXISTENT]"), (b"Projects", b"[CANNOT]")])
async def test_a_name_without_messages_cannot_be_opened_or_counted(name: bytes, code: bytes) -> None:
    async with serving(seed_mailbox(NOW)) as peer:
        client = await peer.connect(b"INBOX")
        assert (await client.do(b"STATUS %b (MESSAGES)" % name)).text.startswith(code)
        answer = await client.do(b"SELECT " + name)
        assert (answer.status, answer.text.split()[0]) == (b"NO", code)
        assert (await client.do(b"FETCH 1 FLAGS")).status == b"BAD"


async def test_create_makes_the_levels_above_and_refuses_what_exists() -> None:
    async with serving() as peer:
        client = await peer.connect(b"")
        assert (await client.do(b'CREATE "A/B&AOk-/C"')).ok
        assert list(peer.mailbox.folders) == ["INBOX", "A", "A/Bé", "A/Bé/C"]
        assert (await client.do(b'CREATE "A/B&AOk-/C"')).text.startswith(b"[ALREADYEXISTS]")
        assert (await client.do(b"CREATE inbox")).text.startswith(b"[ALREADYEXISTS]")
        assert (await client.do(b"CREATE A")).ok
        assert (await client.do(b"SELECT A")).ok
        assert (await client.do(b"CREATE x//y")).status == b"NO"


@pytest.mark.parametrize("octets", [b"a\r\nb", b"a\nb/c", b"x/" + b"y" * 1100, b"/x", b"", b"caf\xe9\n/x"])
async def test_a_name_that_list_could_not_show_is_refused(octets: bytes) -> None:
    async with serving() as peer:
        client = await peer.connect(b"")
        assert not (await client.do(b"CREATE ", Literal(octets))).ok
        await client.do(b"CREATE A/" + b"B" * 600)
        assert not (await client.do(b"RENAME A " + b"C" * 600)).ok
        assert len((await client.do(b'LIST "" *')).rows) == 3


async def test_a_name_of_raw_octets_is_kept_and_listed() -> None:
    async with serving() as peer:
        client = await peer.connect(b"")
        assert (await client.do(b"CREATE ", Literal(b"&bad%&-"))).ok
        assert (await client.do(b'LIST "" "&bad*"')).rows == [b'LIST (\\HasNoChildren) "/" "&bad%&-"']
        assert (await client.do(b'SELECT "&bad%&-"')).ok


async def test_a_pattern_of_many_wildcards_is_refused() -> None:
    async with serving() as peer:
        assert (await (await peer.connect(b"")).do(b'LIST "" "' + b"*a" * 9 + b'"')).status == b"NO"


async def test_rename_takes_everything_below_along_and_keeps_uidvalidity() -> None:
    async with serving() as peer:
        client = await peer.connect(b"")
        await client.do(b"CREATE A/B/C")
        before = peer.mailbox.folder("A/B/C").uid_validity
        assert (await client.do(b"RENAME A/B X/Y")).ok
        assert list(peer.mailbox.folders) == ["INBOX", "A", "X/Y", "X/Y/C", "X"]
        assert peer.mailbox.folder("X/Y/C").uid_validity == before
        assert (await client.do(b"RENAME A X")).text.startswith(b"[ALREADYEXISTS]")
        assert (await client.do(b"RENAME Q R")).text.startswith(b"[NONEXISTENT]")
        assert (await client.do(b"RENAME X X/Z")).status == b"NO"


async def test_renaming_inbox_empties_it_into_the_new_folder() -> None:
    async with serving(numbered_mailbox(2)) as peer:
        client = await peer.connect(b"")
        assert (await client.do(b"RENAME inbox Old")).ok
        assert (len(peer.mailbox.folder("INBOX").messages), len(peer.mailbox.folder("Old").messages)) == (0, 2)


async def test_delete_and_a_folder_made_anew_has_another_uidvalidity() -> None:
    async with serving(numbered_mailbox()) as peer:
        client = await peer.connect(b"")
        before = peer.mailbox.folder("Other").uid_validity
        assert (await client.do(b"DELETE Other")).ok
        assert (await client.do(b"DELETE Other")).text.startswith(b"[NONEXISTENT]")
        await client.do(b"CREATE Other")
        assert peer.mailbox.folder("Other").uid_validity > before
        assert (await client.do(b"DELETE INBOX")).status == b"NO"


async def test_deleting_a_folder_with_others_below_leaves_its_name() -> None:
    async with serving() as peer:
        client = await peer.connect(b"")
        for name in (b"A", b"A/B"):
            await client.do(b"CREATE " + name)
        assert (await client.do(b"DELETE A")).ok
        assert not peer.mailbox.folder("A").selectable
        assert (await client.do(b"DELETE A")).text.startswith(b"[HASCHILDREN]")


async def test_a_session_whose_folder_is_deleted_or_restored_is_told_bye() -> None:
    async with serving(numbered_mailbox()) as peer:
        one, two = await peer.connect(b"Other"), await peer.connect(b"INBOX")
        peer.mailbox.delete("Other")
        assert peer.mailbox.renew_uid_validity("INBOX") > 1_700_000_002
        assert (await one.do(b"NOOP")).rows_of(b"BYE")
        assert (await two.do(b"NOOP")).rows_of(b"BYE")


async def test_subscriptions_are_accepted() -> None:
    async with serving() as peer:
        client = await peer.connect(b"")
        assert (await client.do(b"SUBSCRIBE INBOX")).ok
        assert (await client.do(b"UNSUBSCRIBE INBOX")).ok


async def test_append_keeps_octets_flags_and_date_and_names_the_uid() -> None:
    async with serving() as peer:
        client = await peer.connect(b"INBOX")
        raw = MESSAGE + bytes(range(1, 256))
        answer = await client.do(
            b'APPEND INBOX (\\seen Project) " 2-Feb-2024 03:04:05 -0130" ', Literal(raw, plus=True)
        )
        assert answer.code(b"APPENDUID") == b"1700000001 1"
        assert answer.rows == [b"1 EXISTS"]
        fetched = (await client.do(b"UID FETCH 1 (FLAGS INTERNALDATE BODY.PEEK[])")).rows[0]
        assert b'FLAGS (\\Seen Project) INTERNALDATE " 2-Feb-2024 03:04:05 -0130"' in fetched
        assert fetched.endswith(b" {%d}\r\n%b)" % (len(raw), raw))


@pytest.mark.parametrize(
    ("line", "octets", "status"),
    [
        (b"APPEND Nowhere ", MESSAGE, b"NO"),
        (b"APPEND INBOX (\\Recent) ", MESSAGE, b"BAD"),
        (b'APPEND INBOX "32-Feb-2024 03:04:05 -0130" ', MESSAGE, b"BAD"),
        (b"APPEND INBOX ", b"", b"NO"),
        (b"APPEND INBOX ", b"a\0b", b"BAD"),
    ],
)
async def test_append_refuses(line: bytes, octets: bytes, status: bytes) -> None:
    async with serving() as peer:
        client = await peer.connect(b"")
        answer = await client.do(line, Literal(octets))
        assert answer.status == status
        assert (b"[TRYCREATE]" in answer.text) == (b"Nowhere" in line)
        assert not peer.mailbox.folder("INBOX").messages
