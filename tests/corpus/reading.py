"""A stored message, what a reader has to find in it, and what mailgate finds in it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mailgate.errors import AttachmentTooLarge
from mailgate.mime.model import AttachmentInfo, ParsedMessage, RawMessage, TextSource
from mailgate.mime.parse import extract_attachment, parse_message

FOLDER = Path(__file__).parent / "messages"
HEADERS = ("subject", "from", "sender", "to", "cc", "bcc", "reply_to", "date", "date_raw", "message_id", "in_reply_to",
           "references", "list_id", "list_unsubscribe", "list_unsubscribe_post", "list_post")  # fmt: skip
MATTERS = ("filename", "filename_changed", "content_type", "size", "sha256", "disposition", "content_id", "referenced")


@dataclass(frozen=True)
class Stored:
    """One message of the corpus; `expected` leaves out what is empty, null or false."""

    name: str
    source: bytes
    expected: dict[str, Any]


def stored(folder: Path = FOLDER) -> list[Stored]:
    """All messages in the order of their names."""
    return [
        Stored(path.stem, path.read_bytes(), json.loads(path.with_suffix(".json").read_text(encoding="utf-8")))
        for path in sorted(folder.glob("*.eml"))
    ]


def found(source: bytes) -> dict[str, Any]:
    """What mailgate says of a message, in the form of `Stored.expected`."""
    raw = RawMessage(source)
    message = parse_message(raw)
    facts = _headers(message)
    text = message.text
    # Where Markdown breaks a line says nothing about the message; in plain text every line end counts.
    facts["text"] = " ".join(text.text.split()) if text.source is TextSource.HTML else text.text
    facts["text_source"] = text.source.value if text.source is TextSource.HTML else None
    facts["attachments"] = [_attachment(raw, info) for info in message.attachments]
    facts["warnings"] = sorted(warning.code for warning in message.warnings)
    return {key: value for key, value in facts.items() if value}


def wanted(expected: dict[str, Any]) -> dict[str, Any]:
    """`Stored.expected` in the form in which `found` answers."""
    facts = dict(expected)
    if facts.get("text_source") == "html":
        facts["text"] = " ".join(facts["text"].split())
    return {key: value for key, value in facts.items() if value}


def _headers(message: ParsedMessage) -> dict[str, Any]:
    values = asdict(message.headers) | {"from": message.headers.from_}
    return {name: list(values[name]) if isinstance(values[name], tuple) else values[name] for name in HEADERS}


def _attachment(raw: RawMessage, info: AttachmentInfo) -> dict[str, Any]:
    facts = {name: getattr(info, name, None) for name in MATTERS}
    try:
        facts["sha256"] = hashlib.sha256(extract_attachment(raw, info.index).data).hexdigest()
    except AttachmentTooLarge:
        facts["sha256"] = None
    # A size of zero says something, and so does the lack of a name.
    return {key: value for key, value in facts.items() if value or key in ("size", "filename")}
