from __future__ import annotations

import pytest

from mailgate.imap.values import FolderName
from mailgate.write.names import same_folder


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("INBOX", "inbox", True),
        ("Inbox/zz", "INBOX/zz", True),
        ("inbox.zz", "INBOX.zz", True),
        ("INBOX/zz", "INBOX/ZZ", False),
        ("Inboxes/zz", "INBOXes/zz", False),
        ("a/Inbox", "a/INBOX", False),
    ],
)
def test_below_inbox_its_case_does_not_make_another_folder(one: str, other: str, same: bool) -> None:
    assert same_folder(FolderName(one), FolderName(other)) is same
