"""The table of verdicts on other parsers, and the comparison that it is about."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bench.differential import ASPECTS, COLUMNS, PARSERS, PINS, TABLE, VERDICTS, differences, ours, verdicts
from tests.corpus.reading import Stored, stored

MESSAGES = {message.name: message for message in stored()}
LOCKS = ("requirements.txt", "package.json", "package-lock.json")


def test_every_verdict_is_about_a_message_a_parser_and_an_aspect_that_exist() -> None:
    table = verdicts()
    assert len(table) > 200
    for one in table:
        assert one.message in MESSAGES, one
        assert one.parser in PARSERS, one
        assert one.aspect in ASPECTS, one


def test_every_verdict_says_who_is_right_and_why_in_one_sentence() -> None:
    for one, verdict in verdicts().items():
        assert verdict.verdict in VERDICTS, one
        assert re.fullmatch(r"[A-Z][^\t\n]{20,160}\.", verdict.reason), one


def test_nobody_else_is_right_about_a_message_that_we_read_as_it_was_meant() -> None:
    # The expectations are the truth; a verdict for the other parser would mean that one of them is wrong.
    assert not [one for one, verdict in verdicts().items() if verdict.verdict == "theirs"]


def test_an_aspect_that_a_message_does_not_have_needs_no_verdict() -> None:
    for one in verdicts():
        expected = MESSAGES[one.message].expected
        if one.aspect in ("cc", "bcc", "reply_to"):
            assert expected.get(one.aspect), one


def test_the_table_is_sorted_and_a_row_stands_once() -> None:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    assert lines[1:] == sorted(set(lines[1:]))


@pytest.mark.parametrize("message", MESSAGES.values(), ids=lambda message: message.name)
def test_an_answer_agrees_with_itself(message: Stored) -> None:
    mine = ours(message.source)
    text = re.sub(r"\]\([^()\s]*\)", "]", mine.get("plain", mine.get("html", "")))
    text = mine.get("plain", text)
    assert list(differences(mine, {**mine, "plain": text, "html": text})) == []


@pytest.mark.parametrize(
    ("aspect", "value"),
    [
        ("subject", "another"),
        ("from", []),
        ("to", [["", "eve@example.net"]]),
        ("cc", [["", "eve@example.net"]]),
        ("date", "2024-03-05T10:20:30+00:00"),
        ("plain", "another"),
        ("attachments", [["report.pdf", 1, "0"]]),
        ("attachments", []),
        ("error", "ValueError"),
    ],
)
def test_each_difference_is_seen(aspect: str, value: object) -> None:
    mine = ours(MESSAGES["a_file_from_Gmail_has_a_content_id_and_is_an_attachment_all_the_same"].source)
    assert list(differences(mine, {**mine, "html": "", aspect: value}))


def test_a_table_that_is_not_in_order_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "table.tsv"
    row = "m\tmail-parser\ttext\tours\tBecause.\n"
    for text in ("message\n", "\t".join(COLUMNS) + "\n" + row + row, "\t".join(COLUMNS) + "\nm\tmail-parser\n"):
        path.write_text(text)
        with pytest.raises(ValueError, match="line"):
            verdicts(path)


@pytest.mark.parametrize("name", LOCKS)
def test_no_lock_of_the_other_parsers_holds_an_address(name: str) -> None:
    assert not re.search(r"://|resolved|index-url|find-links", (PINS / name).read_text(encoding="utf-8"))


def test_the_other_parsers_have_exact_versions_and_hashes() -> None:
    for entry in re.split(r"\n(?=\S)", (PINS / "requirements.txt").read_text(encoding="utf-8").strip()):
        assert re.match(r"[a-z-]+==\S+ ", entry), entry
        assert "--hash=sha256:" in entry, entry
    wanted = json.loads((PINS / "package.json").read_text(encoding="utf-8"))["dependencies"]
    packages = json.loads((PINS / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert {name.removeprefix("node_modules/"): one["version"] for name, one in packages.items() if name} == wanted
    assert all(re.fullmatch(r"sha512-[A-Za-z0-9+/=]{80,}", one["integrity"]) for name, one in packages.items() if name)
