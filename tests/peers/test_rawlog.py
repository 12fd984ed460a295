"""Raw logs are read as the commands they were."""

from __future__ import annotations

from tests.peers.rawlog import parse_raw_log, sent_since


def test_commands_and_literals_come_out_whole() -> None:
    content = (
        b"1700000000.000001 A1 EXAMINE INBOX\r\n"
        b"1700000000.000002 A2 UID SEARCH CHARSET UTF-8 TEXT {8}\r\n"
        b"1700000000.000003 a\r\n"
        b"1700000000.000004 B STO UNSEEN\r\n"
        b"1700000000.000005 A3 noop\r\n"
    )
    commands = parse_raw_log(content)
    assert [command.name for command in commands] == ["EXAMINE", "UID SEARCH", "NOOP"]
    assert commands[1].line == b"A2 UID SEARCH CHARSET UTF-8 TEXT {8}\r\na\r\nB STO UNSEEN"


def test_a_session_cut_in_the_middle_keeps_what_was_sent() -> None:
    assert [each.line for each in parse_raw_log(b"1.0 A1 NOOP\r\n2.0 A2 UID FE")] == [b"A1 NOOP", b"A2 UID FE"]


def test_a_literal_that_the_server_refused_is_not_taken_from_the_next_command() -> None:
    commands = parse_raw_log(b'1.0 AB9 APPEND "x" () {20}\r\n2.0 AB10 LIST "" "x"\r\n3.0 AB11 NOOP\r\n')
    assert [command.name for command in commands] == ["APPEND", "LIST", "NOOP"]


def test_what_came_in_addition_is_found_among_overlapping_sessions() -> None:
    first, second, third = parse_raw_log(b"A1 NOOP\r\nA2 LIST\r\nB1 NOOP\r\n")
    assert sent_since([first, third], [first, second, third]) == [second]
    assert sent_since([first], [first, first]) == [first]
