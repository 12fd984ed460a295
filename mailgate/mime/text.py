"""Which parts are the message's text, and that text.

Of alternatives the plain one is preferred, unless it is only a stub for a richer HTML form. Both are read, so that it
can be said where they disagree. The text parts of the chosen branch are joined in their order, around the attachments
between them. An attached message is never entered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from mailgate.limits import HTML_BYTES_MAX, HTML_TOKENS_MAX, TEXT_BYTES_MAX
from mailgate.mime.alternatives import differ, is_stub
from mailgate.mime.charsets import MARK, CharsetProblem, decode
from mailgate.mime.clean import clean, cut_bytes
from mailgate.mime.flowed import unflow
from mailgate.mime.html_text import html_to_text
from mailgate.mime.model import MessageText, TextFormat, TextSource, Truncation
from mailgate.mime.old_formats import shown_text
from mailgate.mime.protection import note_text
from mailgate.mime.structure import Deadline, MessagePart
from mailgate.mime.transfer import decode_up_to
from mailgate.mime.transfer_repair import repaired
from mailgate.mime.uuencode import cut_uuencoded
from mailgate.mime.warnings import WarningCode, WarningLog

_PLAIN_TYPES: Final = frozenset({"text/plain", "text/markdown", "text/x-markdown"})
_RICH_TYPES: Final = frozenset({"text/enriched", "text/richtext"})
_HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_NO_PROSE: Final = frozenset({"text/vcard", "text/x-vcard", "text/directory", "text/rfc822-headers", "text/css"})
"""Text that is no letter: shown only where it is all there is."""
_SPARE_TYPES: Final = frozenset({"text/calendar", "message/delivery-status", "message/disposition-notification"})
_COMPOUND: Final = frozenset({"multipart/alternative", "multipart/related"})
_PLAIN_BYTES_MAX: Final = 4 * TEXT_BYTES_MAX
"""Decoded octets of plain text that are looked at: no charset needs more than four for a character."""

_META: Final = re.compile(rb"<meta[^>]{1,200}?charset=[\"']?([A-Za-z0-9_:.-]{1,40})", re.IGNORECASE)
_META_BYTES_MAX: Final = 2048
_PROBLEMS: Final = {
    CharsetProblem.UNKNOWN: WarningCode.CHARSET_UNKNOWN,
    CharsetProblem.DAMAGED: WarningCode.CHARSET_DAMAGED,
    CharsetProblem.GUESSED: WarningCode.CHARSET_GUESSED,
}


@dataclass(frozen=True, slots=True)
class Segment:
    """One stretch of text with its forms: at least one of `plain` and `html` has parts."""

    plain: tuple[MessagePart, ...] = ()
    html: tuple[MessagePart, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """The segments in order, and the leaves (by offset) that are text in either form, chosen or not.

    A leaf that is shown as text and may be a file all the same is not among `text_leaves`: it is listed as well.
    `spare`: what is shown where all the text is empty.
    """

    segments: tuple[Segment, ...] = ()
    text_leaves: frozenset[int] = frozenset()
    spare: Segment | None = None

    @property
    def read(self) -> frozenset[int]:
        """Every leaf (by offset) that may be looked at for the text, whether it is listed as a file or not."""
        segments = self.segments if self.spare is None else (*self.segments, self.spare)
        return frozenset(part.start for one in segments for part in (*one.plain, *one.html))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a part stands. `only`: where nothing but the body can; `first`: with nothing before it."""

    only: bool = False
    first: bool = False


_ROOT: Final = _Place(only=True, first=True)
_FORM: Final = _Place(only=True)


def find_body(root: MessagePart) -> Body:
    """Which leaves are text. Depends on the structure alone, so attachments keep their index however text is read."""
    segments = tuple(_segments(root, _ROOT))
    if not segments:
        # Nothing stands where text stands: the first text of any kind is what the message says, file or not.
        return Body(tuple(_any_text(root)), spare=_spare(root))
    # A form that another one of its kind supersedes is no text of this message: it is listed as an attachment.
    shown = frozenset(part.start for one in segments for part in (*one.plain, *one.html))
    opening = _opening(root)
    listed = {opening.start} if opening is not None else set()
    return Body(segments, shown - listed, _spare(root))


def _spare(root: MessagePart) -> Segment | None:
    """The first leaf that says in fields of its own what an empty text leaves out: an invitation, a bounce."""
    found = (part for part in root.leaves() if part.content.content_type in _SPARE_TYPES and not _is_file(part))
    return next((Segment(plain=(part,)) for part in found), None)


def _is_file(part: MessagePart) -> bool:
    return part.content.disposition == "attachment" and part.content.filename is not None


def _opening(root: MessagePart) -> MessagePart | None:
    """The leaf that opens a multipart and has a file's name: it is text for its place, and stays a file as well."""
    part = root
    while part.children and part.content.content_type not in _COMPOUND:
        part = part.children[0]
    return part if part is not root and not part.children and part.content.filename is not None else None


def _any_text(root: MessagePart) -> Iterator[Segment]:
    """The first leaf that is text of any type and not a file that was attached under a name."""
    for part in root.leaves():
        content = part.content
        if _is_file(part):
            continue
        if content.content_type in _HTML_TYPES:
            yield Segment(html=(part,))
            return
        if content.main_type == "text" and (part is root or content.content_type not in _NO_PROSE):
            yield Segment(plain=(part,))
            return


def _segments(part: MessagePart, place: _Place) -> list[Segment]:
    """Recursion is bounded by `limits.MIME_DEPTH_MAX`."""
    if not part.children:
        segment = _leaf_segment(part, place)
        return [] if segment is None else [segment]
    kind = part.content.content_type
    if kind == "multipart/alternative":
        return _alternatives([_segments(child, _FORM) for child in part.children])
    children = part.children
    if kind == "multipart/related":
        chief, children = _root_first(part)
        found = _segments(chief, _FORM)
        if found:
            return found
    # RFC 1847, 2.1: first what is signed, then the signature.
    if kind == "multipart/signed":
        children = children[:1]
    places = [_Place(first=place.first and kind != "multipart/related"), *[_Place()] * (len(children) - 1)]
    return [segment for child, at in zip(children, places, strict=False) for segment in _segments(child, at)]


def _root_first(part: MessagePart) -> tuple[MessagePart, tuple[MessagePart, ...]]:
    """The root of a compound object, which the others belong to, and these: the one that `start` names, or the first
    (RFC 2387, 3.2)."""
    start = (part.content.start or "").strip("<>")
    named = [child for child in part.children if start and (child.content.content_id or "").strip("<>") == start]
    root = named[0] if named else part.children[0]
    return root, tuple(child for child in part.children if child is not root)


def _leaf_segment(part: MessagePart, place: _Place) -> Segment | None:
    """Text that a mail program shows in place: not an attachment, and without a file name, unless it stands where
    only the body can stand, or first and says itself that it is to be shown."""
    content = part.content
    # A text file is often sent `inline` with a name: it is a file all the same.
    if content.filename is not None:
        in_place = place.only or (place.first and content.disposition == "inline")
        if not in_place or content.disposition == "attachment":
            return None
    # Some programs mark all they send as attached: what has no name and stands first is what was written.
    elif content.disposition == "attachment" and not (place.only or place.first):
        return None
    if content.content_type in _PLAIN_TYPES:
        return Segment(plain=(part,))
    if content.content_type in _RICH_TYPES and place.first:
        return Segment(plain=(part,))
    if content.content_type == "text/html":
        return Segment(html=(part,))
    return None


def _alternatives(children: Sequence[list[Segment]]) -> list[Segment]:
    """Forms of one text. Of several of a kind the last is the one its sender held best (RFC 2046, 5.1.4)."""
    plain: tuple[MessagePart, ...] = ()
    html: tuple[MessagePart, ...] = ()
    for segments in children:
        if any(segment.html for segment in segments):
            html = tuple(part for segment in segments for part in segment.html or segment.plain)
            inner = tuple(part for segment in segments for part in segment.plain)
            plain = inner if all(segment.plain for segment in segments) else plain
        elif segments:
            plain = tuple(part for segment in segments for part in segment.plain)
    return [Segment(plain, html)] if plain or html else []


# --- reading ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Reading:
    """The text of one stretch while it is put together."""

    pieces: list[str] = field(default_factory=list)
    truncation: Truncation = Truncation.NONE
    sanitized: bool = False
    odd: bool = False
    log: WarningLog = field(default_factory=WarningLog)
    """What was noticed; it is said only if this stretch is the one shown."""

    @property
    def text(self) -> str:
        return "\n\n".join(piece for piece in self.pieces if piece)

    def take(self, other: _Reading) -> None:
        """Append another stretch with all that is known of it."""
        self.pieces.append(other.text)
        self.cut(other.truncation)
        self.sanitized |= other.sanitized
        self.odd |= other.odd
        self.log.extend(other.log)

    def cut(self, why: Truncation) -> None:
        """Keep the harder reason; the enum is in order of hardness."""
        order = list(Truncation)
        self.truncation = max(self.truncation, why, key=order.index)


class TextReader:
    """Reads the text of one message; bounds hold for all of its parts together."""

    def __init__(self, source: bytes, log: WarningLog, deadline: Deadline | None = None) -> None:
        self._source = source
        self._log = log
        self._deadline = deadline
        self._html_bytes = HTML_BYTES_MAX
        self._html_tokens = HTML_TOKENS_MAX

    def read(self, body: Body) -> MessageText:
        """The whole text, at most `limits.TEXT_BYTES_MAX` octets."""
        whole = _Reading()
        sources: set[TextSource] = set()
        others: set[TextSource] = set()
        for segment in body.segments:
            if self._out_of_time() or len(whole.text) > TEXT_BYTES_MAX:
                whole.cut(Truncation.TEXT_LIMIT)
                break
            source, reading = self._segment(segment)
            sources.add(source)
            if segment.plain and segment.html:
                others.add(TextSource.PLAIN if source is TextSource.HTML else TextSource.HTML)
            whole.take(reading)
        if body.spare is not None and not whole.text.strip() and not self._out_of_time():
            whole.take(self._plain(body.spare.plain))
        self._log.extend(whole.log)
        return self._result(whole, sources, others)

    def _result(self, whole: _Reading, sources: set[TextSource], others: set[TextSource]) -> MessageText:
        text, cut = cut_bytes(whole.text, TEXT_BYTES_MAX)
        if cut:
            whole.cut(Truncation.TEXT_LIMIT)
        is_html = TextSource.HTML in sources
        alternative = next((other for other in TextSource if other in others), None)
        self._log.add(WarningCode.HTML_NOT_SHOWN, when=TextSource.HTML in others)
        self._log.add(WarningCode.PLAIN_NOT_SHOWN, when=TextSource.PLAIN in others)
        self._log.add(WarningCode.NO_TEXT, when=not text.strip())
        return MessageText(
            text=text,
            format=TextFormat.MARKDOWN if is_html else TextFormat.PLAIN,
            source=TextSource.HTML if is_html else TextSource.PLAIN,
            alternative=alternative,
            truncation=whole.truncation,
            sanitized=whole.sanitized,
            odd_within=whole.odd,
        )

    def _segment(self, segment: Segment) -> tuple[TextSource, _Reading]:
        if not segment.plain:
            return TextSource.HTML, self._html(segment.html)
        plain = self._plain(segment.plain)
        if not segment.html:
            return TextSource.PLAIN, plain
        html = self._html(segment.html)
        chosen = (TextSource.HTML, html) if is_stub(plain.text, html.text) else (TextSource.PLAIN, plain)
        # The plain form has lost what the other one marks.
        plain.odd |= html.odd
        # Where only part of either could be read, nothing can be said about the rest.
        if plain.truncation is html.truncation is Truncation.NONE:
            chosen[1].log.add(WarningCode.ALTERNATIVES_DIFFER, when=differ(plain.text, html.text))
        return chosen

    def _plain(self, parts: Sequence[MessagePart]) -> _Reading:
        reading = _Reading()
        for part, text, cut in self._decoded(parts, _PLAIN_BYTES_MAX, reading.log):
            safe = clean(shown_text(part.content.content_type, text), multiline=True)
            reading.sanitized |= safe.changed
            flowed = part.content.flowed
            shown = cut_uuencoded(unflow(safe.text, delete_space=part.content.delete_space) if flowed else safe.text)
            reading.log.add(WarningCode.UUENCODED_FILE, when=shown.files > 0)
            note_text(shown.text, reading.log)
            reading.pieces.append(shown.text.strip("\n").rstrip())
            self._note_cut(reading, part, cut)
        return reading

    def _html(self, parts: Sequence[MessagePart]) -> _Reading:
        reading = _Reading()
        for part in parts:
            if part.content.content_type not in _HTML_TYPES:
                reading.take(self._plain([part]))
                continue
            for _, text, cut in self._decoded([part], self._html_bytes, reading.log):
                # Encoded octets are at least as many as decoded ones.
                self._html_bytes -= min(part.end - part.start, self._html_bytes)
                self._one_html(reading, text)
                reading.log.add(WarningCode.HTML_LIMIT, when=cut)
                self._note_cut(reading, part, cut)
        return reading

    def _one_html(self, reading: _Reading, html: str) -> None:
        result = html_to_text(html, tokens=self._html_tokens)
        self._html_tokens -= result.tokens
        log = reading.log
        log.add(WarningCode.HTML_LIMIT, when=result.limited)
        log.add(WarningCode.HIDDEN_TEXT_REMOVED, when=result.hidden, count=result.hidden_chars)
        log.add(WarningCode.LINK_TEXT_DIFFERS, when=result.differs)
        log.add(WarningCode.HTML_UNREADABLE, when=result.failed)
        reading.sanitized |= result.sanitized
        reading.odd |= result.odd
        reading.pieces.append(result.text)
        if result.limited:
            reading.cut(Truncation.TEXT_LIMIT)

    def _decoded(
        self, parts: Sequence[MessagePart], limit: int, log: WarningLog
    ) -> Iterator[tuple[MessagePart, str, bool]]:
        """Each part with its text, and whether there was more of it than `limit`."""
        for part in parts:
            if self._out_of_time():
                return
            result = decode_up_to(self._source, part.start, part.end, part.content.encoding, limit)
            label = part.content.charset or _charset_in_html(part, result.data)
            result = repaired(self._source, part, limit, result, label)
            log.add(WarningCode.TRANSFER_UNKNOWN, when=result.state.unknown)
            log.add(WarningCode.TRANSFER_DAMAGED, when=result.state.damaged and part.complete)
            decoded = decode(result.data, label, whole=part.complete and not result.cut)
            if decoded.problem:
                log.add(_PROBLEMS[decoded.problem])
            # At the beginning of a part it marks UTF-8 (RFC 3629, 6).
            yield part, decoded.text.removeprefix(MARK), result.cut

    def _note_cut(self, reading: _Reading, part: MessagePart, cut: bool) -> None:
        if cut:
            reading.cut(Truncation.TEXT_LIMIT)
        if not part.complete:
            reading.cut(Truncation.SOURCE_LIMIT)

    def _out_of_time(self) -> bool:
        passed = self._deadline is not None and self._deadline()
        self._log.add(WarningCode.TIME_LIMIT, when=passed)
        return passed


def _charset_in_html(part: MessagePart, data: bytes) -> str | None:
    """What the document says of itself (HTML Standard, 13.2.3.2), for want of a charset on its part."""
    found = _META.search(data[:_META_BYTES_MAX]) if part.content.content_type in _HTML_TYPES else None
    return found[1].decode("ascii") if found else None
