"""The walk over parts."""

import pytest

from mailgate.limits import MIME_DEPTH_MAX, MIME_PARTS_MAX
from mailgate.mime.fields import header_extent, parse_fields
from mailgate.mime.structure import MessagePart, parse_structure
from mailgate.mime.warnings import WarningLog
from tests.mime.messages import attachment, multipart, part, text


def walk(source: bytes, *, truncated: bool = False) -> tuple[MessagePart, set[str]]:
    log = WarningLog()
    extent = header_extent(source, 0, len(source))
    fields = parse_fields(source, 0, extent.end)
    root = parse_structure(source, fields, extent.body, truncated=truncated, log=log)
    return root, {warning.code for warning in log.warnings()}


def bodies(source: bytes, *, truncated: bool = False) -> list[bytes]:
    return [source[leaf.start : leaf.end] for leaf in walk(source, truncated=truncated)[0].leaves()]


def test_parts_are_found_in_order_without_their_delimiters() -> None:
    source = multipart("mixed", [text("one"), multipart("alternative", [text("two"), text("three")]), attachment(b"4")])
    assert bodies(source) == [b"one", b"two", b"three", b"4"]
    assert walk(source)[1] == set()


def test_preamble_and_epilogue_are_no_parts() -> None:
    source = b"Content-Type: multipart/mixed; boundary=b\n\npreamble\n--b\n\none\n--b--\nepilogue\n--b\n\nnot a part\n"
    assert bodies(source) == [b"one"]


@pytest.mark.parametrize("line_end", [b"\r\n", b"\n"])
def test_both_line_ends_delimit(line_end: bytes) -> None:
    lines = [
        b"Content-Type: multipart/mixed; boundary=b",
        b"",
        b"--b",
        b"",
        b"one",
        b"--b \t",
        b"X: y",
        b"",
        b"two",
        b"--b--",
    ]
    assert bodies(line_end.join(lines)) == [b"one", b"two"]


def test_a_part_without_a_header_is_all_body() -> None:
    assert bodies(b"Content-Type: multipart/mixed; boundary=b\n\n--b\nno field here\n\nmore\n--b--") == [
        b"no field here\n\nmore"
    ]


def test_a_missing_closing_boundary_reads_to_the_end_and_warns() -> None:
    source = multipart("mixed", [text("one"), text("two")], close=False)
    assert bodies(source)[1].startswith(b"two")
    assert walk(source)[1] == {"boundary_missing"}


def test_a_cut_source_leaves_only_its_last_part_incomplete() -> None:
    source = multipart("mixed", [text("one"), text("two")], close=False)
    root, warnings = walk(source, truncated=True)
    assert [leaf.complete for leaf in root.leaves()] == [True, False]
    assert warnings == set()


def test_an_outer_delimiter_ends_inner_parts_that_were_never_closed() -> None:
    source = multipart("mixed", [multipart("alternative", [text("inner")], close=False), text("outer")])
    assert [body.strip() for body in bodies(source)] == [b"inner", b"outer"]


@pytest.mark.parametrize("boundary", ["a-", "a--", "=_x.y(z)", "with space", "+*?[]", "x" * 70])
def test_a_boundary_is_compared_literally(boundary: str) -> None:
    assert bodies(multipart("mixed", [text("--a\n--"), text("two")], boundary=boundary)) == [b"--a\n--", b"two"]


def test_a_longer_line_is_not_the_delimiter() -> None:
    assert bodies(b"Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--bc\n--b --x\n--b--") == [
        b"one\n--bc\n--b --x"
    ]


def test_a_delimiter_within_a_header_ends_that_part() -> None:
    assert bodies(b"Content-Type: multipart/mixed; boundary=b\n\n--b\nX: y\n--b\n\ntwo\n--b--") == [b"", b"two"]


@pytest.mark.parametrize(
    "field", ["multipart/mixed", 'multipart/mixed; boundary=""', "multipart/mixed; boundary=absent"]
)
def test_a_multipart_that_has_no_parts_is_read_as_text(field: str) -> None:
    source = part(b"all of it", f"Content-Type: {field}")
    root, warnings = walk(source)
    assert (root.content.content_type, source[root.start : root.end]) == ("text/plain", b"all of it")
    assert warnings == {"boundary_missing"}


def test_an_unlabelled_part_of_a_digest_is_a_message() -> None:
    root, _ = walk(multipart("digest", [part(b"Subject: x\r\n\r\nhi")]))
    assert [leaf.content.content_type for leaf in root.leaves()] == ["message/rfc822"]


def test_an_attached_message_is_one_leaf() -> None:
    inner = multipart("mixed", [text("inner one"), text("inner two")])
    root, _ = walk(multipart("mixed", [text("outer"), part(inner, "Content-Type: message/rfc822")]))
    assert [leaf.content.content_type for leaf in root.leaves()] == ["text/plain", "message/rfc822"]


@pytest.mark.parametrize("count", [10_000, 100_000])
@pytest.mark.parametrize("child", [b"--b\r\n\r\nx\r\n", b"--b\nX: y\n"], ids=["with blank lines", "without"])
def test_no_more_parts_than_the_limit_are_walked(count: int, child: bytes) -> None:
    root, warnings = walk(b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + child * count)
    assert len(list(root.leaves())) == MIME_PARTS_MAX
    assert "parts_limit" in warnings


def test_no_more_empty_multiparts_than_the_limit_are_walked() -> None:
    inner = b"--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n"
    root, warnings = walk(b"Content-Type: multipart/mixed; boundary=b\r\n\r\n" + inner * 100_000)
    assert len(list(root.leaves())) <= 2 * MIME_PARTS_MAX
    assert "parts_limit" in warnings


@pytest.mark.parametrize("levels", [MIME_DEPTH_MAX, 1000, 5000])
def test_no_level_deeper_than_the_limit_is_opened(levels: int) -> None:
    source = b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (level, level) for level in range(levels)
    )
    root, warnings = walk(source + b"\r\ndeep")
    depth = 1
    while root.children:
        (root,) = root.children
        depth += 1
    assert depth == MIME_DEPTH_MAX
    assert "depth_limit" in warnings


def test_five_thousand_attached_messages_within_each_other_are_one_leaf() -> None:
    root, _ = walk(b"Content-Type: message/rfc822\r\n\r\n" * 5000)
    assert root.children == ()


def test_the_deadline_ends_the_walk_with_what_was_found() -> None:
    source = multipart("mixed", [text("one"), text("two"), text("three")])
    answers = iter([False, False, True])
    log = WarningLog()
    extent = header_extent(source, 0, len(source))
    fields = parse_fields(source, 0, extent.end)
    root = parse_structure(source, fields, extent.body, truncated=False, log=log, deadline=lambda: next(answers))
    assert [leaf.complete for leaf in root.leaves()] == [True, False]
    assert [warning.code for warning in log.warnings()] == ["time_limit"]
