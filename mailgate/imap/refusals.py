"""What a tagged NO or BAD means. The server's own words go into a field that is never shown and never logged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mailgate.errors import MailgateError, SearchNotSupported, UpstreamRefused, UpstreamUnavailable
from mailgate.faults import Fault
from mailgate.imap.capabilities import CapabilitySet
from mailgate.imap.responses import Status, Tagged

# RFC 5530, 3: conditions that pass by themselves, or that have nothing to do with what was asked.
TEMPORARY_CODES = frozenset({"UNAVAILABLE", "LIMIT", "INUSE"})
# Exchange accepts a login and then answers every command with BAD and these words.
NOT_CONNECTED = b"User is authenticated but not connected"
# RFC 9051, 6.4.4: a server that does not know the charset says BADCHARSET; RFC 5530, 3: CANNOT, "not supported".
UNSEARCHABLE_CODES = frozenset({"BADCHARSET", "CANNOT"})

# RFC 5530, 3, and WEBALERT as Gmail sends it: a code says more about a refused login than the status.
_LOGIN_CODES: Final = {
    "AUTHENTICATIONFAILED": Fault.PASSWORD_WRONG,
    "EXPIRED": Fault.PASSWORD_EXPIRED,
    "PRIVACYREQUIRED": Fault.LOGIN_NEEDS_TLS,
    "AUTHORIZATIONFAILED": Fault.PASSWORD_LOGIN_OFF,
    "CONTACTADMIN": Fault.PASSWORD_LOGIN_OFF,
    "NOPERM": Fault.PASSWORD_LOGIN_OFF,
    "WEBALERT": Fault.LOGIN_NEEDS_BROWSER,
}
# Words that providers are known to refuse a login with, where they have no code for it; IMAP and SMTP alike.
_LOGIN_WORDS: Final = (
    (b"application-specific password", Fault.PASSWORD_NOT_FOR_PROGRAMS),
    (b"app-specific password", Fault.PASSWORD_NOT_FOR_PROGRAMS),
    (b"app password", Fault.PASSWORD_NOT_FOR_PROGRAMS),
    (b"basic authentication is disabled", Fault.PASSWORD_LOGIN_OFF),
    (b"basicauthblocked", Fault.PASSWORD_LOGIN_OFF),
    (b"imap access is disabled", Fault.PASSWORD_LOGIN_OFF),
    (b"not enabled for imap", Fault.PASSWORD_LOGIN_OFF),
    (b"web browser", Fault.LOGIN_NEEDS_BROWSER),
)
_OAUTH: Final = frozenset({"XOAUTH2", "OAUTHBEARER"})


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


def login_fault(tagged: Tagged, offered: CapabilitySet) -> Fault:
    """Why a login was refused, as far as the server tells: by its code, by known words, by what else it offers."""
    if is_temporary(tagged):
        return Fault.LOGIN_BUSY
    known = words_fault(tagged.text) or _LOGIN_CODES.get(code_of(tagged) or "")
    if known is not None:
        return known
    mechanisms = offered.auth_mechanisms
    if mechanisms and "AUTH=PLAIN" not in offered and _OAUTH & set(mechanisms):
        return Fault.OAUTH_ONLY
    return Fault.LOGIN_REFUSED


def words_fault(text: bytes) -> Fault | None:
    """What known words in a refusal mean; they are looked for and never shown."""
    lowered = text.lower()
    return next((fault for words, fault in _LOGIN_WORDS if words in lowered), None)


def no_login_fault(mechanisms: Iterable[str]) -> Fault:
    """What it means that no login by password is offered, by the mechanisms that are."""
    return Fault.OAUTH_ONLY if _OAUTH & set(mechanisms) else Fault.NO_LOGIN_OFFERED
