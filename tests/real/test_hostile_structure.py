"""A message whose structure is enormous costs its own row nothing and the page nothing."""

from __future__ import annotations

import pytest

from tests.peers.dovecot import MailUser
from tests.real.letters import letter
from tests.real.tools import Tools, subjects

PARTS = b"".join(b"--b\r\nContent-Type: text/x-%d; name=part\r\n\r\nx\r\n" % number for number in range(8_000))
HOSTILE = {
    "one parameter of 700,000 octets": b'Content-Type: text/plain; name="' + b"n" * 700_000 + b'"\r\n\r\nx\r\n',
    "a parameter of escaped quotes": b'Content-Type: text/plain; name="' + b'\\"' * 400_000 + b'"\r\n\r\nx\r\n',
    "8,000 parts": b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + PARTS + b"--b--\r\n",
    "200 parameters of 5,000 octets": b"Content-Type: text/plain"
    + b"".join(b";\r\n p%d=%s" % (number, b"v" * 5_000) for number in range(200))
    + b"\r\n\r\nx\r\n",
}


@pytest.mark.requirement("S13")
@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
async def test_an_enormous_structure_hides_no_message(
    mail_user: MailUser, dovecot_tools: Tools, hostile: bytes, order: str
) -> None:
    mail_user.append(bytes(letter("before", "text")))
    mail_user.append(b"From: a@example.com\r\nSubject: hostile\r\n" + hostile)
    mail_user.append(bytes(letter("after", "text")))
    page = await dovecot_tools.search(order=order)
    assert sorted(subjects(page["messages"])) == ["after", "before", "hostile"]
    assert page["complete"] is True
    rows, calls = await dovecot_tools.search_all(order=order, limit=1)
    assert (len(rows), calls) == (3, 3)


POISON = {
    "two authors": b"From: a@example.org\r\nFrom: b@example.net\r\nSubject: poison\r\n\r\nx\r\n",
    "another address as a name": b'From: "boss@example.com" <a@example.net>\r\nSubject: poison\r\n\r\nx\r\n',
    "no date": b"From: a@example.org\r\nDate: \xff\xfe yesterday\r\nSubject: poison\r\n\r\nx\r\n",
    "8 KiB of parentheses": b"From: " + b"(" * 8192 + b"\r\nSubject: poison\r\n\r\nx\r\n",
    "no known charset": b"From: a@example.org\r\nSubject: =?x-evil?Q?poison?=\r\n"
    b"Content-Type: text/html\r\n\r\n" + b"<a " * 20_000,
}


@pytest.mark.requirement("S22")
@pytest.mark.parametrize("previews", [False, True])
async def test_a_page_of_25_with_five_poisoned_rows_is_whole_and_five_are_flagged(
    mail_user: MailUser, dovecot_tools: Tools, previews: bool
) -> None:
    messages = [bytes(letter(f"Letter {number}", f"Words of {number}.\n")) for number in range(20)]
    for at, poison in enumerate(POISON.values()):
        messages.insert(at * 5, poison)
    mail_user.append_all(messages)
    page = await dovecot_tools.search(previews=previews)
    assert len(page["messages"]) == 25
    assert page["complete"] is True
    assert [row["untrusted"]["subject"] for row in page["messages"] if "warnings" in row] == ["poison"] * 5
    ordinary = [row["untrusted"].get("preview") for row in page["messages"] if "warnings" not in row]
    assert all(ordinary) is previews
