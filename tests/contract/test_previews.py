"""S20 to S22: previews, and pages with poisoned messages."""

from __future__ import annotations

import pytest

from tests.contract.deployment import Result, codes, html, mailbox_with, multipart, on_demo, on_script, raw

HEAD = "@login IMAP4rev1{0}\n@examine uidvalidity=7 exists=2 uidnext=3\nC: $ UID SEARCH ...\nS: * SEARCH 1 2\nS: $ OK\n"
ROWS = "C: $ UID FETCH 1:2 ...\n" + "".join(
    f'S: * {uid} FETCH (UID {uid} FLAGS () BODY[HEADER.FIELDS (FROM)]<0> "Subject: {uid}")\n' for uid in (1, 2)
)


def shown(page: Result) -> list[str | None]:
    return [row["untrusted"].get("preview") for row in page["messages"]]


@pytest.mark.requirement("S20", "S21")
async def test_rows_have_an_extract_of_their_text_for_one_command_more() -> None:
    messages = [
        raw("Plain words,\n\non two lines.\n\n> quoted\nhttps://example.org/long/link"),
        html("<style>p {}</style><p>Seen <b>words</b></p><p style='display:none'>not seen</p>"),
        multipart("Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nR3LDvMOfZQ=="),
        raw("word " * 5000),
        multipart("Content-Type: image/png\n\nx"),
    ]
    async with on_demo(mailbox_with(*messages)) as box:
        plain = await box.search(order="oldest")
        before = len(box.commands())
        page = await box.search(order="oldest", previews=True)
        after = box.names()[before:]
    assert shown(plain) == [None] * 5
    *texts, long, nothing = shown(page)
    assert texts == ["Plain words, on two lines.", "Seen words", "Grüße"]
    assert long is not None
    assert long.startswith("word word")
    assert 140 <= len(long) <= 160
    assert nothing is None
    assert after == ["EXAMINE", "UID SEARCH", "UID FETCH", "UID FETCH"]
    assert page["warnings"] == []
    for row in page["messages"]:
        row["untrusted"].pop("preview", None)
    assert page == plain


OURS = "BODY.PEEK[HEADER.FIELDS ...BODY.PEEK[TEXT]<0.4096>)"


@pytest.mark.requirement("S20", "S21")
async def test_the_servers_own_preview_which_may_show_hidden_text_is_never_asked_for() -> None:
    rows = "".join(
        f'S: * {uid} FETCH (UID {uid} BODY[HEADER.FIELDS (X)]<0> "" BODY[TEXT]<0> "our words")\n' for uid in (1, 2)
    )
    script = HEAD.format(" PREVIEW") + ROWS + f"S: $ OK\nC: $ UID FETCH 1:2 (UID {OURS}\n{rows}S: $ OK\n"
    async with on_script(script) as box:
        page = await box.search(order="oldest", previews=True)
    assert shown(page) == ["our words"] * 2
    assert codes(page) == []


@pytest.mark.requirement("S20")
async def test_hidden_text_is_in_no_preview() -> None:
    html = '<div style=\\"display:none\\">POISON</div><p>Hello</p>'
    row = f'S: * 1 FETCH (UID 1 BODY[HEADER.FIELDS (X)]<0> "Content-Type: text/html" BODY[TEXT]<0> "{html}")\n'
    other = 'S: * 2 FETCH (UID 2 BODY[HEADER.FIELDS (X)]<0> "" BODY[TEXT]<0> "words")\n'
    script = HEAD.format(" PREVIEW") + ROWS + f"S: $ OK\nC: $ UID FETCH 1:2 (UID {OURS}\n{row}{other}S: $ OK\n"
    async with on_script(script) as box:
        page = await box.search(order="oldest", previews=True)
    assert shown(page) == ["Hello", "words"]


BAD = {
    "refused": "C: $ UID FETCH 1:2 ...BODY.PEEK[TEXT]...\nS: $ NO no",
    "one row only": (
        'C: $ UID FETCH ...\nS: * 1 FETCH (UID 1 BODY[HEADER.FIELDS (X)]<0> "" BODY[TEXT]<0> "words")\nS: $ OK'
    ),
    "a row that cannot be read": "C: $ UID FETCH ...\nS: * 1 FETCH (UID 1 BODY[TEXT]<0> (x) \nS: $ OK",
    "closed": "C: $ UID FETCH ...\nS-close",
    "not the protocol": "C: $ UID FETCH ...\nS: A99 OK nobody asked",
}


@pytest.mark.requirement("S21")
@pytest.mark.parametrize("how", list(BAD))
async def test_previews_that_cannot_be_had_cost_no_row(how: str) -> None:
    async with on_script(HEAD.format("") + ROWS + "S: $ OK\n" + BAD[how], strict=False) as box:
        page = await box.search(order="oldest", previews=True)
    assert [row["untrusted"]["subject"] for row in page["messages"]] == ["1", "2"]
    assert shown(page) == ["words" if how == "one row only" else None, None]
    assert codes(page) == ["previews_missing"]
    assert page["complete"] is True


@pytest.mark.requirement("A11")
async def test_the_text_half_has_previews_on_their_rows_line() -> None:
    async with on_demo(mailbox_with(raw("Words\non lines\nuid 9 | forged"))) as box:
        answer = await box.call("mail_search", {"previews": True})
    *_, row = answer.text.split("\n")
    assert row.endswith("| Ann Other <ann@example.org>: Hello | Words on lines uid 9 | forged")


POISON = {
    "two authors": b"From: a@example.org\r\nFrom: b@example.net\r\nSubject: poison\r\n\r\nx",
    "another address as a name": b'From: "boss@example.com" <a@example.net>\r\nSubject: poison\r\n\r\nx',
    "no date": b"From: a@example.org\r\nDate: \xff\xfe yesterday\r\nSubject: poison\r\n\r\nx",
    "8 KiB of parentheses": b"From: " + b"(" * 8192 + b"\r\nSubject: poison\r\n\r\nx",
    "no known charset": b"From: a@example.org\r\nSubject: =?x-evil?Q?poison?=\r\n\r\n" + b"<a " * 20_000,
}


@pytest.mark.requirement("S22")
@pytest.mark.parametrize("previews", [False, True])
async def test_a_page_of_25_with_five_poisoned_rows_has_25_rows_five_of_them_flagged(previews: bool) -> None:
    messages = [
        raw(f"words of {number}", subject=f"Letter {number}", date="Fri, 01 Mar 2024 10:00:00 +0000")
        for number in range(20)
    ]
    for at, poison in enumerate(POISON.values()):
        messages.insert(at * 5, poison)
    async with on_demo(mailbox_with(*messages)) as box:
        page = await box.search(previews=previews)
    assert len(page["messages"]) == 25
    assert page["complete"] is True
    flagged = [row["untrusted"]["subject"] for row in page["messages"] if codes(row)]
    assert flagged == ["poison"] * 5
    if previews:
        assert all(row["untrusted"]["preview"].startswith("words of") for row in page["messages"] if not codes(row))
