"""mail_save_draft: composed, appended once, and found again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mailgate.errors import FolderNotFound, LimitExceeded, OutcomeUnknown, SpecialUseMissing, UpstreamRefused
from mailgate.imap.values import FolderName
from mailgate.mime.composition import AttachmentUpload, Composition
from mailgate.mime.model import RawMessage
from mailgate.mime.parse import parse_message
from mailgate.settings_values import Sender
from mailgate.write.change import Change
from mailgate.write.results import DraftSaved, Status
from mailgate.write.save_draft import save_draft
from tests.write.fakes import WritableFakeMailbox, mailbox, raising, reference

NOW = datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=UTC)
AUTHOR = Sender("The Owner", "owner@example.org")
LETTER = Composition(to=("a@example.com",), bcc=("b@example.com",), subject="Grüße", text="Hello\n.\nworld\n")


async def run(
    box: WritableFakeMailbox, composition: Composition = LETTER, folder: str | None = None, change: Change | None = None
) -> DraftSaved:
    return await save_draft(box, composition, folder, author=AUTHOR, now=NOW, change=change or Change())


async def test_a_draft_goes_to_the_one_drafts_folder_with_its_flag_and_its_bcc() -> None:
    box = mailbox()
    saved = await run(box)
    (where, data, flags) = box.appended[0]
    assert (where, flags) == (FolderName("Drafts"), ("\\Draft",))
    assert saved.placed.reference == reference(1, "Drafts")
    assert saved.placed.status is Status.DONE
    headers = parse_message(RawMessage(data)).headers
    assert headers.bcc == ("b@example.com",)
    assert headers.from_ == ("The Owner <owner@example.org>",)
    assert headers.subject == "Grüße"
    assert headers.message_id == saved.message_id
    assert saved.message_id.endswith("@example.org>")
    assert box.changes() == ["append"]


async def test_nothing_is_required() -> None:
    box = mailbox()
    saved = await run(box, Composition())
    assert saved.placed.warnings == ()
    assert box.appended[0][1].endswith(b"\r\n")


async def test_another_folder_can_be_named() -> None:
    box = mailbox()
    await run(box, folder="INBOX")
    assert box.appended[0][0] == FolderName("INBOX")


async def test_two_drafts_have_two_ids() -> None:
    box = mailbox()
    assert (await run(box)).message_id != (await run(box)).message_id


async def test_without_the_servers_word_it_is_accepted_and_says_where_to_look() -> None:
    box = mailbox()
    box.says_append_uid = False
    saved = await run(box)
    assert (saved.placed.status, saved.placed.reference) == (Status.ACCEPTED, None)
    assert [warning.code for warning in saved.placed.warnings] == ["new_reference_unknown"]


async def test_a_repeated_recipient_is_said_so() -> None:
    saved = await run(mailbox(), Composition(to=("a@example.com",), cc=("a@example.com",)))
    assert [warning.code for warning in saved.placed.warnings] == ["recipient_repeated"]


async def test_without_one_drafts_folder_nothing_is_guessed_and_nothing_created() -> None:
    box = mailbox()
    del box.role_names["drafts"]
    with pytest.raises(SpecialUseMissing):
        await run(box)
    with pytest.raises(FolderNotFound):
        await run(box, folder="New")
    assert "create" not in box.changes()
    assert box.appended == []


async def test_what_would_be_too_large_is_refused_before_the_mailbox_is_asked() -> None:
    box = mailbox()
    upload = AttachmentUpload("a.bin", "application/octet-stream", bytes(3 * 1024 * 1024))
    with pytest.raises(LimitExceeded):
        await run(box, Composition(text="ü" * (512 * 1024), attachments=(upload,)))
    assert box.calls == []


async def test_a_lost_answer_is_unknown_and_the_draft_is_not_saved_again() -> None:
    box = mailbox()
    box.after = raising("append", OutcomeUnknown())
    with pytest.raises(OutcomeUnknown) as caught:
        await run(box)
    assert "mail_search" in caught.value.next_step
    assert len(box.appended) == 1


async def test_a_refusal_leaves_nothing_in_doubt() -> None:
    box = mailbox()
    box.before = raising("append", UpstreamRefused())
    change = Change()
    with pytest.raises(UpstreamRefused):
        await run(box, change=change)
    assert change.in_doubt is None
