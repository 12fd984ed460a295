"""Roles that nobody holds: the line to paste is offered, and nothing is taken for granted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from mailgate.doctor.folders import candidates, roles_line
from mailgate.imap.folders import Folder
from mailgate.imap.values import FolderName, HierarchyDelimiter, SpecialUse
from mailgate.settings import load_settings
from tests.doctor.deployment import Examined, examined, imap
from tests.peers.scripted_imap import ScriptedImap, script

WRITES = {"MAIL_ENABLE_WRITES": "1", "MAIL_FROM": "owner@example.org"}


async def examined_folders(*rows: str, **more: str) -> Examined:
    """A mailbox with these LIST rows: attributes, delimiter and name."""
    listed = "".join(f"S: * LIST {row}\n" for row in rows)
    steps = script(
        "S: * OK [CAPABILITY IMAP4rev1] ready\nC: $ LOGIN ...\nS: $ OK [CAPABILITY IMAP4rev1] in\n"
        f'C: $ LIST "" "*"\n{listed}S: $ OK done\n'
    )
    async with ScriptedImap([steps]) as server:
        found = await examined(imap(server.port, **more))
        assert server.problems == []
    return found


def offered(found: Examined, role: str) -> list[str]:
    """The lines that the next step offers."""
    return re.findall(r"`(MAIL_FOLDER_ROLES=[^`]*)`", found.next_step(f"role.{role}"))


async def test_each_missing_role_gets_the_line_to_paste() -> None:
    rows = ('() "/" INBOX', '() "/" "Sent Items"', '() "/" "Deleted Items"', '() "/" Drafts', '() "/" Projects')
    found = await examined_folders(*rows)
    assert offered(found, "sent") == ["MAIL_FOLDER_ROLES=sent=Sent Items"]
    assert offered(found, "trash") == ["MAIL_FOLDER_ROLES=trash=Deleted Items"]
    assert offered(found, "drafts") == ["MAIL_FOLDER_ROLES=drafts=Drafts"]
    assert "names no folder for this role" in found.cause("role.sent")
    assert all(found.verdict(f"role.{role}") == "warn" for role in ("sent", "trash", "drafts", "junk", "archive"))


async def test_a_name_is_never_taken_for_the_role_by_itself() -> None:
    found = await examined_folders('() "/" INBOX', '() "/" Sent')
    assert found.verdict("role.sent") == "warn"
    assert "Decide which folder it is" in found.next_step("role.sent")


async def test_several_candidates_are_several_lines() -> None:
    found = await examined_folders('() "/" INBOX', '() "/" Sent', '() "/" "Sent Items"', '() "/" "INBOX/Gesendet"')
    assert offered(found, "sent") == [
        "MAIL_FOLDER_ROLES=sent=Sent",
        "MAIL_FOLDER_ROLES=sent=Sent Items",
        "MAIL_FOLDER_ROLES=sent=INBOX/Gesendet",
    ]


async def test_an_ambiguous_role_offers_what_the_server_names() -> None:
    found = await examined_folders('() "/" INBOX', r'(\Sent) "/" Sent', r'(\Sent) "/" Old')
    assert found.verdict("role.sent") == "warn"
    assert "names 2 folders" in found.cause("role.sent")
    assert offered(found, "sent") == ["MAIL_FOLDER_ROLES=sent=Sent", "MAIL_FOLDER_ROLES=sent=Old"]


async def test_a_line_keeps_what_is_mapped_already() -> None:
    rows = ('() "/" INBOX', '() "/" Sent', '() "/" Trash')
    found = await examined_folders(*rows, MAIL_FOLDER_ROLES="sent=Sent")
    assert found.verdict("role.sent") == "ok"
    assert offered(found, "trash") == ["MAIL_FOLDER_ROLES=sent=Sent,trash=Trash"]


async def test_without_a_candidate_the_operator_is_told_what_to_fill_in() -> None:
    found = await examined_folders('() "/" INBOX', MAIL_FOLDER_ROLES="sent=INBOX")
    assert offered(found, "trash") == ["MAIL_FOLDER_ROLES=sent=INBOX,trash=NAME"]


async def test_a_mapped_folder_that_does_not_exist_fails() -> None:
    found = await examined_folders('() "/" INBOX', '() "/" Sent', MAIL_FOLDER_ROLES="sent=Snet")
    assert found.failures == ["role.sent"]
    assert "does not exist" in found.cause("role.sent")
    assert offered(found, "sent") == ["MAIL_FOLDER_ROLES=sent=Sent"]


async def test_a_missing_role_fails_where_something_switched_on_needs_it() -> None:
    found = await examined_folders('() "/" INBOX', **WRITES)
    assert found.failures == ["role.drafts", "role.trash"]
    assert "mail_trash is refused." in found.cause("role.trash")
    found = await examined_folders('() "/" INBOX')
    assert found.failures == []
    assert "once it is switched on" in found.cause("role.trash")


async def test_roles_that_hardly_any_server_has_are_not_complained_of() -> None:
    found = await examined_folders('() "/" INBOX')
    assert (found.verdict("role.all"), found.verdict("role.flagged")) == ("ok", "ok")


async def test_hidden_folders_are_not_offered() -> None:
    rows = ('() "/" INBOX', '() "/" Trash', '() "/" "Private/Bin"')
    found = await examined_folders(*rows, MAIL_HIDDEN_FOLDERS="Private")
    assert offered(found, "trash") == ["MAIL_FOLDER_ROLES=trash=Trash"]


def folder(name: str, delimiter: str | None = "/", *, selectable: bool = True) -> Folder:
    return Folder(FolderName(name), b"x", None if delimiter is None else HierarchyDelimiter(delimiter), (), selectable)


def test_only_the_last_level_counts_and_only_where_messages_can_be() -> None:
    rows = [
        folder("Archive/2020"),
        folder("Work/ARCHIV"),
        folder("Archives", None),
        folder("Archive", selectable=False),
    ]
    assert [name.text for name in candidates(SpecialUse.ARCHIVE, rows)] == ["Work/ARCHIV", "Archives"]


@pytest.mark.parametrize(
    "mapping",
    [
        {SpecialUse.SENT: "Sent Items"},
        {SpecialUse.SENT: "a, b", SpecialUse.TRASH: "c"},
        {SpecialUse.SENT: "Team #1", SpecialUse.TRASH: "Tom's #2 \\ bin"},
        {SpecialUse.SENT: 'the "best"', SpecialUse.TRASH: "x=y"},
        {SpecialUse.TRASH: "Éléments supprimés"},
        {SpecialUse.TRASH: "$HOME ${USER}"},
    ],
)
def test_a_pasted_line_means_what_was_offered(tmp_path: Path, mapping: Mapping[SpecialUse, str]) -> None:
    meant = {role: FolderName(name) for role, name in mapping.items()}
    line = roles_line(meant)
    assert line is not None
    (tmp_path / ".env").write_text(f"{line}\n", encoding="utf-8")
    assert dict(load_settings({}, dotenv=tmp_path / ".env").folder_roles) == meant


@pytest.mark.parametrize("name", [" Sent", "Sent ", "role:sent"])
def test_a_name_that_the_variable_cannot_express_is_not_offered(name: str) -> None:
    assert roles_line({SpecialUse.SENT: FolderName(name)}) is None
