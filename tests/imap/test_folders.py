from __future__ import annotations

import pytest

from mailgate.imap.folders import Folder, RoleAmbiguous, RoleFolder, RoleMissing, roles
from mailgate.imap.responses import ListData
from mailgate.imap.values import INBOX, FolderName, SpecialUse


def folder(name: str, *attributes: str, delimiter: str | None = "/") -> Folder:
    return Folder.of(ListData(attributes, delimiter, name.encode()))


def test_a_folder_of_a_list_row() -> None:
    found = Folder.of(ListData(("\\HasNoChildren", "\\trash", "\\TRASH", "\\XNew"), "/", b"Entw&APw-rfe"))
    assert found == Folder(
        name=FolderName("Entwürfe"),
        wire=b"Entw&APw-rfe",
        delimiter="/",  # type: ignore[arg-type]
        attributes=("\\HasNoChildren", "\\Trash", "\\XNew"),
        selectable=True,
        has_children=False,
    )


def test_the_name_follows_the_mode_of_the_session() -> None:
    assert Folder.of(ListData((), "/", "é".encode()), utf8=True).name.text == "é"
    assert Folder.of(ListData((), "/", "é".encode())).name.text == "wire:%C3%A9"


def test_no_hierarchy_is_no_delimiter() -> None:
    assert folder("a", delimiter=None).delimiter is None


def test_a_row_without_a_name_is_no_folder() -> None:
    with pytest.raises(ValueError, match="empty"):
        folder("")


@pytest.mark.parametrize(
    ("attributes", "selectable"),
    [
        ((), True),
        (("\\Noselect",), False),
        (("\\NOSELECT",), False),
        (("\\nonexistent",), False),
        (("\\Marked",), True),
    ],
)
def test_whether_a_folder_holds_messages(attributes: tuple[str, ...], selectable: bool) -> None:
    assert folder("a", *attributes).selectable is selectable


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ((), None),
        (("\\haschildren",), True),
        (("\\HasNoChildren",), False),
        (("\\Noinferiors",), False),
        (("\\HasChildren", "\\HasNoChildren"), True),
    ],
)
def test_children_are_known_only_where_the_server_says(attributes: tuple[str, ...], expected: bool | None) -> None:
    assert folder("a", *attributes).has_children is expected


@pytest.mark.parametrize(
    ("attribute", "role"),
    [
        ("\\Drafts", SpecialUse.DRAFTS),
        ("\\sent", SpecialUse.SENT),
        ("\\TRASH", SpecialUse.TRASH),
        ("\\Junk", SpecialUse.JUNK),
        ("\\Archive", SpecialUse.ARCHIVE),
        ("\\All", SpecialUse.ALL),
        ("\\Flagged", SpecialUse.FLAGGED),
        ("\\Important", None),
        ("\\Inbox", None),
        ("Trash", None),
    ],
)
def test_a_role_comes_from_an_attribute_in_any_case(attribute: str, role: SpecialUse | None) -> None:
    assert folder("x", attribute).role is role


def test_a_role_is_never_guessed_from_a_name() -> None:
    assert folder("Trash").role is None
    assert folder("Sent Messages").roles == ()


def test_inbox_is_the_inbox() -> None:
    assert folder("inbox").role is SpecialUse.INBOX
    assert folder("INBOX", "\\Archive").roles == (SpecialUse.INBOX, SpecialUse.ARCHIVE)


def test_a_folder_that_holds_no_messages_has_no_role() -> None:
    assert folder("x", "\\Trash", "\\Noselect").roles == ()
    assert folder("x", "\\NonExistent", "\\Trash").role is None


def test_the_one_advertised_folder_has_the_role() -> None:
    found = roles([folder("INBOX"), folder("a", "\\trash"), folder("b", "\\Sent", "\\Archive")], {})
    assert set(found) == set(SpecialUse)
    assert found[SpecialUse.INBOX] == RoleFolder(SpecialUse.INBOX, INBOX)
    assert found[SpecialUse.TRASH] == RoleFolder(SpecialUse.TRASH, FolderName("a"))
    assert found[SpecialUse.SENT] == RoleFolder(SpecialUse.SENT, FolderName("b"))
    assert found[SpecialUse.ARCHIVE] == RoleFolder(SpecialUse.ARCHIVE, FolderName("b"))
    assert isinstance(found[SpecialUse.DRAFTS], RoleMissing)


def test_two_advertised_folders_leave_the_role_open() -> None:
    found = roles([folder("a", "\\Trash"), folder("b", "\\Trash")], {})[SpecialUse.TRASH]
    assert found == RoleAmbiguous(SpecialUse.TRASH, (FolderName("a"), FolderName("b")))
    assert isinstance(found, RoleAmbiguous)
    assert found.why == "the mail server names 2 folders for this role"


def test_a_folder_that_is_listed_twice_is_one_folder() -> None:
    found = roles([folder("a", "\\Trash"), folder("a", "\\Trash")], {})[SpecialUse.TRASH]
    assert found == RoleFolder(SpecialUse.TRASH, FolderName("a"))


def test_the_attributes_of_a_folder_that_is_listed_twice_add_up() -> None:
    found = roles([folder("a", "\\Trash"), folder("a", "\\HasNoChildren")], {})[SpecialUse.TRASH]
    assert found == RoleFolder(SpecialUse.TRASH, FolderName("a"))


@pytest.mark.parametrize("attribute", ["\\Noselect", "\\NonExistent"])
def test_a_folder_that_holds_no_messages_never_counts(attribute: str) -> None:
    listed = [folder("a", "\\Trash", attribute), folder("b", "\\Trash")]
    assert roles(listed, {})[SpecialUse.TRASH] == RoleFolder(SpecialUse.TRASH, FolderName("b"))
    assert isinstance(roles(listed[:1], {})[SpecialUse.TRASH], RoleMissing)


def test_the_operator_wins_over_the_server() -> None:
    listed = [folder("a", "\\Sent"), folder("b", "\\Sent"), folder("c")]
    found = roles(listed, {SpecialUse.SENT: FolderName("c")})
    assert found[SpecialUse.SENT] == RoleFolder(SpecialUse.SENT, FolderName("c"), mapped=True)


def test_the_operator_cannot_name_what_is_not_there() -> None:
    listed = [folder("a", "\\Sent"), folder("b", "\\Noselect")]
    absent = roles(listed, {SpecialUse.SENT: FolderName("c")})[SpecialUse.SENT]
    assert absent == RoleMissing(SpecialUse.SENT, "the folder that MAIL_FOLDER_ROLES names does not exist", mapped=True)
    assert absent.error.sentence == "The folder that MAIL_FOLDER_ROLES names does not exist."
    barren = roles(listed, {SpecialUse.SENT: FolderName("b")})[SpecialUse.SENT]
    assert barren == RoleMissing(
        SpecialUse.SENT, "the folder that MAIL_FOLDER_ROLES names holds no messages", mapped=True
    )


def test_inbox_has_its_role_without_being_listed() -> None:
    assert roles([], {SpecialUse.INBOX: FolderName("x")})[SpecialUse.INBOX] == RoleFolder(SpecialUse.INBOX, INBOX)
