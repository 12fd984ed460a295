from __future__ import annotations

from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.folders import RoleAmbiguous, RoleFolder, RoleMissing
from mailgate.imap.values import INBOX, FolderName, SpecialUse
from mailgate.read.capabilities import CAPABILITIES_MAX, CAPABILITY_CHARS_MAX, MailboxReport, describe_mailbox

from .fakes import FakeMailbox


async def report(mailbox: FakeMailbox) -> MailboxReport:
    found = await describe_mailbox(mailbox)
    assert found is not None
    return found


async def test_without_a_mailbox_there_is_no_report() -> None:
    assert await describe_mailbox(None) is None


async def test_capabilities_are_listed_sorted_and_as_features() -> None:
    mailbox = FakeMailbox()
    mailbox.announced = CapabilitySet.of(["uidplus", "IMAP4rev1", "MOVE"])
    found = await report(mailbox)
    assert found.imap.capabilities == ("IMAP4rev1", "MOVE", "UIDPLUS")
    assert (found.imap.features["move"], found.imap.features["condstore"]) == (True, False)


async def test_every_role_is_a_folder_or_a_reason() -> None:
    mailbox = FakeMailbox()
    mailbox.found_roles = {
        SpecialUse.INBOX: RoleFolder(SpecialUse.INBOX, INBOX),
        SpecialUse.SENT: RoleAmbiguous(SpecialUse.SENT, (FolderName("private one"), FolderName("private two"))),
        SpecialUse.TRASH: RoleMissing(SpecialUse.TRASH, "none is named"),
    }
    roles = (await report(mailbox)).roles
    assert set(roles) == set(SpecialUse)
    assert roles[SpecialUse.INBOX].folder == INBOX
    assert roles[SpecialUse.TRASH].missing == "none is named"
    assert all((role.folder is None) is (role.missing is not None) for role in roles.values())
    assert "private" not in str(roles[SpecialUse.SENT].missing)


async def test_an_endless_capability_list_is_bounded() -> None:
    mailbox = FakeMailbox()
    mailbox.announced = CapabilitySet.of(["A" * 1000, *(f"X-{number}" for number in range(5000))])
    shown = (await report(mailbox)).imap.capabilities
    assert len(shown) == CAPABILITIES_MAX
    assert all(len(name) <= CAPABILITY_CHARS_MAX for name in shown)
