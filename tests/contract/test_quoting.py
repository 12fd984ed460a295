"""M17 to M20: quoted history, and who wrote a message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.contract.deployment import Deployment, Result, html, mailbox_with, on_demo, raw, strings
from tests.contract.test_trust import without_untrusted

HISTORY = "".join(f"> line {number} of what was written before\n" for number in range(30))
REPLY = f"New words.\n\nOn Thu, 1 Feb 2024 at 12:00, Ann Other <ann@example.org> wrote:\n{HISTORY}"
ANSWERED = "On Thu, 1 Feb 2024 at 12:00, Ann Other wrote:\n> one?\nYes.\n> two?\nNo.\n"


async def read(message: bytes, **arguments: Any) -> Result:
    variables = {name: arguments.pop(name) for name in list(arguments) if name.startswith("MAIL_")}
    async with on_demo(mailbox_with(message), **variables) as box:
        return await box.read(await box.reference(), **arguments)


# --- M17, M18 ----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("M17")
async def test_quoted_history_is_one_line_and_a_block_and_full_has_all_of_it() -> None:
    folded, full = await read(raw(REPLY)), await read(raw(REPLY), quoted="full")
    text, whole = folded["untrusted"]["text"], full["untrusted"]["text"]
    assert text.startswith("New words.")
    assert "line 3" not in text
    (block,) = folded["untrusted"]["quoted_blocks"]
    assert "Ann Other" in block["author"]
    assert block["date"].startswith("2024-02-01")
    assert len(HISTORY) - 40 <= block["chars"] <= len(REPLY)
    assert len(text.splitlines()) <= 4
    assert folded["text_chars"] == len(text)
    assert whole.rstrip() == REPLY.rstrip()
    assert full["text_chars"] == len(whole)
    assert "quoted_blocks" not in full["untrusted"]
    assert {"interleaved"} & (set(folded) | set(full)) == set()


@pytest.mark.requirement("M17")
@pytest.mark.parametrize("quoted", ["fold", "full"])
async def test_pages_count_the_text_as_it_is_shown(quoted: str) -> None:
    async with on_demo(mailbox_with(raw(REPLY))) as box:
        reference = await box.reference()
        whole = await box.read(reference, quoted=quoted)
        joined, offset = "", 0
        while True:
            page = await box.read(reference, quoted=quoted, max_chars=17, offset=offset)
            joined += page["untrusted"]["text"]
            assert page["text_chars"] == whole["text_chars"]
            if "next_offset" not in page:
                break
            offset = page["next_offset"]
        assert joined == whole["untrusted"]["text"]
        beyond = {"reference": reference, "quoted": quoted, "offset": whole["text_chars"] + 1}
        await box.fails("invalid_argument", "mail_read", beyond)


@pytest.mark.requirement("M17")
async def test_quoted_history_of_html_is_folded_too() -> None:
    quote = "<blockquote type=cite>" + "<p>an old line</p>" * 30 + "</blockquote>"
    answer = await read(html(f"<p>New words.</p><div>On 1 Feb 2024, Ann Other wrote:</div>{quote}"))
    assert answer["text_format"] == "markdown"
    assert answer["untrusted"]["text"].startswith("New words.")
    assert len(answer["untrusted"]["text"]) < 30 * len("an old line")


@pytest.mark.requirement("M18")
async def test_interleaved_answers_fold_nothing_and_it_is_said() -> None:
    answer = await read(raw(ANSWERED))
    assert answer["interleaved"] is True
    assert answer["untrusted"]["text"].rstrip() == ANSWERED.rstrip()
    assert "quoted_blocks" not in answer["untrusted"]


@pytest.mark.requirement("M18")
async def test_forwards_are_made_from_the_whole_text(tmp_path: Path) -> None:
    variables = {
        "MAIL_ENABLE_SEND": "1",
        "MAIL_FROM": "owner@example.org",
        "MAIL_SMTP_HOST": "127.0.0.1",
        "MAIL_SMTP_SECURITY": "plaintext",
        "MAIL_STORE": f"sqlite:{tmp_path / 'store.db'}",
    }
    async with on_demo(mailbox_with(raw(REPLY)), **variables) as box:
        message = {"to": ["ann@example.org"], "text": "See below."}
        reference = await box.reference()
        prepared = await box.ok("mail_prepare_forward", {"reference": reference, "message": message})
        assert "line 3 of what was written before" in (await box.read(reference, quoted="full"))["untrusted"]["text"]
    assert "line 29 of what was written before" in prepared["text"]


@pytest.mark.requirement("M17", "T1")
async def test_what_a_block_says_is_the_messages_word() -> None:
    answer = await read(raw(REPLY))
    assert "Ann" not in str(without_untrusted(answer))
    assert any("Ann Other" in text for text in strings(answer["untrusted"]["quoted_blocks"]))


# --- M19 ---------------------------------------------------------------------------------------------------------

FROM = {
    "nothing odd": ({"from_": "Ann <ann@example.org>"}, "ann@example.org", []),
    "another address as a name": (
        {"from_": '"boss@example.com" <ann@example.org>'},
        "ann@example.org",
        ["display_name_has_other_address"],
    ),
    "two authors": ({"from_": "a@example.org, b@example.org"}, "a@example.org", ["multiple_from"]),
    "two alphabets": ({"from_": "P\u0430ypal <a@example.org>"}, "a@example.org", ["mixed_script"]),
    "punycode": ({"from_": "a@xn--bcher-kva.example"}, "a@xn--bcher-kva.example", ["punycode"]),
    "answers elsewhere": (
        {"from_": "a@example.org", "reply_to": "b@example.net"},
        "a@example.org",
        ["reply_to_differs"],
    ),
    "nobody": ({"from_": "nobody"}, None, []),
}


@pytest.mark.requirement("M19")
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("case", list(FROM))
async def test_the_sender_is_told_apart_from_the_name(case: str, several: bool) -> None:
    fields, address, flags = FROM[case]
    async with on_demo(mailbox_with(raw("words", **fields))) as box:
        reference = await box.reference()
        answer = await box.read(reference)
        if several:
            (answer,) = (await box.ok("mail_read", {"references": [reference]}))["messages"]
        head = await box.read(reference, headers_only=True)
    assert answer["sender"] == head["sender"] == {"flags": flags}
    assert answer["untrusted"]["sender"] == head["untrusted"]["sender"] == {"address": address}


# --- M20 ---------------------------------------------------------------------------------------------------------

OURS = "mx.example.org; spf=pass smtp.mailfrom=example.org; dkim=pass header.d=example.org"
THEIRS = "mx.example.net; dkim=pass header.d=bank.example"


def with_results(*values: str) -> bytes:
    head = "".join(f"Authentication-Results: {value}\r\n" for value in values)
    return head.encode() + raw("words")


@pytest.mark.requirement("M20")
async def test_the_trusted_servers_results_are_told_and_nobody_elses() -> None:
    trust = {"MAIL_TRUSTED_AUTHSERV_ID": "mx.example.org"}
    answer = await read(with_results(OURS, THEIRS), **trust)
    assert answer["sender"] == {
        "flags": [],
        "authentication": {
            "authserv_id": "mx.example.org",
            "results": [
                {"method": "spf", "result": "pass"},
                {"method": "dkim", "result": "pass"},
            ],
        },
    }
    assert answer["untrusted"]["sender"] == {
        "address": "ann@example.org",
        "authentication": ["spf=pass smtp.mailfrom=example.org", "dkim=pass header.d=example.org"],
    }
    for message in (with_results(THEIRS, OURS), with_results(THEIRS), with_results()):
        for sender in ((found := await read(message, **trust))["sender"], found["untrusted"]["sender"]):
            assert "authentication" not in sender
    assert "authentication" not in (await read(with_results(OURS)))["sender"]


@pytest.mark.requirement("M20")
async def test_headers_only_and_a_batch_tell_them_too() -> None:
    async with on_demo(mailbox_with(with_results(OURS)), MAIL_TRUSTED_AUTHSERV_ID="mx.example.org") as box:
        reference = await box.reference()
        alone = await box.read(reference, headers_only=True)
        (entry,) = (await box.ok("mail_read", {"references": [reference]}))["messages"]
        shown = (await box.call("mail_read", {"reference": reference})).text
    assert alone["sender"] == entry["sender"]
    assert alone["sender"]["authentication"]["results"]
    assert "Sender: mx.example.org says spf=pass, dkim=pass" in shown.split("All that follows")[0]


async def test_the_sample_mail_has_senders(seeded: Deployment) -> None:
    for row in (await seeded.search(limit=100))["messages"]:
        answer = await seeded.read(row["reference"], headers_only=True)
        assert answer["untrusted"]["sender"]["address"] is None or "@" in answer["untrusted"]["sender"]["address"]
