"""The OAuth issuer: its metadata and its keys, fetched through the door that fetches them for tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from mailgate.doctor.causes import CAUSES, Cause, Subject
from mailgate.doctor.checks import checks_of
from mailgate.doctor.notes import Notes, Patient
from mailgate.faults import Fault
from mailgate.imap.reaching import fault_of
from mailgate.keys.discovery import Get, discover_keys_url
from mailgate.keys.fetching import HttpDocuments
from mailgate.keys.jwks import parse_keys
from mailgate.keys.trouble import KeysUnavailable, KeyTrouble
from mailgate.settings import Settings

_SHAPE: Final = "Ask the issuer's operator; `jwks_uri` and MAIL_OAUTH_JWKS_URL have to lead to a plain JSON key set."
TROUBLES: Final[Mapping[KeyTrouble, Cause]] = MappingProxyType(
    {
        KeyTrouble.UNREACHABLE: Cause(
            "The issuer cannot be reached from here.", "Check {host_variable} and this machine's network."
        ),
        KeyTrouble.TLS: Cause("TLS with the issuer fails.", "Check {host_variable}; see MAIL_TLS_CA_FILE."),
        KeyTrouble.TIMEOUT: Cause(
            "The issuer does not answer in time: its port is blocked, or it is down.",
            "Check this machine's way out to it, then {host_variable}.",
        ),
        KeyTrouble.CA_FILE: CAUSES[Fault.CA_FILE],
        KeyTrouble.STATUS: Cause(
            "The issuer has no document there: it answers with another status than 200.",
            "Correct {host_variable}: it must be exactly the issuer's identifier, path included.",
        ),
        KeyTrouble.REDIRECT: Cause(
            "The issuer redirects, and redirects are not followed: keys come only from where the settings say.",
            "Set {host_variable} to the address that it redirects to, if that is the issuer's own.",
        ),
        KeyTrouble.ENCODED: Cause("The issuer compresses its answer although nobody asked for it.", _SHAPE),
        KeyTrouble.TOO_LARGE: Cause("The issuer's document is larger than any honest one.", _SHAPE),
        KeyTrouble.UNREADABLE: Cause("The issuer's document is not what it should be.", _SHAPE),
        KeyTrouble.ISSUER_MISMATCH: Cause(
            "The metadata there names another issuer than MAIL_OAUTH_ISSUER, so every token would be refused.",
            "Copy `issuer` from the metadata letter for letter, with or without a slash at the end.",
        ),
        KeyTrouble.KEYS_URL: Cause(
            "The issuer's metadata names no usable address of its keys.", "Set MAIL_OAUTH_JWKS_URL."
        ),
        KeyTrouble.INTERRUPTED: Cause("The fetch was interrupted.", "Run the doctor again."),
        KeyTrouble.TOO_SOON: Cause("The issuer was asked a moment ago.", "Run the doctor again."),
    }
)
NO_KEYS: Final = Cause(
    "The issuer's key set has no key that a signature can be checked with (RSA of 2048 bits or more, EC or Ed25519).",
    "Switch the issuer to an asymmetric signing algorithm such as RS256 or ES256.",
)


async def examine(patient: Patient, notes: Notes) -> None:
    """Both checks of the issuer."""
    settings = patient.settings
    if settings.oauth_issuer is None:
        for check in checks_of("issuer"):
            notes.skip(check, "No issuer is configured.")
        return
    try:
        async with asyncio.timeout(patient.patience.command), HttpDocuments(settings.tls_ca_file).session() as get:
            await _fetch(notes, get, settings, settings.oauth_issuer)
    except TimeoutError:
        _tell(notes, settings, KeysUnavailable(KeyTrouble.TIMEOUT))
    except KeysUnavailable as error:
        _tell(notes, settings, error)


async def _fetch(notes: Notes, get: Get, settings: Settings, issuer: str) -> None:
    """Raises `KeysUnavailable` for what stops it."""
    url = settings.oauth_jwks_url
    try:
        discovered = await discover_keys_url(get, issuer)
        notes.ok("issuer.metadata")
    except KeysUnavailable as error:
        if url is None:
            raise
        cause, step = _words(settings.oauth_issuer, "MAIL_OAUTH_ISSUER", error)
        notes.warn("issuer.metadata", f"{cause} Tokens can be checked, but clients cannot find the login.", step)
        discovered = url
    keys = parse_keys(await get(url or discovered))
    if keys:
        notes.ok("issuer.keys", f"{len(keys)} usable.")
    else:
        notes.fail("issuer.keys", NO_KEYS.cause, NO_KEYS.next_step)


def _tell(notes: Notes, settings: Settings, error: KeysUnavailable) -> None:
    if "issuer.metadata" in notes.outcomes:
        variable = "MAIL_OAUTH_JWKS_URL" if settings.oauth_jwks_url else "MAIL_OAUTH_ISSUER"
        notes.fail("issuer.keys", *_words(settings.oauth_jwks_url or settings.oauth_issuer, variable, error))
    else:
        notes.fail("issuer.metadata", *_words(settings.oauth_issuer, "MAIL_OAUTH_ISSUER", error))
        notes.skip("issuer.keys", "Not reached: see issuer.metadata.")


def _words(url: str | None, variable: str, error: KeysUnavailable) -> tuple[str, str]:
    subject = Subject.of_url("issuer", url or "", variable)
    fault = fault_of(error) if error.trouble in (KeyTrouble.UNREACHABLE, KeyTrouble.TLS) else None
    return (TROUBLES[error.trouble] if fault is None else CAUSES[fault]).about(subject)
