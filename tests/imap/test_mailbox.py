"""The mailbox as a whole: what no dialogue can show with one sentence, and a real server."""

from __future__ import annotations

import asyncio
import gc
import time

import pytest

from mailgate.errors import (
    FolderNotFound,
    FolderNotSelectable,
    InvalidArgument,
    MessageNotFound,
    StaleReference,
    UpstreamAuthFailed,
    UpstreamUnavailable,
)
from mailgate.imap import listing
from mailgate.imap.criteria import SearchCriteria
from mailgate.imap.endpoint import Credentials, ImapEndpoint, Security
from mailgate.imap.hidden import ANY_DELIMITER, HiddenFolders
from mailgate.imap.mailbox import Mailbox
from mailgate.imap.readable import ReadableFolder
from mailgate.imap.values import INBOX, FolderName, ScanWindow, SpecialUse, Uid, UidValidity
from mailgate.imap.writable import WritableFolder
from tests.imap.sessions import USER, loopback, mailbox_on, peer_in_a_thread
from tests.peers.authority import authority
from tests.peers.dovecot import Dovecot, MailUser

SECRET = HiddenFolders(frozenset({FolderName("Secret"), FolderName("A/B")}))


@pytest.mark.parametrize("name", ["Secret", "secret", "Secret/", "/Secret", "Secret//x", "Secret/x/y", "a/b", "A/B/c"])
def test_hidden_means_every_spelling_and_everything_below(name: str) -> None:
    assert SECRET.hides(FolderName(name), "/")


@pytest.mark.parametrize("name", ["Secretary", "x/Secret", "A", "A/Bc", "Secret.x", "INBOX"])
def test_what_only_resembles_a_hidden_folder_stays(name: str) -> None:
    assert not SECRET.hides(FolderName(name), "/")


def test_without_hierarchy_only_the_name_itself_is_hidden() -> None:
    assert SECRET.hides(FolderName("Secret"), None)
    assert not SECRET.hides(FolderName("Secret/x"), None)


def test_an_unknown_delimiter_hides_rather_too_much() -> None:
    assert SECRET.hides(FolderName("Secret.x"), ANY_DELIMITER)


def test_octets_that_a_server_may_read_as_the_hidden_name_are_hidden() -> None:
    assert SECRET.hides(FolderName("wire:&AFM-ecret"), "/")
    assert SECRET.hides(FolderName("wire:&AFM-ecret/x"), "/")


def test_a_composed_and_a_decomposed_name_are_one() -> None:
    hidden = HiddenFolders(frozenset({FolderName("Pers\u00f6nlich")}))
    assert hidden.hides(FolderName("Perso\u0308nlich"), "/")


async def test_nothing_is_hidden_unless_asked_and_nothing_is_asked_then() -> None:
    async with mailbox_on("@login IMAP4rev1\n@examine") as (mailbox, peer):
        async with mailbox.examine(FolderName("Secret")) as folder:
            assert folder.name == FolderName("Secret")
        assert [command.split()[0] for command in peer.commands] == [b"LOGIN", b"EXAMINE"]


async def test_the_delimiter_is_asked_for_once() -> None:
    hidden = frozenset({FolderName("Secret")})
    text = '@login IMAP4rev1\nC: $ LIST "" ""\nS: * LIST (\\Noselect) "." ""\nS: $ OK done'
    async with mailbox_on(text, hidden=hidden) as (mailbox, peer):
        for name in ("Secret", "Secret.x"):
            with pytest.raises(FolderNotFound):
                await mailbox.resolve(name)
        assert await mailbox.resolve("Secret/x") == FolderName("Secret/x")
        assert peer.problems == []


async def test_a_server_that_hides_its_delimiter_hides_the_folder_all_the_more() -> None:
    text = '@login IMAP4rev1\nC: $ LIST "" ""\nS: $ NO no'
    async with mailbox_on(text, hidden=frozenset({FolderName("Secret")})) as (mailbox, _):
        for name in ("Secret.x", "Secret/x"):
            with pytest.raises(FolderNotFound):
                await mailbox.resolve(name)


@pytest.mark.parametrize("argument", ["", "a\nb", "x" * 1001, "role:", "role:spam"])
async def test_a_folder_of_bad_form_is_an_invalid_argument(argument: str) -> None:
    mailbox = Mailbox(loopback(1), USER)
    with pytest.raises(InvalidArgument) as raised:
        await mailbox.resolve(argument)
    assert "spam" not in raised.value.render()


async def test_a_name_that_no_server_can_have_is_not_found() -> None:
    async with mailbox_on("@login IMAP4rev1") as (mailbox, peer):
        for name in ("wire:INBOX", "wire:a%0Ab", "wire:%zz"):
            with pytest.raises(FolderNotFound):
                async with mailbox.examine(FolderName(name)):
                    pass
        assert [command.split()[0] for command in peer.commands] == [b"LOGIN"]


async def test_inbox_needs_no_server_to_be_resolved() -> None:
    assert await Mailbox(loopback(1), USER).resolve("inbox") == INBOX


SELECTED = 'C: $ SELECT "INBOX"\nS: * 3 EXISTS\nS: * OK [UIDVALIDITY 7] v\nS: $ OK [READ-WRITE] done\n'


async def test_a_kept_connection_that_died_is_replaced_before_the_folder_is_lent_for_writing() -> None:
    first = "@login IMAP4rev1\n@examine\nC: $ SELECT ...\nS-cut"
    async with mailbox_on(first, "@login IMAP4rev1\n" + SELECTED) as (mailbox, peer):
        async with mailbox.examine(INBOX):
            pass
        async with mailbox.select(INBOX) as folder:
            assert folder.uid_validity == 7
        assert peer.problems == []


async def test_a_select_that_had_begun_to_be_answered_is_not_repeated() -> None:
    first = "@login IMAP4rev1\n@examine\nC: $ SELECT ...\nS: * 3 EXISTS\nS-cut"
    async with mailbox_on(first) as (mailbox, peer):
        async with mailbox.examine(INBOX):
            pass
        with pytest.raises(UpstreamUnavailable):
            async with mailbox.select(INBOX):
                pass
        assert peer.accepted == 1


async def test_select_compares_uidvalidity_too() -> None:
    text = '@login IMAP4rev1\nC: $ SELECT "INBOX"\nS: * 3 EXISTS\nS: * OK [UIDVALIDITY 7] v\nS: $ OK done\n'
    async with mailbox_on(text + text.partition("\n")[2]) as (mailbox, _):
        with pytest.raises(StaleReference):
            async with mailbox.select(INBOX, uid_validity=UidValidity(8)) as folder:
                await folder.open()
        async with mailbox.select(INBOX, uid_validity=UidValidity(7)) as folder:
            await folder.open()
            assert isinstance(folder, WritableFolder)


async def test_a_folder_that_was_given_back_reads_nothing_more() -> None:
    async with mailbox_on("@login IMAP4rev1\n@examine") as (mailbox, peer):
        async with mailbox.examine(INBOX) as folder:
            pass
        with pytest.raises(RuntimeError):
            await folder.fetch_source(Uid(5), 100)
        assert folder.uid_validity == 7
        assert peer.problems == []


async def test_a_command_left_running_costs_the_connection() -> None:
    first = "@login IMAP4rev1\n@examine\nC: $ UID FETCH ...\nS-stall"
    async with mailbox_on(first, "@login IMAP4rev1\n@examine") as (mailbox, peer):
        async with mailbox.examine(INBOX) as folder:
            left = asyncio.ensure_future(folder.fetch_source(Uid(5), 100))
            while not any(command.startswith(b"UID FETCH") for command in peer.commands):
                await asyncio.sleep(0)
        with pytest.raises(UpstreamUnavailable):
            await left
        async with mailbox.examine(INBOX):
            pass
        assert peer.problems == []


def test_the_readable_folder_has_no_method_that_writes() -> None:
    public = {name for name in dir(ReadableFolder) if not name.startswith("_")}
    assert public == {
        "fetch_head",
        "fetch_heads",
        "fetch_previews",
        "fetch_beginning",
        "fetch_sections",
        "fetch_source",
        "fetch_sources",
        "fetch_summaries",
        "give_back",
        "highest_modseq",
        "last_uid",
        "look",
        "messages",
        "open",
        "uid_next",
        "uid_search",
        "uid_validity",
    }


async def test_status_is_asked_within_bounds_and_the_rest_is_flagged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "STATUS_MAX", 1)
    text = (
        '@login IMAP4rev1\nC: $ LIST "" "*"\nS: * LIST () "/" a\nS: * LIST () "/" b\nS: $ OK done\n'
        'C: $ STATUS "a" ...\nS: * STATUS a (MESSAGES 1)\nS: $ OK done'
    )
    async with mailbox_on(text) as (mailbox, peer):
        rows = (await mailbox.list_folders(counts=True)).folders
        assert [(row.messages, row.status_failed) for row in rows] == [(1, False), (None, True)]
        assert peer.problems == []


async def test_healthy_calls_go_on_beside_a_stuck_one() -> None:
    stuck = "@login IMAP4rev1\n@examine\nC: $ UID FETCH ...\nS-drip: *"
    healthy = "@login IMAP4rev1\n" + "@examine\n" * 20
    async with mailbox_on(stuck, healthy, command_seconds=5) as (mailbox, peer):
        async with mailbox.examine(INBOX) as folder:
            slow = asyncio.ensure_future(folder.fetch_source(Uid(5), 100))
            while not any(command.startswith(b"UID FETCH") for command in peer.commands):
                await asyncio.sleep(0)
            for _ in range(20):
                async with mailbox.examine(INBOX) as other:
                    assert other.messages == 3
            assert not slow.done()
            slow.cancel()
            with pytest.raises(asyncio.CancelledError):
                await slow
        assert peer.problems == []


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_mailbox_outlives_its_event_loop() -> None:
    """A host that makes a loop for each request must not hang on the connection of the one before."""

    async def once(mailbox: Mailbox) -> int:
        async with mailbox.examine(INBOX) as folder:
            return folder.messages

    with peer_in_a_thread(*["@login IMAP4rev1\n@examine"] * 3) as peer:
        mailbox = Mailbox(loopback(peer.port), USER, connections=1)
        for _ in range(3):
            assert asyncio.run(once(mailbox)) == 3
        asyncio.run(mailbox.aclose())
        del mailbox
        gc.collect()


def test_the_identity_names_user_and_server() -> None:
    one = Mailbox(ImapEndpoint("IMAP.example.org", 993), Credentials("u", "p"))
    assert one.identity == "u@imap.example.org:993"
    assert one.identity != Mailbox(ImapEndpoint("imap.example.org", 993), Credentials("v", "p")).identity


# --- a real server ----------------------------------------------------------------------------------------------


def dovecot_mailbox(dovecot: Dovecot, user: MailUser, security: Security, **options: object) -> Mailbox:
    port = dovecot.tls_port if security is Security.TLS else dovecot.plain_port
    ca_file = None if security is Security.PLAINTEXT else authority().ca_file
    endpoint = ImapEndpoint("127.0.0.1", port, security, ca_file)
    return Mailbox(endpoint, Credentials(user.name, user.password), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("security", list(Security))
async def test_dovecot_is_read_over_every_kind_of_connection(
    dovecot: Dovecot, mail_user: MailUser, security: Security
) -> None:
    uid = mail_user.append(b"Subject: hello\r\nFrom: a@example.org\r\n\r\ntext\r\n")
    mailbox = dovecot_mailbox(dovecot, mail_user, security)
    try:
        async with mailbox.examine(INBOX) as folder:
            window = ScanWindow(Uid(1), Uid(await folder.last_uid()))
            assert await folder.uid_search(SearchCriteria(subject="hello", unread=True), window) == (uid,)
            (row,) = await folder.fetch_summaries([Uid(uid), Uid(uid + 50)])
            assert row.header is not None
            assert b"Subject: hello" in row.header
            assert (row.has_attachments, row.mod_seq is not None) == (False, True)
            source = await folder.fetch_source(Uid(uid), 1000)
            assert source.source == b"Subject: hello\r\nFrom: a@example.org\r\n\r\ntext\r\n"
            assert not source.truncated
            assert (await folder.fetch_source(Uid(uid), 7)).source == b"Subject"
            with pytest.raises(MessageNotFound):
                await folder.fetch_source(Uid(uid + 50), 1000)
    finally:
        await mailbox.aclose()
    assert "\\Seen" not in mail_user.flags(uid)


async def test_dovecot_names_its_folders_roles_and_counts(dovecot: Dovecot, mail_user: MailUser) -> None:
    mail_user.create("Kunden/M&APw-ller", "Secret/Deep", 'A \\"quoted\\" name')
    mail_user.append(b"Subject: x\r\n\r\n", "Secret/Deep")
    mailbox = dovecot_mailbox(dovecot, mail_user, Security.PLAINTEXT, hidden=frozenset({FolderName("Secret")}))
    try:
        listed = await mailbox.list_folders(counts=True)
        rows = {row.folder.name.text: row for row in listed.folders}
        assert rows["Trash"].role is SpecialUse.TRASH
        assert rows["INBOX"].messages == 0
        assert not rows["Kunden"].folder.selectable
        assert rows["Kunden/Müller"].uid_validity
        assert not any(name.startswith("Secret") for name in rows)
        assert await mailbox.resolve("role:sent") == FolderName("Sent")
        async with mailbox.examine(FolderName("Kunden/Müller"), uid_validity=None) as folder:
            assert folder.uid_validity == rows["Kunden/Müller"].uid_validity
        with pytest.raises(FolderNotSelectable):
            async with mailbox.examine(FolderName("Kunden")):
                pass
        for missing in ("Nowhere", "Secret/Deep"):
            with pytest.raises(FolderNotFound):
                async with mailbox.examine(FolderName(missing)):
                    pass
        with pytest.raises(StaleReference):
            async with mailbox.examine(INBOX, uid_validity=UidValidity(1)) as folder:
                await folder.fetch_source(Uid(1), 100)
    finally:
        await mailbox.aclose()


async def test_dovecot_finds_text_beyond_ascii(dovecot: Dovecot, mail_user: MailUser) -> None:
    raw = "Subject: Größe\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nKäse\r\n".encode()
    uid = mail_user.append(raw)
    mail_user.append(b"Subject: other\r\n\r\nx\r\n")
    mailbox = dovecot_mailbox(dovecot, mail_user, Security.PLAINTEXT)
    try:
        async with mailbox.examine(INBOX) as folder:
            window = ScanWindow(Uid(1), Uid(100))
            assert await folder.uid_search(SearchCriteria(subject="größe"), window) == (uid,)
            assert await folder.uid_search(SearchCriteria(query="Käse"), window) == (uid,)
    finally:
        await mailbox.aclose()


async def test_dovecot_refuses_a_wrong_password_once(dovecot: Dovecot, mail_user: MailUser) -> None:
    endpoint = ImapEndpoint("127.0.0.1", dovecot.plain_port, Security.PLAINTEXT)
    with pytest.raises(UpstreamAuthFailed):
        await Mailbox(endpoint, Credentials(mail_user.name, "wrong")).capabilities()


async def test_a_warm_read_from_dovecot_takes_two_commands(dovecot: Dovecot, mail_user: MailUser) -> None:
    uid = mail_user.append(b"Subject: hello\r\n\r\ntext\r\n")
    mailbox = dovecot_mailbox(dovecot, mail_user, Security.PLAINTEXT)
    try:
        await mailbox.list_folders()
        before = len(mail_user.commands())
        started = time.perf_counter()
        async with mailbox.examine(INBOX) as folder:
            await folder.fetch_source(Uid(uid), 1000)
        assert time.perf_counter() - started < 2
        assert [command.name for command in mail_user.commands()[before:]] == ["EXAMINE", "UID FETCH"]
    finally:
        await mailbox.aclose()
