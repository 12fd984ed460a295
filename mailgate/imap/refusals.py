"""What a tagged NO or BAD means. The server's own words go into a field that is never shown and never logged."""

from __future__ import annotations

from mailgate.errors import MailgateError, SearchNotSupported, UpstreamRefused, UpstreamUnavailable
from mailgate.imap.responses import Status, Tagged

# RFC 5530, 3: conditions that pass by themselves, or that have nothing to do with what was asked.
TEMPORARY_CODES = frozenset({"UNAVAILABLE", "LIMIT", "INUSE"})
# Exchange accepts a login and then answers every command with BAD and these words.
NOT_CONNECTED = b"User is authenticated but not connected"
# RFC 9051, 6.4.4: a server that does not know the charset says BADCHARSET; RFC 5530, 3: CANNOT, "not supported".
UNSEARCHABLE_CODES = frozenset({"BADCHARSET", "CANNOT"})


def code_of(tagged: Tagged) -> str | None:
    """The name of the response code, if there is one."""
    return tagged.code.name if tagged.code is not None else None


def is_temporary(tagged: Tagged) -> bool:
    """Whether a refusal is about the server's state and not about what was asked."""
    return code_of(tagged) in TEMPORARY_CODES or (tagged.status is Status.BAD and NOT_CONNECTED in tagged.text)


def refusal(tagged: Tagged) -> MailgateError:
    """The error for a NO or BAD that has no better one."""
    if is_temporary(tagged):
        return UpstreamUnavailable("The mail server does not serve the mailbox at the moment.")
    return UpstreamRefused(server_status=tagged.status, response_code=code_of(tagged), server_text=tagged.text)


def search_refusal(tagged: Tagged) -> MailgateError:
    """The error for a refused SEARCH: a charset, a key or a term that the server does not take, or something else."""
    unsearchable = tagged.status is Status.BAD or code_of(tagged) in UNSEARCHABLE_CODES
    return SearchNotSupported() if unsearchable and not is_temporary(tagged) else refusal(tagged)
