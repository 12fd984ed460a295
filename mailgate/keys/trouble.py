"""Why the issuer's keys are not to be had. Nothing here holds anything of a token or of what the issuer sent."""

from __future__ import annotations

from enum import StrEnum


class KeyTrouble(StrEnum):
    """What went wrong, in a word for the log."""

    UNREACHABLE = "unreachable"
    TLS = "tls"
    TIMEOUT = "timeout"
    CA_FILE = "ca_file"
    STATUS = "status"
    REDIRECT = "redirect"
    ENCODED = "encoded"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    ISSUER_MISMATCH = "issuer_mismatch"
    KEYS_URL = "keys_url"
    INTERRUPTED = "interrupted"
    TOO_SOON = "too_soon"
    """The kept keys lack the one asked for, and the issuer was asked too short a time ago to be asked again."""

    @property
    def is_of_the_line(self) -> bool:
        """Would another document of the same host fail the same way?"""
        return self in (KeyTrouble.UNREACHABLE, KeyTrouble.TLS, KeyTrouble.TIMEOUT, KeyTrouble.CA_FILE)


class KeysUnavailable(Exception):
    """A token cannot be judged now. `retry_after`: whole seconds after which asking again can help."""

    def __init__(self, trouble: KeyTrouble, retry_after: int = 1) -> None:
        self.trouble, self.retry_after = trouble, retry_after
        super().__init__(trouble.value)
