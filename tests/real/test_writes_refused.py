"""What a server does not allow: a clear answer, and nothing has changed. Dovecot, whose switches are known."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.conftest import missing_peer
from tests.peers.authority import authority
from tests.peers.dovecot import Dovecot, MailUser, dovecot_binary
from tests.peers.dovecot_config import SPECIAL_FOLDERS, DovecotOptions
from tests.peers.rawlog import SentCommand, sent_since
from tests.real.letters import letter
from tests.real.tools import WRITER, Result, Tools, refused, writing_settings_for

CHANGING = {"UID STORE", "UID COPY", "UID MOVE", "UID EXPUNGE", "APPEND", "CREATE", "RENAME", "DELETE", "EXPUNGE"}
RIGHTS = {"ReadOnly": "lr", "SeenOnly": "lrs"}


@pytest.fixture(scope="module")
def strict() -> Iterator[Dovecot]:
    """A Dovecot with restricted folders, a small quota, and a bound for one message."""
    if dovecot_binary() is None:
        missing_peer("Dovecot")
    certificate = authority().certificate()
    options = DovecotOptions(
        special_folders={**SPECIAL_FOLDERS, "ReadOnly": "\\Flagged"},
        rights=RIGHTS,
        quota="64K",
        largest="40K",
    )
    server = Dovecot(certificate.chain, certificate.key, options)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def limited(strict: Dovecot) -> MailUser:
    """One message in INBOX, UID 1, and in each restricted folder."""
    user = strict.new_user()
    for folder in RIGHTS:
        user.fill(folder, [1, 2])
    user.append(bytes(letter()), flags=["\\Flagged"])
    return user


@pytest.fixture
async def tools(limited: MailUser) -> AsyncIterator[Tools]:
    """The tools for a caller who may write."""
    made = Tools(writing_settings_for(limited), WRITER)
    yield made
    await made.aclose()


def changes_sent(user: MailUser, before: list[SentCommand]) -> list[str]:
    return [command.name for command in sent_since(before, user.commands()) if command.name in CHANGING]


@pytest.mark.requirement("W10")
async def test_a_folder_that_one_may_only_read_is_not_even_tried(limited: MailUser, tools: Tools) -> None:
    reference = await tools.reference(1, "ReadOnly")
    before, own = limited.everything(), limited.commands()
    for tool, arguments in _changes(reference):
        with refused("upstream_refused"):
            await tools.call(tool, **arguments)
    assert changes_sent(limited, own) == []
    assert limited.everything() == before


async def test_a_message_can_be_copied_out_of_a_folder_that_one_may_only_read(limited: MailUser, tools: Tools) -> None:
    before = limited.everything()
    result = await tools.call("mail_copy", reference=await tools.reference(2, "ReadOnly"), destination="Archive")
    after = limited.everything()
    assert after["Archive"].pop(result["reference"]["uid"]).raw == before["ReadOnly"][2].raw
    assert after == before


@pytest.mark.requirement("W5")
async def test_nothing_is_put_into_a_folder_without_the_right_to(limited: MailUser, tools: Tools) -> None:
    reference = await tools.reference(1)
    before = limited.everything()
    for tool, arguments in (
        ("mail_copy", {"reference": reference, "destination": "ReadOnly"}),
        ("mail_move", {"reference": reference, "destination": "ReadOnly"}),
        ("mail_move", {"reference": reference, "destination": "role:flagged"}),
        ("mail_save_draft", {"message": {"subject": "No"}, "folder": "ReadOnly"}),
    ):
        with refused("upstream_refused"):
            await tools.call(tool, **arguments)
    assert limited.everything() == before


@pytest.mark.requirement("WF5")
async def test_a_flag_that_the_folder_does_not_keep_is_not_even_sent(limited: MailUser, tools: Tools) -> None:
    reference = await tools.reference(1, "SeenOnly")
    before, own = limited.everything(), limited.commands()
    for flags in (["\\Flagged"], ["Keyword"], ["\\Seen", "\\Answered"]):
        with refused("flag_not_permitted"):
            await tools.call("mail_set_flags", reference=reference, operation="add", flags=flags)
    with refused("flag_not_permitted"):
        await tools.call("mail_delete_permanently", reference=reference)
    assert changes_sent(limited, own) == []
    assert limited.everything() == before
    await tools.call("mail_set_flags", reference=reference, operation="remove", flags=["\\Seen"])
    assert limited.flags(1, "SeenOnly") == set()


@pytest.mark.requirement("W5")
async def test_a_full_mailbox_is_named_and_takes_nothing(limited: MailUser, tools: Tools) -> None:
    big = {"subject": "Big", "text": "0123456789abcde\n" * 1900}
    await tools.call("mail_save_draft", message=big)
    before = limited.everything()
    (uid,) = before["Drafts"]
    reference = await tools.reference(uid, "Drafts")
    for tool, arguments in (
        ("mail_save_draft", {"message": big}),
        ("mail_copy", {"reference": reference, "destination": "Archive"}),
    ):
        with refused("upstream_refused") as failed:
            await tools.call(tool, **arguments)
        assert "quota" in failed.value.text
    assert limited.everything() == before


async def test_a_message_larger_than_the_server_takes_is_refused(limited: MailUser, tools: Tools) -> None:
    before = limited.everything()
    with refused("upstream_refused") as failed:
        await tools.call("mail_save_draft", message={"text": "0123456789abcde\n" * 3000})
    assert "limit" in failed.value.text
    assert limited.everything() == before


@pytest.mark.requirement("W9")
async def test_a_missing_destination_is_never_created(limited: MailUser, tools: Tools) -> None:
    reference = await tools.reference(1)
    before, own = limited.everything(), limited.commands()
    for tool, arguments in (
        ("mail_copy", {"reference": reference, "destination": "Nowhere"}),
        ("mail_move", {"reference": reference, "destination": "Nowhere"}),
        ("mail_save_draft", {"message": {}, "folder": "Nowhere"}),
    ):
        with refused("folder_not_found"):
            await tools.call(tool, **arguments)
    # The server says [TRYCREATE] each time.
    assert changes_sent(limited, own) == ["UID COPY", "UID MOVE", "APPEND"]
    assert limited.everything() == before


@pytest.mark.requirement("W9")
async def test_a_mere_branch_takes_no_messages(limited: MailUser, tools: Tools) -> None:
    limited.create("Above/Below")
    reference = await tools.reference(1)
    before = limited.everything()
    for tool, arguments in (
        ("mail_copy", {"reference": reference, "destination": "Above"}),
        ("mail_move", {"reference": reference, "destination": "Above"}),
        ("mail_save_draft", {"message": {}, "folder": "Above"}),
    ):
        with refused("folder_not_selectable"):
            await tools.call(tool, **arguments)
    for tool, arguments in _changes({**reference, "folder": "Above"}):
        with refused("folder_not_selectable"):
            await tools.call(tool, **arguments)
    assert limited.everything() == before


@pytest.mark.requirement("W9")
async def test_a_hidden_folder_is_neither_source_nor_destination_nor_new(limited: MailUser) -> None:
    limited.create("Private")
    uid = limited.append(bytes(letter("Hidden")), "Private")
    before = limited.everything()
    tools = Tools(writing_settings_for(limited, MAIL_HIDDEN_FOLDERS="Private"), WRITER)
    reference = await tools.reference(1)
    calls = [
        *_changes({**reference, "folder": "Private", "uid": uid}),
        ("mail_copy", {"reference": reference, "destination": "Private"}),
        ("mail_move", {"reference": reference, "destination": "private"}),
        ("mail_save_draft", {"message": {}, "folder": "Private/Below"}),
        ("mail_create_folder", {"name": "Private/Below"}),
        ("mail_create_folder", {"name": "Private"}),
        ("mail_rename_folder", {"old": "Private", "new": "Public"}),
        ("mail_rename_folder", {"old": "Archive", "new": "Private/Archive"}),
    ]
    for tool, arguments in calls:
        with refused("folder_not_found"):
            await tools.call(tool, **arguments)
    await tools.aclose()
    assert limited.everything() == before


def _changes(reference: Result) -> list[tuple[str, Result]]:
    return [
        ("mail_set_flags", {"reference": reference, "operation": "add", "flags": ["\\Flagged"]}),
        ("mail_set_flags", {"reference": reference, "operation": "remove", "flags": ["\\Seen"]}),
        ("mail_move", {"reference": reference, "destination": "Archive"}),
        ("mail_trash", {"reference": reference}),
        ("mail_delete_permanently", {"reference": reference}),
    ]
