"""Messages whose truth is known before they are read: each file's name is what it shows."""

from __future__ import annotations

import re

import pytest

from tests.corpus.generate import cases, written
from tests.corpus.reading import FOLDER, HEADERS, MATTERS, Stored, found, stored, wanted

MESSAGES = stored()
SIZE_MAX = 3_000_000
OURS_ALONE = re.compile(rb"[\w.+-]+@(?!(?:[\w-]+\.)*(?:example(?:\.(?:org|com|net))?|test|invalid)\b)[\w-]+\.[\w.-]+")


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.name)
def test_a_message_is_read_as_it_was_meant(message: Stored) -> None:
    assert found(message.source) == wanted(message.expected)


def test_the_corpus_is_large_in_number_and_small_in_size() -> None:
    assert len(MESSAGES) >= 150
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < SIZE_MAX


def test_every_message_has_its_expectation_and_nothing_else_lies_there() -> None:
    names = {message.name for message in MESSAGES}
    assert {path.name for path in FOLDER.iterdir()} == {f"{name}{end}" for name in names for end in (".eml", ".json")}


def test_the_expectations_are_written_in_known_words() -> None:
    known = {*HEADERS, "text", "text_source", "attachments", "warnings"}
    for message in MESSAGES:
        assert message.expected.keys() <= known, message.name
        for attachment in message.expected.get("attachments", ()):
            assert {"filename", "content_type", "size"} <= attachment.keys() <= set(MATTERS), message.name


def test_generated_messages_are_stored_as_they_are_generated() -> None:
    for case in cases():
        paths = (FOLDER / f"{case.name}.eml", FOLDER / f"{case.name}.json")
        assert tuple(path.read_bytes() for path in paths) == written(case), case.name


def test_no_message_names_an_address_that_could_be_somebody_s() -> None:
    for message in MESSAGES:
        assert not OURS_ALONE.findall(message.source), message.name
