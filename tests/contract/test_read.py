"""M1 to M10: what mail_read gives of a message."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.deployment import (
    WHEN,
    Deployment,
    Result,
    codes,
    html,
    mailbox_with,
    multipart,
    on_demo,
    raw,
)

KIB, MIB = 1024, 1024 * 1024
TEXT = "Content-Type: text/plain; charset=utf-8\n\n"
PAGE = "Content-Type: text/html; charset=utf-8\n\n"


async def read(message: bytes, *without: str, **arguments: Any) -> Result:
    """What mail_read says about a message that is alone in INBOX."""
    async with on_demo(mailbox_with(message), *without) as box:
        return await box.read(await box.reference(), **arguments)


# --- M1, M2 ------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("M1", "M2")
async def test_an_answer_has_the_facts_and_what_the_message_says() -> None:
    fields = {
        "from_": "Zoë <zoe@example.net>",
        "sender": "secretary@example.net",
        "to": "a@example.org, B <b@example.org>",
        "cc": "c@example.org",
        "bcc": "d@example.org",
        "reply_to": "e@example.org",
        "subject": "=?utf-8?Q?Gr=C3=BC=C3=9Fe?=",
        "date": "Fri, 01 Mar 2024 10:00:00 -0500",
        "message_id": "<1@example.net>",
        "in_reply_to": "<0@example.net>",
        "references": "<-1@example.net> <0@example.net>",
        "list_id": "Garden <garden.example.net>",
        "list_unsubscribe": "<https://example.net/leave>",
        "list_unsubscribe_post": "List-Unsubscribe=One-Click",
        "list_post": "<mailto:garden@example.net>",
    }
    message = raw("Some words.", **fields)
    mailbox = mailbox_with()
    mailbox.append("INBOX", message, ("\\Seen", "\\Flagged", "$Label"), WHEN)
    async with on_demo(mailbox) as box:
        reference = await box.reference()
        answer = await box.read(reference)
    assert sorted(answer.pop("flags")) == ["$Label", "\\Flagged", "\\Seen"]
    assert answer == {
        "reference": reference,
        "size": len(message),
        "internal_date": "2024-02-03T04:05:06+00:00",
        "modseq": "2",
        "text_format": "plain",
        "text_source": "plain",
        "text_chars": 11,
        "truncated_by": "none",
        "sender": {"flags": ["reply_to_differs"]},
        "warnings": [],
        "untrusted": {
            "sender": {"address": "zoe@example.net"},
            "headers": {
                "from": ["Zoë <zoe@example.net>"],
                "sender": "secretary@example.net",
                "to": ["a@example.org", "B <b@example.org>"],
                "cc": ["c@example.org"],
                "bcc": ["d@example.org"],
                "reply_to": ["e@example.org"],
                "subject": "Grüße",
                "date": "2024-03-01T10:00:00-05:00",
                "message_id": "<1@example.net>",
                "in_reply_to": ["<0@example.net>"],
                "references": ["<-1@example.net>", "<0@example.net>"],
                "list_id": "Garden <garden.example.net>",
                "list_unsubscribe": "<https://example.net/leave>",
                "list_unsubscribe_post": "List-Unsubscribe=One-Click",
                "list_post": "<mailto:garden@example.net>",
            },
            "text": "Some words.",
            "attachments": [],
        },
    }


@pytest.mark.requirement("M1")
async def test_form_and_source_of_the_text_are_one_of_two_each(seeded: Deployment) -> None:
    found = set()
    for row in (await seeded.search(limit=100))["messages"]:
        answer = await seeded.read(row["reference"])
        found.add((answer["text_format"], answer["text_source"]))
    assert found == {("plain", "plain"), ("markdown", "html")}


# --- M3, M4 ------------------------------------------------------------------------------------------------------

PICTURES = "e\u0301 \N{GRINNING FACE}\U0001f3fd 東京 \U0001f468\u200d\U0001f469"
LINES = "".join(f"{number}: {PICTURES}\n" for number in range(400))


@pytest.mark.requirement("M3")
@pytest.mark.parametrize("size", [1, 7, 1000, 262_144])
@pytest.mark.parametrize("kind", ["plain", "html"])
async def test_pages_join_without_loss_or_repetition(size: int, kind: str) -> None:
    text = LINES if size > 100 else LINES[:150]
    message = raw(text, content_type="text/plain; charset=utf-8") if kind == "plain" else html(f"<pre>{text}</pre>")
    async with on_demo(mailbox_with(message)) as box:
        reference = await box.reference()
        whole = await box.read(reference, max_chars=262_144)
        joined, offset = "", 0
        while True:
            page = await box.read(reference, max_chars=size, offset=offset)
            shown = page["untrusted"]["text"]
            assert page["text_chars"] == whole["text_chars"] == len(whole["untrusted"]["text"])
            assert len(shown) <= size
            joined += shown
            if "next_offset" not in page:
                break
            assert page["next_offset"] > offset
            assert page["truncated_by"] == "max_chars"
            offset = page["next_offset"]
        assert page["truncated_by"] == "none"
    assert joined == whole["untrusted"]["text"]
    assert "399:" in joined or size < 100


@pytest.mark.requirement("M3")
async def test_a_page_that_ends_with_the_text_has_no_next_offset() -> None:
    async with on_demo(mailbox_with(raw("0123456789"))) as box:
        reference = await box.reference()
        assert (await box.read(reference, max_chars=9))["next_offset"] == 9
        assert "next_offset" not in await box.read(reference, max_chars=10)
        last = await box.read(reference, offset=10)
        assert (last["untrusted"]["text"], last["text_chars"], "next_offset" in last) == ("", 10, False)
        assert (await box.read(reference))["untrusted"]["text"] == "0123456789"


@pytest.mark.requirement("M3")
async def test_without_max_chars_a_page_has_32768_characters() -> None:
    answer = await read(raw("0123456789" * 4000))
    assert len(answer["untrusted"]["text"]) == answer["next_offset"] == 32_768


LONG = "0123456789abcde\n" * (300 * KIB // 16)


@pytest.mark.requirement("M4")
async def test_truncated_by_names_the_hardest_limit_that_bit() -> None:
    huge = LONG + "x" * 75 + "\n"
    huge *= 5 * MIB // len(huge) + 1
    for message, arguments, limits, expected in (
        (raw("short"), {}, {}, "none"),
        (raw("short"), {"max_chars": 2}, {}, "max_chars"),
        (raw("words " * 5000), {}, {"MAIL_MAX_RESULT_BYTES": "17000"}, "result_limit"),
        (raw("words " * 5000), {"max_chars": 20_000}, {"MAIL_MAX_RESULT_BYTES": "17000"}, "result_limit"),
        (raw("words " * 5000), {"max_chars": 200}, {"MAIL_MAX_RESULT_BYTES": "17000"}, "max_chars"),
        (raw(LONG), {}, {}, "text_limit"),
        (raw(LONG), {"max_chars": 262_144}, {}, "text_limit"),
        (raw(LONG), {"max_chars": 20_000}, {"MAIL_MAX_RESULT_BYTES": "17000"}, "text_limit"),
        (raw(huge), {}, {}, "source_limit"),
        (raw(huge), {"max_chars": 20_000}, {"MAIL_MAX_RESULT_BYTES": "17000"}, "source_limit"),
    ):
        async with on_demo(mailbox_with(message), **limits) as box:
            answer = await box.read(await box.reference(), **arguments)
        assert answer["truncated_by"] == expected


# --- M5, M6 ------------------------------------------------------------------------------------------------------

RICH = "<p>" + "The whole story is told here, with every detail. " * 20 + "</p>"


@pytest.mark.requirement("M5")
@pytest.mark.parametrize(
    ("plain", "markup", "source", "said"),
    [
        ("The same words.", "<p>The same words.</p>", "plain", "html_not_shown"),
        ("The whole story. " * 60, RICH, "plain", "html_not_shown"),
        ("View this mail at https://example.org/v/77", RICH, "html", "plain_not_shown"),
        ("", RICH, "html", "plain_not_shown"),
        (" \n ", RICH, "html", "plain_not_shown"),
        ("Some words", "", "plain", "html_not_shown"),
    ],
)
async def test_plain_text_is_preferred_unless_it_is_a_stub_and_the_other_form_is_named(
    plain: str, markup: str, source: str, said: str
) -> None:
    answer = await read(multipart(TEXT + plain, PAGE + markup, kind="alternative"))
    assert answer["text_source"] == source
    assert answer["text_format"] == {"plain": "plain", "html": "markdown"}[source]
    assert said in codes(answer)
    shown = answer["untrusted"]["text"]
    assert ("every detail" in shown) is (source == "html")


@pytest.mark.requirement("M5")
async def test_of_one_form_nothing_is_said() -> None:
    for message in (raw("words"), html("<p>words</p>")):
        assert codes(await read(message)) == []


HIDDEN = {
    "display": '<p>seen<span style="display:none">secret</span></p>',
    "visibility": '<p>seen<span style="visibility: hidden">secret</span></p>',
    "attribute": "<p>seen</p><p hidden>secret</p>",
    "size": '<p>seen</p><div style="font-size:0">secret</div>',
    "colour and size": '<p>seen</p><div style="font-size:0;color:#fff">secret</div>',
    "transparent": '<p>seen<span style="opacity:0">secret</span></p>',
    "clipped": '<p>seen</p><div style="max-height:0;overflow:hidden">secret</div>',
    "sheet": "<style>.x{display:none}</style><p>seen</p><p class=x>secret</p>",
}


@pytest.mark.requirement("M6")
@pytest.mark.parametrize("how", list(HIDDEN))
async def test_hidden_text_is_removed_and_that_is_said(how: str) -> None:
    answer = await read(html(HIDDEN[how]))
    assert answer["untrusted"]["text"].strip() == "seen"
    assert codes(answer) == ["hidden_text_removed"]


@pytest.mark.requirement("M6")
async def test_html_becomes_markdown() -> None:
    markup = (
        "<html><head><title>not this</title><style>p{color:red}</style><script>not()</script></head><body>"
        "<h1>Offer</h1><p>Only <b>today</b> &amp; <i>here</i>&nbsp;&mdash; ok</p><ul><li>one</li><li>two</li></ul>"
        '<p><a href="https://example.org/x?a=1&amp;b=2">this link</a></p>'
        '<p><a href="javascript:alert(1)">no link</a></p><img src="https://track.example.org/x.gif"></body></html>'
    )
    answer = await read(html(markup))
    assert (answer["text_format"], answer["text_source"], codes(answer)) == ("markdown", "html", [])
    shown = answer["untrusted"]["text"]
    for piece in ("# Offer", "**today** &", "— ok", "* one", "* two", "[this link](<https://example.org/x?a=1&b=2>)"):
        assert piece.replace("<", "").replace(">", "") in shown.replace("<", "").replace(">", "")
    for gone in ("not this", "color", "not()", "javascript", "track", "<p>", "&amp;"):
        assert gone not in shown
    assert "no link" in shown


# --- M7 ----------------------------------------------------------------------------------------------------------

FILES = [
    ("Content-Type: image/png\nContent-Disposition: attachment; filename=a.png", ("a.png", False, "image/png")),
    ("Content-Type: image/gif; name=b.gif\nContent-ID: <b@x.example>", ("b.gif", False, "image/gif")),
    (
        "Content-Type: application/pdf\nContent-Disposition: inline; filename*=utf-8''%C3%9Cber.pdf",
        ("Über.pdf", False, "application/pdf"),
    ),
    (
        'Content-Type: text/plain\nContent-Disposition: attachment; filename="../../etc/passwd"',
        ("passwd", True, "text/plain"),
    ),
    (
        'Content-Type: text/x\nContent-Disposition: attachment; filename="C:\\\\dir\\\\x.txt"',
        ("x.txt", True, "text/x"),
    ),
    ("Content-Type: application/octet-stream\nContent-Disposition: attachment", (None, False, None)),
    ("Content-Type: message/rfc822", (None, False, "message/rfc822")),
]


@pytest.mark.requirement("M7")
async def test_attachments_are_listed_with_what_can_be_said_of_them() -> None:
    parts = [f"{head}\nContent-Transfer-Encoding: base64\n\nc2l4IG9jdGV0cw==" for head, _ in FILES]
    answer = await read(multipart(TEXT + "words", *parts))
    listed = answer["untrusted"]["attachments"]
    assert [entry["index"] for entry in listed] == list(range(1, len(FILES) + 1))
    for entry, (_, (name, changed, kind)) in zip(listed, FILES, strict=True):
        assert (entry["filename"], entry["filename_changed"]) == (name, changed)
        assert entry["content_type"] == (kind or "application/octet-stream")
        assert entry["size"] == len("six octets")
    assert [entry.get("disposition") for entry in listed[:3]] == ["attachment", None, "inline"]
    assert [entry.get("content_id") for entry in listed[:2]] == [None, "<b@x.example>"]
    assert answer["untrusted"]["text"] == "words"


# --- M8, M9, M10 -------------------------------------------------------------------------------------------------


@pytest.mark.requirement("M8")
async def test_of_a_message_above_the_bound_the_text_is_read_and_every_attachment_listed() -> None:
    filling = ("x" * 76 + "\n") * (5 * MIB // 78 + 1000)
    head = "Content-Type: application/x\nContent-Disposition: attachment; filename={0}\n\n"
    message = multipart(
        TEXT + "First.", head.format("small") + "y", head.format("big") + filling, head.format("lost") + "z"
    )
    async with on_demo(mailbox_with(message)) as box:
        reference = await box.reference()
        answer = await box.read(reference)
        fetched = [command.line for command in box.commands() if b"BODY.PEEK[]" in command.line]
        assert all(b"BODY.PEEK[]<0.49152>" in line for line in fetched)
        refused = await box.call("mail_get_attachment", {"reference": reference, "index": 2})
        assert refused.failed
        assert [(await box.attachment(reference, index))["size"] for index in (1, 3)] == [1, 1]
    assert answer["size"] == len(message) > 5 * MIB
    assert answer["untrusted"]["text"] == "First."
    assert [(each["filename"], each["size"]) for each in answer["untrusted"]["attachments"]] == [
        ("small", 1),
        ("big", len(filling.replace("\n", "\r\n"))),
        ("lost", 1),
    ]
    assert answer["truncated_by"] == "none"
    assert codes(answer) == []


@pytest.mark.requirement("M8")
async def test_of_a_text_above_the_bound_the_beginning_is_read_and_the_rest_is_said_to_be_missing() -> None:
    async with on_demo(mailbox_with(raw("line of text\n" * (5 * MIB // 13 + 1000)))) as box:
        answer = await box.read(await box.reference())
    assert answer["untrusted"]["text"].startswith("line of text\n")
    assert answer["truncated_by"] == "source_limit"
    assert "source_truncated" in codes(answer)


BROKEN = {
    "boundary_missing": multipart(TEXT + "words").replace(b"--b--", b""),
    "charset_unknown": raw("words", content_type="text/plain; charset=x-nothing"),
    "charset_damaged": raw("words", content_type="text/plain; charset=utf-8").replace(
        b"words", b"words \xc3\xa9\xc3\xa8 \xff"
    ),
    "charset_guessed": raw("words", content_type="text/plain; charset=utf-8").replace(b"words", b"words \xfc"),
    "transfer_unknown": raw("words", content_transfer_encoding="x-nothing"),
    "transfer_damaged": raw("d29yZHM=\n!!!%", content_transfer_encoding="base64"),
    "date_invalid": raw("words", date="someday"),
    "address_invalid": raw("words", to="nobody at all <@>"),
    "header_limit": raw("words", subject="y" * 5000),
    "multiple_from": raw("words", from_="a@example.org, b@example.org"),
    "display_name_has_other_address": raw("words", from_='"boss@example.com" <x@example.org>'),
    "address_limit": raw("words", to=", ".join(f"a{number}@example.org" for number in range(201))),
    "tnef_not_decoded": multipart(TEXT + "words", "Content-Type: application/ms-tnef; name=winmail.dat\n\nx"),
    "encrypted_not_decoded": multipart(TEXT + "words", "Content-Type: application/pgp-encrypted\n\nVersion: 1"),
    "no_text": raw("", content_type="application/pdf"),
}


@pytest.mark.requirement("M9", "A15")
@pytest.mark.parametrize("code", list(BROKEN))
async def test_what_cannot_be_understood_costs_that_part_only(code: str) -> None:
    answer = await read(BROKEN[code])
    assert code in codes(answer)
    assert answer["untrusted"]["text"].startswith("words") or code == "no_text"
    assert answer["untrusted"]["headers"]["from"]


@pytest.mark.requirement("M9")
@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\r\n",
        b"\r\n\r\n",
        b":\r\n:\r\n",
        b"no header at all",
        bytes(range(256)) * 40,
        b'Content-Type: multipart/mixed; boundary=""\r\n\r\n--\r\n',
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + b"--b\r\n" * 300,
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b",
        b"From: " + b"<" * 9000 + b"\r\nTo: " + b"(" * 9000 + b"\r\nSubject: " + b"=?utf-8?b?" * 900 + b"\r\n\r\nx",
        b"Content-Type: text/html\r\n\r\n" + b"<table><tr><td>" * 3000,
        b"Content-Type: text/html; charset=utf-7\r\n\r\n+ADw-script+AD4-",
    ],
    ids=range(12),
)
async def test_no_message_makes_reading_fail(message: bytes) -> None:
    mailbox = mailbox_with(message or b"\r\n")
    async with on_demo(mailbox) as box:
        (row,) = (await box.search())["messages"]
        answer = await box.read(row["reference"])
    assert isinstance(answer["untrusted"]["text"], str)


@pytest.mark.requirement("M10")
@pytest.mark.parametrize(
    "arguments",
    [{"max_chars": 0}, {"max_chars": -1}, {"max_chars": 262_145}, {"offset": -1}, {"offset": 12}, {"offset": 262_144}],
    ids=str,
)
async def test_a_range_that_cannot_be_is_refused(arguments: dict[str, int]) -> None:
    async with on_demo(mailbox_with(raw("Some words."))) as box:
        reference = await box.reference()
        text = await box.fails("invalid_argument", "mail_read", {"reference": reference, **arguments})
        assert f"`{next(iter(arguments))}`" in text
        await box.read(reference, max_chars=262_144, offset=11)
