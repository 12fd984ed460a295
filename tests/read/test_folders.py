from __future__ import annotations

import pytest

from mailgate.imap.folders import Folder
from mailgate.imap.rows import FolderList, FolderRow
from mailgate.imap.values import FolderName, HierarchyDelimiter, SpecialUse
from mailgate.limits import FOLDERS_MAX
from mailgate.read.folders import ATTRIBUTES_MAX, FolderCounts, FolderListing, list_folders

from .fakes import FakeMailbox


def folder(name: str, *, attributes: tuple[str, ...] = (), selectable: bool = True) -> Folder:
    return Folder(FolderName(name), name.encode(), HierarchyDelimiter("/"), attributes, selectable, has_children=False)


async def listing(*rows: FolderRow, truncated: bool = False, counts: bool = True) -> FolderListing:
    mailbox = FakeMailbox()
    mailbox.listing = FolderList(rows, truncated)
    return await list_folders(mailbox, include_counts=counts)


async def test_a_folder_is_listed_with_what_the_server_says_of_it() -> None:
    row = FolderRow(folder("Sent", attributes=("\\Sent",)), SpecialUse.SENT, 10, 2, 99, 7)
    (only,) = (await listing(row)).folders
    assert (only.name, only.delimiter, only.attributes) == (FolderName("Sent"), "/", ("\\Sent",))
    assert (only.role, only.selectable, only.has_children) == (SpecialUse.SENT, True, False)
    assert only.counts == FolderCounts(messages=10, unseen=2, uid_next=99, uid_validity=7)
    assert only.warnings == ()


async def test_a_failed_status_is_a_row_with_a_warning() -> None:
    bad, good = (await listing(FolderRow(folder("a"), status_failed=True), FolderRow(folder("b"), messages=1))).folders
    assert bad.counts is None
    assert [warning.code for warning in bad.warnings] == ["status_failed"]
    assert good.counts is not None
    assert good.warnings == ()


@pytest.mark.parametrize(("selectable", "counts"), [(False, True), (True, False), (False, False)])
async def test_no_counts_and_no_warning_where_none_can_be_or_were_asked_for(selectable: bool, counts: bool) -> None:
    row = FolderRow(folder("a", selectable=selectable), status_failed=True)
    (only,) = (await listing(row, counts=counts)).folders
    assert only.counts is None
    assert only.warnings == ()
    assert only.selectable is selectable


async def test_a_cut_listing_says_so() -> None:
    assert (await listing(truncated=True)).truncated
    assert not (await listing()).truncated
    many = await listing(*(FolderRow(folder(f"f{number}")) for number in range(FOLDERS_MAX + 1)))
    assert many.truncated
    assert len(many.folders) == FOLDERS_MAX


async def test_attributes_are_bounded_and_safe_to_show() -> None:
    strange = ("\\a\u202eb", "\\" + "x" * 1000, *(f"\\n{number}" for number in range(100)))
    (only,) = (await listing(FolderRow(folder("a", attributes=strange)))).folders
    assert len(only.attributes) == ATTRIBUTES_MAX
    assert all(len(attribute) <= 64 and "\u202e" not in attribute for attribute in only.attributes)
