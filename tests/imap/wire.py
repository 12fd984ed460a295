"""Feeds octets to the grammar in every way a network may cut them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from mailgate.imap.framing import Frame, FramingError, FramingLimits, ResponseFramer
from mailgate.imap.responses import Response, parse_response

TAIL = b"* 7 EXP"  # the beginning of a next response, which must change nothing


def read_frames(
    pieces: Iterable[bytes], *, keep: int | None = None, limits: FramingLimits | None = None
) -> tuple[list[Frame], str | None]:
    """Frames in order, and the sentence of the error that ended it, if any."""
    framer = ResponseFramer(limits)
    framer.keep_literal = keep
    frames: list[Frame] = []
    try:
        for piece in pieces:
            framer.feed(piece)
            while (frame := framer.next_frame()) is not None:
                frames.append(frame)
    except FramingError as error:
        return frames, str(error)
    return frames, None


def assert_linear(work: Callable[[int], object], size: int) -> None:
    """Four times the size costs about four times the processor time; sixteen times would be quadratic work.

    Processor time, the best of three, and a ratio: a busy machine does not change the verdict.
    """

    def cost(size: int) -> float:
        times = []
        for _ in range(3):
            started = time.process_time()
            work(size)
            times.append(time.process_time() - started)
        return min(times)

    assert cost(4 * size) < 10 * cost(size) + 0.02


def single_octets(data: bytes) -> list[bytes]:
    return [data[index : index + 1] for index in range(len(data))]


def frame_outcome(
    data: bytes, *, keep: int | None = None, limits: FramingLimits | None = None
) -> tuple[list[Frame], str | None]:
    """The same whole and octet by octet, and with a tail after it where the stream stays good."""
    whole = read_frames([data], keep=keep, limits=limits)
    assert read_frames(single_octets(data), keep=keep, limits=limits) == whole
    if whole[1] is None and data.endswith(b"\r\n"):
        assert read_frames([data + TAIL], keep=keep, limits=limits) == whole
        assert read_frames(single_octets(data + TAIL), keep=keep, limits=limits) == whole
    return whole


def frames(data: bytes, *, keep: int | None = None) -> list[Frame]:
    """The frames of a stream that breaks no bound."""
    found, error = frame_outcome(data, keep=keep)
    assert error is None
    return found


def responses(data: bytes) -> list[Response]:
    """The responses of a stream that breaks no bound."""
    return [parse_response(frame) for frame in frames(data)]


def response(data: bytes) -> Response:
    """The only response; CRLF is added."""
    (only,) = responses(data + b"\r\n")
    return only
