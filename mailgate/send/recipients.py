"""To whom this deployment sends at all: the one guard that holds when nobody looks at a review."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mailgate.errors import RecipientNotAllowed


@dataclass(frozen=True, slots=True)
class AllowedRecipients:
    """The operator's list: addresses and `@domain`, domains in lower case. An empty one allows everybody.

    A host's case means nothing and a local part's may (RFC 5321, 2.4), so local parts are compared as they stand.
    A domain allows none of its subdomains.
    """

    entries: tuple[str, ...] = ()

    def check(self, addresses: Iterable[str]) -> None:
        """Raises `RecipientNotAllowed` unless every address is on the list. It does not say which one is not."""
        if self.entries and not all(map(self._allows, addresses)):
            raise RecipientNotAllowed

    def _allows(self, address: str) -> bool:
        local, _, domain = address.rpartition("@")
        domain = domain.lower()
        return f"@{domain}" in self.entries or f"{local}@{domain}" in self.entries
