"""Host and Origin allow-lists."""

from __future__ import annotations

import pytest

from mailgate.server.origins import AllowedOrigins

PUBLIC = AllowedOrigins("https://Mail.Example.com/mcp", ("https://app.example.net", "http://tool.example.net:8080"))
LOCAL = AllowedOrigins()


@pytest.mark.parametrize(
    "host", ["mail.example.com", "MAIL.example.com:443", "localhost", "127.0.0.1:8000", "[::1]:8000", "127.9.9.9"]
)
def test_the_public_host_and_loopback_are_answered_for(host: str) -> None:
    assert PUBLIC.allows_host([host.encode()])


@pytest.mark.parametrize(
    "host",
    ["evil.example", "mail.example.com.evil.example", "evil.mail.example.com", "mail.example.com.",
     "localhost.evil.example",
     "", "mail.example.com:", "mail.example.com:80:80", "user@localhost", "localhost/x", "127.0.0.1.nip.io", "0.0.0.0",
     "[::1", "::1", "\xff", "localhost localhost", "169.254.169.254"],
)  # fmt: skip
def test_any_other_host_is_not(host: str) -> None:
    assert not PUBLIC.allows_host([host.encode("latin-1")])


def test_without_a_public_url_only_loopback_is_answered_for() -> None:
    assert LOCAL.allows_host([b"localhost:8000"])
    assert not LOCAL.allows_host([b"mail.example.com"])


@pytest.mark.parametrize("fields", [[], [b"localhost", b"localhost"], [b"localhost", b"evil.example"]])
def test_a_host_that_is_missing_or_repeated_is_refused(fields: list[bytes]) -> None:
    assert not PUBLIC.allows_host(fields)


@pytest.mark.parametrize(
    "origin",
    [
        "https://mail.example.com",
        "https://mail.example.com:443",
        "https://app.example.net",
        "http://tool.example.net:8080",
    ],
)
def test_the_own_origin_and_the_configured_ones_are_allowed(origin: str) -> None:
    assert PUBLIC.allows_origin([origin.encode()], [b"mail.example.com"])


@pytest.mark.parametrize(
    "origin",
    ["null", "", "http://mail.example.com", "https://evil.example", "https://app.example.net.evil.example",
     "https://app.example.net:444", "http://app.example.net", "https://app.example.net/path", "http://localhost:3000",
     "https://app.example.net@evil.example", "file://"],
)  # fmt: skip
def test_every_other_origin_is_refused_at_the_public_host(origin: str) -> None:
    assert not PUBLIC.allows_origin([origin.encode()], [b"mail.example.com"])


def test_a_page_of_this_machine_may_use_a_server_addressed_as_this_machine() -> None:
    assert LOCAL.allows_origin([b"http://localhost:6274"], [b"127.0.0.1:8000"])
    assert not LOCAL.allows_origin([b"http://localhost.evil.example"], [b"127.0.0.1:8000"])
    assert not LOCAL.allows_origin([b"http://evil.example"], [b"127.0.0.1:8000"])


def test_a_repeated_origin_is_refused() -> None:
    assert not PUBLIC.allows_origin([b"https://app.example.net"] * 2, [b"mail.example.com"])
