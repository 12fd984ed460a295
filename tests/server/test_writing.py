"""The surface of the changing tools: the deadline, the budget, and the text half of their answers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from mailgate.errors import OutcomeUnknown, UpstreamRefused, UpstreamUnavailable
from mailgate.limits import FOLDER_NAME_MAX, RESULT_BYTES_MIN
from mailgate.server.dispatch import Answer, encoded_size
from mailgate.write.change import Change
from tests.server.fakes import inbox, message, principal, service, settings, writable
from tests.write.fakes import WritableFakeFolder, WritableFakeMailbox

OPEN = {"MAIL_ENABLE_WRITES": "1", "MAIL_ENABLE_DELETE": "1", "MAIL_FROM": "me@example.org"}
REFERENCE = {"folder": "INBOX", "uid_validity": 1700000000, "uid": 2}


async def call(name: str, arguments: dict[str, Any], box: WritableFakeMailbox | None = None, **changes: str) -> Answer:
    deployment = service(settings(**{**OPEN, **changes}), box or writable())
    return await deployment.dispatcher.call(name, arguments, principal())


# --- the deadline ------------------------------------------------------------------------------------------------


class Stalling(WritableFakeFolder):
    """Answers everything but one command."""

    stalls_at = "copy"

    async def copy(self, *_: Any) -> Any:
        self.calls.append(("copy", None))
        await asyncio.Event().wait()


def stalling() -> WritableFakeMailbox:
    folder = Stalling(uid_validity=1700000000)
    for number in (1, 2):
        folder.append(message(number))
    return WritableFakeMailbox(folder, WritableFakeFolder("Archive"))


async def test_a_deadline_during_a_change_is_unknown_and_says_where_to_look() -> None:
    arguments = {"reference": REFERENCE, "destination": "Archive"}
    answer = await call("mail_copy", arguments, stalling(), MAIL_UPSTREAM_TIMEOUT_SECONDS="0.1")
    first, second = answer.text.split("\n")
    assert first.startswith("error outcome_unknown: ")
    assert "mail_search" in second


async def test_cancelling_a_change_is_not_swallowed() -> None:
    box = stalling()
    task = asyncio.ensure_future(call("mail_copy", {"reference": REFERENCE, "destination": "Archive"}, box))
    while not box.changes():
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_change_is_in_doubt_from_its_command_to_its_refusal() -> None:
    change = Change()
    assert change.in_doubt is None
    with pytest.raises(UpstreamRefused), change.under_way("It may be.", look="Look."):
        raise UpstreamRefused
    assert change.in_doubt is None
    with change.under_way("It may be.", look="Look."):
        assert change.in_doubt is not None
    assert change.in_doubt is not None


def test_a_second_command_that_is_refused_leaves_the_doubt_of_the_first() -> None:
    change = Change()
    with change.under_way("First.", look="Look."):
        pass
    with pytest.raises(UpstreamRefused), change.under_way("Second.", look="Look."):
        raise UpstreamRefused
    assert change.in_doubt is not None
    assert change.in_doubt.sentence == "First."


def test_an_unknown_that_says_more_keeps_its_sentence() -> None:
    change = Change()
    with pytest.raises(OutcomeUnknown) as caught, change.under_way("No answer.", look="Look."):
        raise OutcomeUnknown("It said no and named a result.")
    assert (caught.value.sentence, caught.value.next_step) == ("It said no and named a result.", "Look.")


def test_a_look_that_fails_is_the_doubt_there_was() -> None:
    change = Change()
    with change.under_way("No answer.", look="Look."):
        pass
    with pytest.raises(OutcomeUnknown) as caught, change.settling():
        raise UpstreamUnavailable
    assert caught.value.sentence == "No answer."


# --- the budget --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("W5")
async def test_what_is_done_fits_the_smallest_budget_whatever_the_folders_name() -> None:
    for character in ("x", '"', "é", "日", "\U0001f600"):
        name = character * (FOLDER_NAME_MAX // (2 * len(character.encode())))
        box = WritableFakeMailbox(inbox(), WritableFakeFolder(name))
        budget = {"MAIL_MAX_RESULT_BYTES": str(RESULT_BYTES_MIN)}
        for tool in ("mail_copy", "mail_move"):
            answer = await call(tool, {"reference": REFERENCE, "destination": name}, box, **budget)
            assert not answer.failed, answer.text
            assert encoded_size(answer) <= RESULT_BYTES_MIN


@pytest.mark.requirement("W5")
async def test_more_flags_than_fit_are_cut_and_the_change_is_not_called_refused() -> None:
    box = writable()
    box.inbox.content[2].flags = {f"{number:02}" + "ü" * 60 for number in range(64)}
    arguments = {"reference": REFERENCE, "operation": "add", "flags": ["\\Seen"]}
    answer = await call("mail_set_flags", arguments, box, MAIL_MAX_RESULT_BYTES=str(RESULT_BYTES_MIN))
    assert answer.structured is not None, answer.text
    assert "\\Seen" in answer.structured["flags"]
    assert 0 < len(answer.structured["flags"]) < 64
    assert any(warning.startswith("flags_changed: ") for warning in answer.structured["warnings"])


# --- the text half -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        (
            "mail_set_flags",
            {"reference": REFERENCE, "operation": "add", "flags": ["\\Seen"]},
            "done: uid 2 in INBOX (uid_validity 1700000000), flags now: \\Seen; modseq 1001",
        ),
        ("mail_create_folder", {"name": "New"}, "done: the folder is New"),
        ("mail_rename_folder", {"old": "Archive", "new": "Old"}, "done: the folder is Old"),
        (
            "mail_move",
            {"reference": REFERENCE, "destination": "Archive"},
            "done: the message is uid 1 in Archive (uid_validity 7)",
        ),
        ("mail_trash", {"reference": REFERENCE}, "done: the message is uid 1 in Trash (uid_validity 7)"),
        (
            "mail_delete_permanently",
            {"reference": REFERENCE},
            "done: uid 2 in INBOX (uid_validity 1700000000) is gone for good",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("mail_") else "",
)
async def test_the_text_stands_on_its_own(name: str, arguments: dict[str, Any], said: str) -> None:
    assert (await call(name, arguments)).text == said


async def test_the_text_of_an_accepted_change_says_where_to_look() -> None:
    box = writable()
    box.inbox.says_copy_uid = False
    text = (await call("mail_copy", {"reference": REFERENCE, "destination": "Archive"}, box)).text
    assert text.startswith("accepted: ")
    assert "look for it in the destination" in text


async def test_the_text_of_a_draft_names_its_message_id() -> None:
    answer = await call("mail_save_draft", {"message": {}})
    assert answer.structured is not None
    assert answer.structured["message_id"] in answer.text
