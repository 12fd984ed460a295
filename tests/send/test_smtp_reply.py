"""What is a reply of an SMTP server, and what is none."""

from __future__ import annotations

import pytest

from mailgate.send.smtp_reply import LINE_MAX, REPLY_MAX, MalformedReply, ReplyReader
from mailgate.send.submission import SmtpReply


def read(data: bytes) -> list[SmtpReply]:
    reader = ReplyReader()
    reader.feed(data)
    found = []
    while (reply := reader.next_reply()) is not None:
        found.append(reply)
    return found


@pytest.mark.parametrize(
    ("data", "code", "enhanced", "text"),
    [
        (b"250 ok\r\n", 250, None, (b"ok",)),
        (b"250\r\n", 250, None, (b"",)),
        (b"250 \r\n", 250, None, (b"",)),
        (b"250 2.1.5 ok\r\n", 250, "2.1.5", (b"2.1.5 ok",)),
        (b"550 5.7.1\r\n", 550, "5.7.1", (b"5.7.1",)),
        (b"550 2.7.1 ok\r\n", 550, None, (b"2.7.1 ok",)),
        (b"550 5.7.1234 no\r\n", 550, None, (b"5.7.1234 no",)),
        (b"250-a\r\n250-\r\n250 b\r\n", 250, None, (b"a", b"", b"b")),
        (b"220 \xfcber\r\n", 220, None, (b"\xfcber",)),
        (b"421-a\r\n421\r\n", 421, None, (b"a", b"")),
    ],
)
def test_a_reply(data: bytes, code: int, enhanced: str | None, text: tuple[bytes, ...]) -> None:
    assert read(data) == [SmtpReply(code, enhanced, text)]


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n",
        b"25\r\n",
        b"2500 ok\r\n",
        b"250ok\r\n",
        b"250\tok\r\n",
        b" 250 ok\r\n",
        b"+25 ok\r\n",
        b"-25 ok\r\n",
        b"2_5 ok\r\n",
        b"150 ok\r\n",
        b"600 ok\r\n",
        b"250 ok\n",
        b"250-ok\n250 ok\r\n",
        b"250 a\rb\r\n",
        b"250 a\0b\r\n",
        b"250-ok\r\n550 no\r\n",
        b"550-no\r\n250 ok\r\n",
        b"250-ok\r\nhello\r\n",
        b"\xd9\xa2\xd9\xa5\xd9\xa0 ok\r\n",
        b"250 " + b"x" * LINE_MAX + b"\r\n",
        b"250 " + b"x" * LINE_MAX,
        b"250-x\r\n" * (REPLY_MAX // 7 + 1),
    ],
)
def test_no_reply(data: bytes) -> None:
    with pytest.raises(MalformedReply):
        read(data)


def test_what_is_malformed_stays_malformed() -> None:
    reader = ReplyReader()
    reader.feed(b"hello\r\n250 ok\r\n")
    for _ in range(3):
        with pytest.raises(MalformedReply):
            reader.next_reply()


@pytest.mark.parametrize("data", [b"", b"2", b"250 ok", b"250 ok\r", b"250-ok\r\n", b"250-ok\r\n250"])
def test_an_unfinished_reply_is_none_yet(data: bytes) -> None:
    reader = ReplyReader()
    reader.feed(data)
    assert reader.next_reply() is None
    assert reader.is_empty is (data == b"")


def test_the_packets_make_no_difference() -> None:
    whole = b"250-2.0.0 a\r\n250 b\r\n550 no\r\n"
    for size in range(1, len(whole)):
        reader = ReplyReader()
        found = []
        for start in range(0, len(whole), size):
            reader.feed(whole[start : start + size])
            while (reply := reader.next_reply()) is not None:
                found.append(reply.code)
        assert found == [250, 550]
        assert reader.is_empty


def test_an_endless_stream_is_not_kept() -> None:
    reader = ReplyReader()
    for _ in range(100):
        reader.feed(b"x" * 65_536)
    assert len(reader._octets) <= REPLY_MAX + 1
    with pytest.raises(MalformedReply):
        reader.next_reply()


def test_a_server_s_words_are_in_no_repr() -> None:
    assert "secret" not in repr(read(b"550 5.1.1 secret@example.org\r\n")[0])
