"""Who wrote a message: the address, apart from all that its writer may choose freely, and what is odd about it.

The address is always one that the From field names, because that is the field that readers see and that DMARC vouches
for. With several authors RFC 5322, 3.6.2 asks for a Sender field; it is followed where it names one of the authors. A
Sender who is no author could be anybody.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from mailgate.mime.addresses import FIELD_CHARS_MAX, ParsedAddress, parse_addresses
from mailgate.mime.authentication import Authentication, AuthMethod, read_authentication
from mailgate.mime.fields import HeaderFields, raw_text
from mailgate.mime.scripts import domain_mixes_scripts, has_international_label, name_mixes_scripts


class SenderFlag(StrEnum):
    """What is odd about a sender. Each is a fact, none a verdict: honest mail has some of them too."""

    DISPLAY_NAME_HAS_OTHER_ADDRESS = "display_name_has_other_address"
    MULTIPLE_FROM = "multiple_from"
    MIXED_SCRIPT = "mixed_script"
    PUNYCODE = "punycode"
    REPLY_TO_DIFFERS = "reply_to_differs"


@dataclass(frozen=True, slots=True)
class SenderFacts:
    """The sender's address without any name, or None where From holds none; flags in the order of `SenderFlag`.

    `authentication`: what the trusted server found, or None where nothing can be believed. `address` is safe to show,
    but was written by the sender all the same.
    """

    address: str | None = None
    flags: tuple[SenderFlag, ...] = ()
    authentication: Authentication | None = None


def sender_facts(fields: HeaderFields, *, trusted_authserv_id: str | None) -> SenderFacts:
    """The facts about the sender of a message with this header. Pure and bounded; raises on no input."""
    authors = read_mailboxes(fields, "from")
    address = _sender(fields, authors)
    found = {
        SenderFlag.DISPLAY_NAME_HAS_OTHER_ADDRESS: any(one.name_has_other_address for one in authors),
        SenderFlag.MULTIPLE_FROM: names_several_authors(fields, authors),
        SenderFlag.MIXED_SCRIPT: any(_mixes_scripts(one) for one in authors),
        SenderFlag.PUNYCODE: any(has_international_label(one.domain) for one in authors),
        SenderFlag.REPLY_TO_DIFFERS: _replies_go_elsewhere(fields, authors),
    }
    authentication = read_authentication(fields, trusted_authserv_id)
    return SenderFacts(
        address.address if address else None,
        tuple(flag for flag, holds in found.items() if holds),
        None if authentication is None else _about(authentication, address),
    )


def names_several_authors(fields: HeaderFields, authors: tuple[ParsedAddress, ...]) -> bool:
    """Whether there are several From fields (RFC 5322, 3.6 allows one), or several addresses in it.

    A name without an address is no author: an unquoted `Doe, Jane <jane@example.org>` is one mailbox, written wrongly.
    """
    return len(fields.every("from")) > 1 or sum(bool(one.address) for one in authors) > 1


def read_mailboxes(fields: HeaderFields, name: str) -> tuple[ParsedAddress, ...]:
    """The addresses of all fields of that (lower-case) name, in their order."""
    return parse_addresses(raw_text(b", ".join(fields.every(name)), FIELD_CHARS_MAX + 1)).addresses


def _sender(fields: HeaderFields, authors: tuple[ParsedAddress, ...]) -> ParsedAddress | None:
    valid = [one for one in authors if one.valid]
    # Of several From fields none is the right one, and no Sender field settles that.
    if len(valid) > 1 and len(fields.every("from")) == 1:
        senders = read_mailboxes(fields, "sender")
        sender = _addresses(senders) if len(senders) == 1 else set()
        valid = [one for one in valid if one.address.casefold() in sender] or valid
    return valid[0] if valid else None


def _addresses(mailboxes: Iterable[ParsedAddress]) -> set[str]:
    """The addresses, to be compared. Local parts too without case, as every large provider does."""
    return {one.address.casefold() for one in mailboxes if one.address}


def _mixes_scripts(one: ParsedAddress) -> bool:
    return name_mixes_scripts(one.name) or domain_mixes_scripts(one.domain)


def _replies_go_elsewhere(fields: HeaderFields, authors: tuple[ParsedAddress, ...]) -> bool:
    """Whether Reply-To names an address that From does not.

    Lists do so honestly. That is no exception here, for anybody can write a List-Id.
    """
    return not _addresses(read_mailboxes(fields, "reply-to")) <= _addresses(authors)


def _about(authentication: Authentication, address: ParsedAddress | None) -> Authentication:
    """Without DMARC passes for another domain than the address's: they say nothing about it (RFC 7489, 3.1)."""
    domain = address.domain.lower() if address else None
    return authentication.without(
        lambda one: (
            one.method is AuthMethod.DMARC and one.result == "pass" and one.domain is not None and one.domain != domain
        )
    )
