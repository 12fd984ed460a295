"""Replies of an SMTP server, read strictly (RFC 5321, 4.2): what is not exactly a reply is none.

    Reply-line = *( Reply-code "-" [ textstring ] CRLF ) Reply-code [ SP textstring ] CRLF
    Reply-code = %x32-35 %x30-35 %x30-39     ; the second digit is not insisted on: the first one decides

A reply decides whether a message counts as sent. So lines that disagree about the code, a line ended by LF alone, and
a code out of range are no answer at all, where a lenient reader would take the last line for one.
"""

from __future__ import annotations

import re
from typing import Final

from mailgate.faults import Fault
from mailgate.imap.refusals import words_fault
from mailgate.send.submission import SmtpReply

LINE_MAX: Final = 8192
"""Octets of one line. RFC 5321, 4.5.3.1.5 has 512; extensions may go beyond."""
REPLY_MAX: Final = 32_768
"""Octets of one reply; an answer to EHLO has a few thousand at most."""

_LINE: Final = re.compile(rb"([2-5][0-9][0-9])(?:([ -])([^\r\n\0]*))?\r\n")
# RFC 2034, 4: the text begins with the code, and its class is that of the reply.
_ENHANCED: Final = re.compile(rb"([245]\.[0-9]{1,3}\.[0-9]{1,3})(?: |\Z)")

# RFC 4954, 6; 5.7.139 is Exchange Online, 5.7.14 is Gmail.
_AUTH_ENHANCED: Final = {
    "5.7.139": Fault.PASSWORD_LOGIN_OFF,
    "5.7.14": Fault.LOGIN_NEEDS_BROWSER,
    "5.7.11": Fault.LOGIN_NEEDS_TLS,
}
_AUTH_CODES: Final = {
    504: Fault.NO_LOGIN_OFFERED,
    530: Fault.LOGIN_NEEDS_TLS,
    534: Fault.PASSWORD_NOT_FOR_PROGRAMS,
    535: Fault.PASSWORD_WRONG,
    538: Fault.LOGIN_NEEDS_TLS,
}


class MalformedReply(ValueError):
    """The octets cannot be a reply."""


class ReplyReader:
    """Cuts a stream into replies. `feed` never fails; `next_reply` tells what is wrong, from then on every time."""

    def __init__(self) -> None:
        self._octets = bytearray()
        self._scanned = 0
        self._lines: list[tuple[bytes, bytes]] = []
        self._size = 0
        self._dropped = False

    @property
    def is_empty(self) -> bool:
        """Has nothing been received that was not taken as part of a reply?"""
        return not self._octets and not self._lines

    def feed(self, data: bytes) -> None:
        """Octets as they come; more than a reply may have are not kept."""
        room = max(0, REPLY_MAX - len(self._octets))
        self._dropped |= len(data) > room
        self._octets += data[:room]

    def next_reply(self) -> SmtpReply | None:
        """The next complete reply, None while there is none. Raises `MalformedReply`."""
        while (end := self._octets.find(b"\n", self._scanned)) >= 0:
            if self._take(bytes(self._octets[: end + 1])):
                return self._finished()
        self._scanned = len(self._octets)
        if self._dropped or len(self._octets) > LINE_MAX:
            raise MalformedReply("a line is too long")
        return None

    def _take(self, line: bytes) -> bool:
        """One line; True when it is the last of its reply."""
        found = _LINE.fullmatch(line) if len(line) <= LINE_MAX else None
        if found is None:
            raise MalformedReply("a line is not one of a reply")
        if self._lines and self._lines[0][0] != found[1]:
            raise MalformedReply("the lines of a reply have different codes")
        if self._size + len(line) > REPLY_MAX:
            raise MalformedReply("a reply is too long")
        self._lines.append((found[1], found[3] or b""))
        self._size += len(line)
        del self._octets[: len(line)]
        self._scanned = 0
        return found[2] != b"-"

    def _finished(self) -> SmtpReply:
        lines, self._lines, self._size = self._lines, [], 0
        return reply_of(int(lines[0][0]), tuple(text for _, text in lines))


def reply_of(code: int, text: tuple[bytes, ...]) -> SmtpReply:
    """The reply with the enhanced code that its first line bears; one of another class says nothing."""
    found = _ENHANCED.match(text[0]) if text else None
    enhanced = found[1].decode("ascii") if found else None
    return SmtpReply(code, enhanced if enhanced and enhanced[0] == str(code)[0] else None, text)


def auth_fault(reply: SmtpReply) -> Fault:
    """Why AUTH was refused, as far as the reply tells: by its enhanced code, by known words, by its code."""
    if not reply.is_negative:
        return Fault.LOGIN_UNANSWERED
    if reply.code < 500:
        # RFC 4954, 6: 454 is a temporary failure, which says nothing about the password.
        return Fault.LOGIN_BUSY
    by_enhanced = _AUTH_ENHANCED.get(reply.enhanced or "")
    return by_enhanced or words_fault(b" ".join(reply.text)) or _AUTH_CODES.get(reply.code, Fault.LOGIN_REFUSED)
