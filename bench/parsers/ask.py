"""Asks mail-parser about every message of a folder: `python ask.py FOLDER`, in an environment that has it.

Prints one JSON object: the name of each message, and what the parser finds in it in the form that
`bench/differential.py` compares, or the error that it raised.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import sys
from datetime import timezone
from pathlib import Path
from typing import Any

import mailparser

LISTS = {"from": "from_", "to": "to", "cc": "cc", "bcc": "bcc", "reply_to": "reply_to"}


def octets(attachment: dict[str, Any]) -> bytes:
    payload = attachment["payload"]
    if attachment["binary"]:
        return base64.b64decode(payload)
    if isinstance(payload, bytes):
        return payload
    # What could not be decoded comes as surrogates, as the standard library's parser leaves it.
    return str(payload).encode("utf-8", "surrogateescape")


def answer(source: bytes) -> dict[str, Any]:
    mail = mailparser.parse_from_bytes(source)
    attached = [(one["filename"], octets(one)) for one in mail.attachments]
    date = mail.date
    return {
        # Of several fields it gives a list.
        "subject": "\n".join(mail.subject) if isinstance(mail.subject, list) else mail.subject,
        **{name: [list(pair) for pair in getattr(mail, key) or ()] for name, key in LISTS.items()},
        "date": date.replace(tzinfo=date.tzinfo or timezone.utc).isoformat() if date else None,  # noqa: UP017
        "plain": "\n\n".join(mail.text_plain),
        "html": "\n\n".join(mail.text_html),
        "attachments": [[name, len(data), hashlib.sha256(data).hexdigest()] for name, data in attached],
    }


def main() -> None:
    answers: dict[str, Any] = {}
    for path in sorted(Path(sys.argv[1]).glob("*.eml")):
        try:
            # It prints remarks of its own.
            with contextlib.redirect_stdout(sys.stderr):
                answers[path.stem] = answer(path.read_bytes())
        except Exception as error:
            answers[path.stem] = {"error": type(error).__name__}
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
