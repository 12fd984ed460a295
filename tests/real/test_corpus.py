"""The corpus on a real server: batches, headers alone and previews agree with single reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.peers.dovecot import MailUser
from tests.real.tools import Result, Tools

MESSAGES = sorted((Path(__file__).parents[1] / "corpus" / "messages").glob("*.eml"))


def listed(message: Result) -> list[tuple[int, str]]:
    return [(entry["index"], entry["content_type"]) for entry in message["untrusted"]["attachments"]]


@pytest.mark.requirement("M12", "M16", "S21")
async def test_every_message_of_the_corpus_is_read_alike_in_every_way(
    mail_user: MailUser, dovecot_tools: Tools
) -> None:
    mail_user.append_all([path.read_bytes() for path in MESSAGES])
    rows, _ = await dovecot_tools.search_all(order="oldest", previews=True, limit=100)
    assert len(rows) == len(MESSAGES) >= 150
    differing: dict[str, object] = {}
    for start in range(0, len(rows), 10):
        asked = [row["reference"] for row in rows[start : start + 10]]
        names = [path.stem for path in MESSAGES[start : start + 10]]
        whole = (await dovecot_tools.call("mail_read", references=asked, max_chars=262_144))["messages"]
        heads = (await dovecot_tools.call("mail_read", references=asked, headers_only=True))["messages"]
        for name, head, full, reference in zip(names, heads, whole, asked, strict=True):
            assert head["untrusted"]["headers"] == full["untrusted"]["headers"], name
            assert head["sender"] == full["sender"], name
            if full["truncated_by"] != "shared_budget":
                assert full == await dovecot_tools.read(reference, max_chars=262_144), name
            if "attachments" in head["untrusted"] and listed(head) != listed(full):
                differing[name] = (listed(head), listed(full))
    assert differing == {}
