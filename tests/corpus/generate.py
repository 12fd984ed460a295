"""Writes the generated messages of the corpus: `python -m tests.corpus.generate`.

Letters come from `letters.py`; shapes are drawn with fixed seeds. A test compares what this module makes with what is
stored, so neither changes without the other. Hand-written messages lie beside them and are never touched.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from tests.corpus.building import (
    Case,
    Node,
    attached,
    crlf,
    encoded_words,
    html_node,
    in_charset,
    message,
    multipart,
    percent,
    spelled_for,
    text_node,
    transfer_encoded,
)
from tests.corpus.letters import LETTERS, Letter

FOLDER = Path(__file__).parent / "messages"
SHAPES = 40
START = datetime(2024, 2, 28, 23, 59, 30, tzinfo=timezone.utc)  # noqa: UP017 - the oldest Python reads this too
ZONES = (0, 60, 120, 330, 345, 540, 570, 720, -180, -210, -300, -480)


def cases() -> Iterator[Case]:
    """All generated messages."""
    for number, letter in enumerate(LETTERS):
        yield _letter(number, letter)
    for seed in range(SHAPES):
        yield _Shape(seed).case()


def written(case: Case) -> tuple[bytes, bytes]:
    """The two files of a message."""
    return case.source, (json.dumps(case.expected, ensure_ascii=False, indent=1) + "\n").encode()


def file_name(sentence: str) -> str:
    return sentence.replace(" ", "_")


def _date(number: int) -> datetime:
    zone = timezone(timedelta(minutes=ZONES[number % len(ZONES)]))
    return (START + timedelta(hours=31 * number, seconds=7 * number)).astimezone(zone)


def _letter(number: int, row: Letter) -> Case:
    writer, subject, text = (spelled_for(one, row.charset) for one in (row.writer, row.subject, row.text))
    date = _date(number)
    message_id = f"<letter-{number}@mail.example.org>"
    name = encoded_words(writer, row.charset, row.words)
    fields = [
        f"From: {name} <writer{number}@example.org>",
        "To: reader@example.com",
        f"Subject: {encoded_words(subject, row.charset, row.words)}",
        f"Date: {format_datetime(date)}",
        f"Message-ID: {message_id}",
    ]
    octets = in_charset(crlf(text), row.charset)
    kind = f"Content-Type: text/plain; charset={row.charset}"
    body = Node((kind, f"Content-Transfer-Encoding: {row.encoding}"), transfer_encoded(octets, row.encoding))
    expected: dict[str, Any] = {
        "subject": subject,
        "from": [f"{writer} <writer{number}@example.org>"],
        "to": ["reader@example.com"],
        "date": date.isoformat(),
        "message_id": message_id,
        "text": text,
    }
    return Case(file_name(row.file), message(body, fields), expected)


# --- shapes ----------------------------------------------------------------------------------------------------

FILES = (
    ("Rechnung März.pdf", "application/pdf"),
    ("naïve café.txt", "text/plain"),
    ("отчёт за июнь.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("写真と資料.zip", "application/zip"),
    ("invoice_2024.csv", "text/csv"),
    ("report (final).xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("O'Brien; notes, part 2.odt", "application/vnd.oasis.opendocument.text"),
    ("a very long name that has to be cut into several pieces because it is longer than one line of a header.tar.gz",
     "application/gzip"),
    ("données à 100 %.json", "application/json"),
    ("archive.7z", "application/x-7z-compressed"),
    ("תמונה.png", "image/png"),
    ("sound.ogg", "audio/ogg"),
)  # fmt: skip
WORDS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau".split()
HOW = {"quoted": "in quotes", "extended": "after RFC 2231", "pieces": "in pieces", "encoded word": "as encoded words",
       "type only": "beside the type alone", "both": "in both places"}  # fmt: skip
STYLES = tuple(HOW)
TREES = ("plain and files", "both forms alone", "both forms and files", "pictures", "pictures in one form",
         "everything", "files first", "text around files", "mixed in mixed")  # fmt: skip


class _Shape:
    """One multipart message drawn from a seed."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._draw = random.Random(f"shape {seed}")
        self._boundaries = 0
        self._warnings: set[str] = set()
        self._style = STYLES[seed % len(STYLES)]
        self._tree = TREES[seed % len(TREES)]

    def case(self) -> Case:
        root, text, is_html = getattr(self, "_" + self._tree.replace(" ", "_"))()
        date = _date(100 + self._seed)
        message_id = f"<shape-{self._seed}@mail.example.net>"
        fields = [
            "From: Ann Lee <ann@example.net>",
            'To: "Doe, Jane" <jane@example.com>, bob@example.com',
            f"Subject: Shape {self._seed}",
            f"Date: {format_datetime(date)}",
            f"Message-ID: {message_id}",
        ]
        expected: dict[str, Any] = {
            "subject": f"Shape {self._seed}",
            "from": ["Ann Lee <ann@example.net>"],
            "to": ['"Doe, Jane" <jane@example.com>', "bob@example.com"],
            "date": date.isoformat(),
            "message_id": message_id,
            "text": text,
        }
        if is_html:
            expected["text_source"] = "html"
        if root.attachments:
            expected["attachments"] = list(root.attachments)
        if self._warnings:
            expected["warnings"] = sorted(self._warnings)
        name = f"drawing {self._seed:02d} has {self._tree} with names {HOW[self._style]}"
        return Case(file_name(name), message(root, fields), expected)

    def _boundary(self) -> str:
        self._boundaries += 1
        # RFC 2046, 5.1.1: all of these may stand in a boundary, in quotes.
        end = self._draw.choice(("", "=", "'()+_,-./:=?", " x"))
        return f"=_{self._seed}.{self._boundaries}.{self._draw.randrange(10**9)}{end}"

    def _text(self) -> str:
        lines = [" ".join(self._draw.choices(WORDS, k=self._draw.randint(3, 9))) for _ in range(3)]
        return f"Shape {self._seed}\n\n" + "\n".join(f"{line}." for line in lines)

    def _file(self, filename: str, content_type: str) -> Node:
        data = self._draw.randbytes(self._draw.choice((0, 1, 2, 3, 57, 58, 700, 2000)))
        encoding = "base64"
        if content_type.startswith("text/"):
            data = ("".join(f"{word};{len(word)}\r\n" for word in self._draw.choices(WORDS, k=8))).encode()
            encoding = self._draw.choice(("base64", "quoted-printable", "7bit"))
        elif self._draw.random() < 0.3:
            encoding = "quoted-printable"
            # A delimiter's line end is its own; data that ends with one is told apart only in base64.
            data = data.replace(b"\r", b"").replace(b"\n", b"")
        width = self._draw.choice((76, 76, 60, 4))
        kind, disposition = _named(filename, content_type, self._style)
        fields = (kind, *([disposition] if disposition else []), f"Content-Transfer-Encoding: {encoding}")
        shown = "attachment" if disposition else ""
        facts = attached(data, content_type, filename, disposition=shown)
        return Node(fields, transfer_encoded(data, encoding, width), (facts,))

    def _files(self, least: int = 1) -> list[Node]:
        return [self._file(*one) for one in self._draw.sample(FILES, self._draw.randint(least, 3))]

    def _picture(self, number: int) -> tuple[Node, str]:
        data = b"\x89PNG\r\n\x1a\n" + self._draw.randbytes(60)
        content_id = f"<picture{number}.{self._seed}@example.net>"
        fields = ("Content-Type: image/png", "Content-Transfer-Encoding: base64", f"Content-ID: {content_id}",
                  "Content-Disposition: inline")  # fmt: skip
        facts = attached(data, "image/png", None, disposition="inline", content_id=content_id, referenced=True)
        return Node(fields, transfer_encoded(data, "base64"), (facts,)), content_id[1:-1]

    def _compound(self, text: str) -> Node:
        pictures = [self._picture(number) for number in range(self._draw.randint(1, 2))]
        images = "".join(f'<img src="cid:{content_id}" alt="">' for _, content_id in pictures)
        page = html_node(text).body.replace(b"</body>", images.replace("=", "=3D").encode() + b"=\r\n</body>")
        root = Node(html_node(text).fields, page)
        return multipart("related", [root, *(node for node, _ in pictures)], self._boundary(), '; type="text/html"')

    def _both_forms(self, text: str, html: Node) -> Node:
        self._warnings.add("html_not_shown")
        return multipart("alternative", [text_node(text), html], self._boundary())

    # --- the trees: node, text, whether it comes from HTML

    def _plain_and_files(self) -> tuple[Node, str, bool]:
        text = self._text()
        return multipart("mixed", [text_node(text), *self._files()], self._boundary()), text, False

    def _both_forms_alone(self) -> tuple[Node, str, bool]:
        text = self._text()
        return self._both_forms(text, html_node(text)), text, False

    def _both_forms_and_files(self) -> tuple[Node, str, bool]:
        text = self._text()
        forms = self._both_forms(text, html_node(text))
        return multipart("mixed", [forms, *self._files()], self._boundary()), text, False

    def _pictures(self) -> tuple[Node, str, bool]:
        text = self._text()
        return self._compound(text), text, True

    def _pictures_in_one_form(self) -> tuple[Node, str, bool]:
        text = self._text()
        return self._both_forms(text, self._compound(text)), text, False

    def _everything(self) -> tuple[Node, str, bool]:
        text = self._text()
        forms = self._both_forms(text, self._compound(text))
        return multipart("mixed", [forms, *self._files(2)], self._boundary()), text, False

    def _files_first(self) -> tuple[Node, str, bool]:
        text = self._text()
        return multipart("mixed", [*self._files(), text_node(text)], self._boundary()), text, False

    def _text_around_files(self) -> tuple[Node, str, bool]:
        before, after = self._text(), self._text()
        nodes = [text_node(before), *self._files(), text_node(after, "iso-8859-1", "base64")]
        return multipart("mixed", nodes, self._boundary()), f"{before}\n\n{after}", False

    def _mixed_in_mixed(self) -> tuple[Node, str, bool]:
        text, footer = self._text(), "-- \nA footer of the list"
        inner = multipart("mixed", [text_node(text), *self._files()], self._boundary())
        return multipart("mixed", [inner, text_node(footer)], self._boundary()), f"{text}\n\n{footer}", False


def _named(filename: str, content_type: str, style: str) -> tuple[str, str | None]:
    """Content-Type and Content-Disposition that name a file; None where the second is left out."""
    kind, placing = f"Content-Type: {content_type}", "Content-Disposition: attachment"
    quoted = '"' + filename.replace("\\", "\\\\").replace('"', '\\"') + '"'
    extended = "utf-8''" + percent(filename.encode())
    word = encoded_words(filename, "utf-8", "B").replace("\r\n ", " ")
    if style == "quoted":
        return kind, f"{placing}; filename={quoted}"
    if style == "extended":
        return kind, f"{placing};\r\n filename*={extended}"
    if style == "pieces":
        return kind, placing + "".join(_pieces(extended))
    if style == "encoded word":
        return kind, f'{placing}; filename="{word}"'
    if style == "type only":
        return f'{kind}; name="{word}"', None
    return f'{kind}; name="{word}"', f"{placing};\r\n filename*={extended}"


def _pieces(extended: str) -> Iterator[str]:
    """RFC 2231, 3 and 4.1: pieces of one value; an escape may even be torn apart from its neighbours."""
    at = number = 0
    while at < len(extended):
        stop = min(at + 40, len(extended))
        while stop < len(extended) and "%" in extended[stop - 2 : stop]:
            stop += 1
        yield f";\r\n filename*{number}*={extended[at:stop]}"
        at, number = stop, number + 1


def main() -> None:
    """Write all of them."""
    FOLDER.mkdir(exist_ok=True)
    for case in cases():
        source, expected = written(case)
        (FOLDER / f"{case.name}.eml").write_bytes(source)
        (FOLDER / f"{case.name}.json").write_bytes(expected)


if __name__ == "__main__":
    main()
