"""The header fields that a reader needs, from raw octets to safe text, within bounds.

No class of the standard library's email package is used: its modern policy raises IndexError, LookupError,
OverflowError and RecursionError on fields that strangers can write.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from mailgate.limits import HEADER_VALUE_CHARS_MAX
from mailgate.mime.addresses import FIELD_CHARS_MAX, AddressList, ParsedAddress, parse_addresses
from mailgate.mime.charsets import CharsetProblem
from mailgate.mime.clean import clean, cut_chars
from mailgate.mime.dates import parse_date
from mailgate.mime.encoded_words import decode_words
from mailgate.mime.fields import HeaderFields, is_utf8, raw_text
from mailgate.mime.model import MessageHeaders
from mailgate.mime.sender import names_several_authors
from mailgate.mime.warnings import WarningCode, WarningLog

_RAW_MAX: Final = 32 * 1024
"""Octets of one field that are looked at: enough for `HEADER_VALUE_CHARS_MAX` characters in base64 words."""
_DATE_RAW_CHARS_MAX: Final = 200
_ID_CHARS_MAX: Final = 998
# Looser than msg-id of RFC 5322, 3.6.4: real ids hold brackets, blanks and 8-bit characters.
_MESSAGE_ID: Final = re.compile(r"<[^<>]{1,996}>")


class HeaderReader:
    """Reads fields of one header block; remembers warnings, and whether anything unsafe was taken out."""

    def __init__(self, fields: HeaderFields, log: WarningLog) -> None:
        self._fields = fields
        self._by_name: dict[str, list[bytes]] = {}
        for name, value in fields.fields:
            self._by_name.setdefault(name, []).append(value)
        self._log = log
        self._sanitized = False
        log.add(WarningCode.HEADER_LIMIT, when=fields.cut)

    def headers(self) -> MessageHeaders:
        """All of it. `warnings` is left to the caller, who holds the log."""
        senders = self._addresses("from")
        self._judge_senders(senders)
        date = self._first("date", _RAW_MAX)
        parsed_date = parse_date(date) if date else None
        self._log.add(WarningCode.DATE_INVALID, when=bool(date) and parsed_date is None)
        subject = self.text("subject")
        headers = MessageHeaders(
            subject=subject,
            from_=_rendered(senders),
            to=_rendered(self._addresses("to")),
            cc=_rendered(self._addresses("cc")),
            bcc=_rendered(self._addresses("bcc")),
            reply_to=_rendered(self._addresses("reply-to")),
            sender=next(iter(_rendered(self._addresses("sender"))), None),
            date=parsed_date,
            date_raw=self._safe(date, _DATE_RAW_CHARS_MAX) if date and parsed_date is None else None,
            message_id=self._message_id(),
            in_reply_to=self._ids("in-reply-to"),
            references=self._ids("references"),
            list_id=self.text("list-id"),
            list_unsubscribe=self.text("list-unsubscribe"),
            list_unsubscribe_post=self.text("list-unsubscribe-post"),
            list_post=self.text("list-post"),
        )
        return replace(headers, sanitized=self._sanitized)

    def text(self, name: str) -> str | None:
        """An unstructured field as one safe line; None where it is missing or empty."""
        value = self._first(name, _RAW_MAX)
        if not value:
            return None
        words = decode_words(value)
        self._log.add(WarningCode.CHARSET_UNKNOWN, when=words.problem is CharsetProblem.UNKNOWN)
        self._log.add(WarningCode.CHARSET_DAMAGED, when=words.problem is CharsetProblem.DAMAGED)
        self._log.add(WarningCode.CHARSET_GUESSED, when=words.problem is CharsetProblem.GUESSED)
        return self._safe(words.text, HEADER_VALUE_CHARS_MAX) or None

    def _first(self, name: str, limit: int) -> str:
        if name not in self._by_name:
            return ""
        value = self._by_name[name][0]
        self._log.add(WarningCode.HEADER_LIMIT, when=len(value) > limit)
        return self._raw(value, limit)

    def _raw(self, value: bytes, limit: int) -> str:
        self._log.add(WarningCode.CHARSET_GUESSED, when=not is_utf8(value))
        return raw_text(value, limit)

    def _safe(self, text: str, limit: int) -> str:
        safe = clean(text)
        self._sanitized |= safe.changed
        shown, cut = cut_chars(safe.text, limit)
        self._log.add(WarningCode.HEADER_LIMIT, when=cut)
        return shown

    def _addresses(self, name: str) -> tuple[ParsedAddress, ...]:
        # RFC 5322, 3.6 allows one of each; where there are more, a reader should see them all.
        values = self._by_name.get(name)
        if not values:
            return ()
        joined = b", ".join(values)
        found: AddressList = parse_addresses(self._raw(joined, FIELD_CHARS_MAX + 1))
        self._log.add(WarningCode.ADDRESS_LIMIT, when=found.cut)
        self._log.add(WarningCode.ADDRESS_INVALID, when=not all(one.valid for one in found.addresses))
        self._sanitized |= found.changed
        return found.addresses

    def _judge_senders(self, senders: tuple[ParsedAddress, ...]) -> None:
        self._log.add(WarningCode.MULTIPLE_FROM, when=names_several_authors(self._fields, senders))
        deceptive = any(sender.name_has_other_address for sender in senders)
        self._log.add(WarningCode.DISPLAY_NAME_HAS_OTHER_ADDRESS, when=deceptive)

    def _message_id(self) -> str | None:
        value = self._first("message-id", _RAW_MAX)
        if not value:
            return None
        match = _MESSAGE_ID.search(value)
        return self._safe(match[0] if match else value, _ID_CHARS_MAX) or None

    def _ids(self, name: str) -> tuple[str, ...]:
        """The ids of a thread field. Of a chain too long to show, the first stays and the latest do: they are what
        a reply needs (RFC 5322, 3.6.4)."""
        if name not in self._by_name:
            return ()
        value = raw_text(self._by_name[name][0], 4 * _RAW_MAX)
        ids = [self._safe(found, _ID_CHARS_MAX) for found in _MESSAGE_ID.findall(value)]
        room = HEADER_VALUE_CHARS_MAX - sum(map(len, ids[:1]))
        latest: list[str] = []
        for one in reversed(ids[1:]):
            room -= len(one)
            if room < 0:
                self._log.add(WarningCode.HEADER_LIMIT)
                break
            latest.append(one)
        return tuple(ids[:1] + latest[::-1])


def _rendered(addresses: tuple[ParsedAddress, ...]) -> tuple[str, ...]:
    return tuple(map(str, addresses))
