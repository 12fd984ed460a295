from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from mailgate import errors
from mailgate.errors import Effect, InternalError, MailgateError, NotConfigured, OutcomeUnknown, UpstreamRefused

CODES = """
invalid_argument unknown_argument limit_exceeded gate_closed scope_missing not_configured stale_reference
message_not_found folder_not_found folder_exists special_use_missing special_use_ambiguous folder_not_selectable
capability_missing flag_not_permitted modified_conflict search_not_supported upstream_busy upstream_auth_failed
upstream_unavailable upstream_timeout upstream_protocol_error upstream_refused outcome_unknown source_truncated
recipient_not_allowed send_limit_reached prepared_not_found digest_mismatch store_unavailable attachment_not_found
attachment_too_large cursor_invalid cursor_mismatch internal_error
""".split()


def tree(base: type[MailgateError] = MailgateError) -> Iterator[type[MailgateError]]:
    for error in base.__subclasses__():
        yield error
        yield from tree(error)


LEAVES = [error for error in tree() if not error.__subclasses__()]


def make(error: type[MailgateError]) -> MailgateError:
    return InternalError("0a1b2c") if error is InternalError else error()


def test_the_codes_are_exactly_the_published_ones() -> None:
    assert sorted(error.code for error in LEAVES) == sorted(CODES)


@pytest.mark.parametrize("error", LEAVES, ids=lambda e: e.code)
def test_every_error_renders_as_two_lines(error: type[MailgateError]) -> None:
    assert re.fullmatch(r"error [a-z_]+: [A-Z][^\n]+\.( [^\n]+)?\nnext: [A-Z][^\n]+\.", make(error).render())


@pytest.mark.parametrize("error", LEAVES, ids=lambda e: e.code)
def test_the_tree_in_the_docstring_names_every_error(error: type[MailgateError]) -> None:
    assert errors.__doc__ is not None
    assert re.search(rf"\b{error.__name__} +{error.code}\b", errors.__doc__)


def test_only_outcome_unknown_leaves_the_effect_open() -> None:
    assert [error for error in LEAVES if error.effect is Effect.UNKNOWN] == [OutcomeUnknown]


def test_what_a_server_said_is_never_rendered() -> None:
    error = UpstreamRefused(server_text=b"canary from the server", response_code="NOPERM")
    assert "canary" not in error.render() + str(error) + repr(error)


def test_not_configured_names_the_variables() -> None:
    assert "MAIL_IMAP_HOST, MAIL_PASSWORD" in NotConfigured(("MAIL_IMAP_HOST", "MAIL_PASSWORD")).sentence
