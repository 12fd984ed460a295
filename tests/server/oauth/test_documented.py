"""The page on OAuth says what the code does: every reason in the log, and the numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mailgate import limits
from mailgate.keys.jwks import ALGORITHMS
from mailgate.keys.trouble import KeyTrouble
from mailgate.server.auth import Rejection

PAGE = (Path(__file__).parents[3] / "docs" / "configuration.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("\n## OAuth\n")[2].partition("\n## ")[0]
WORDS = re.sub(r"\s+", " ", SECTION)


def test_every_reason_is_explained_and_no_other() -> None:
    rows = re.findall(r"^\| (`[a-z_`, ]+`) \|", SECTION, re.MULTILINE)
    named = [reason for row in rows for reason in re.findall(r"`([a-z_]+)`", row)]
    assert sorted(named) == sorted(reason.value for reason in Rejection)


def test_every_trouble_with_keys_is_named_and_no_other() -> None:
    sentence = WORDS.partition("status 503 and one of these:")[2]
    assert set(re.findall(r"`([a-z_]+)`", sentence)) - {"jwks_uri"} == {trouble.value for trouble in KeyTrouble}


def test_every_algorithm_is_named() -> None:
    sentence = WORDS.partition("with `alg` ")[2].partition("(Ed25519)")[0]
    assert set(re.findall(r"[A-Z][A-Za-z0-9]+", sentence)) == ALGORITHMS


@pytest.mark.parametrize(
    ("pattern", "numbers"),
    [
        (r"RSA keys have (\d+) to (\d+) bits", [limits.RSA_BITS_MIN, limits.RSA_BITS_MAX]),
        (r"off by (\d+) seconds", [limits.TOKEN_LEEWAY_SECONDS]),
        (r"\((\d+) seconds in all, (\d+) KiB", [limits.KEYS_SECONDS, limits.KEY_DOCUMENT_BYTES_MAX / limits.KIB]),
        (r"again after (\d+) minutes", [limits.KEYS_FRESH_SECONDS / 60]),
        (r"at most every (\d+) seconds", [limits.KEYS_REFETCH_SECONDS]),
        (r"working for (\d+) minutes", [limits.KEYS_KEPT_SECONDS / 60]),
        (r"begins after (\d+) seconds", [limits.KEYS_RETRY_SECONDS]),
    ],
)
def test_the_numbers_are_those_in_force(pattern: str, numbers: list[float]) -> None:
    found = re.search(pattern, WORDS)
    assert found, pattern
    assert [float(group) for group in found.groups()] == numbers
