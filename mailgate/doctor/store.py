"""The store for prepared messages: asked whether it is there and what it is like. No record is made or changed."""

from __future__ import annotations

from typing import Final

from mailgate.app import build_store
from mailgate.doctor.causes import CAUSES, Cause, Subject
from mailgate.doctor.checks import checks_of
from mailgate.doctor.disk import StoreFile, look_at
from mailgate.doctor.notes import ClockReading, Notes, Patient
from mailgate.errors import StoreUnavailable, UpstreamUnavailable
from mailgate.faults import Fault
from mailgate.imap.tls import client_context
from mailgate.policy import Gate
from mailgate.send.record import Deployment
from mailgate.send.scripted_store import ScriptedStore
from mailgate.send.store import StoreFacts
from mailgate.settings import Settings, StoreKind, StoreSettings

TOKEN_WRONG: Final = Cause(
    "Upstash refuses the token.",
    "Copy UPSTASH_REDIS_REST_TOKEN once more from the same database as UPSTASH_REDIS_REST_URL; a read-only token is "
    "not enough.",
)
NO_PATH: Final = Cause("There is no data directory for the store.", "Set MAIL_STORE=sqlite:PATH or a remote store.")
UNUSABLE: Final = Cause(
    "The store's file, or the folder it lies in, cannot be written to by this account.",
    "Give this account a folder it can write to, and name a file in it: MAIL_STORE=sqlite:PATH.",
)
NO_DATABASE: Final = Cause(
    "The file that MAIL_STORE names is no SQLite database.", "Name another file; mailgate makes it."
)
KEY_EXPOSED: Final = Cause(
    "Other accounts can read the key file beside the store, so mailgate does not use it.",
    "Take their rights away (chmod 600), or set MAIL_STORE_KEY.",
)
ON_NETWORK: Final = Cause(
    "The store's file is on a network file system, where SQLite's locks cannot be relied on: a message could be sent "
    "twice.",
    "Put it on a disk of this machine, or use Redis or Upstash.",
)
IN_MEMORY: Final = Cause(
    "The store's file is in memory (tmpfs) and gone after a restart: what was sent would be forgotten.",
    "Put it on a disk that is kept: MAIL_STORE=sqlite:PATH.",
)
IN_LAYER: Final = Cause(
    "The store's file is inside the container itself and goes with it.",
    "Mount a volume and put the file there: MAIL_STORE=sqlite:PATH.",
)
EVICTS: Final = Cause(
    "Redis may remove records before their time (maxmemory-policy is not noeviction): what was sent could be "
    "forgotten.",
    "Set `maxmemory-policy noeviction` on the server, or switch eviction off at the provider.",
)
EVICTS_LATER: Final = Cause(
    "Redis would remove records before their time once it has a memory limit (maxmemory-policy is not noeviction).",
    "Set `maxmemory-policy noeviction` on the server.",
)
NOT_KEPT: Final = Cause(
    "Redis keeps its data in memory only: after a restart it has forgotten what was sent.",
    "Set `appendonly yes` on the server.",
)
_UNKNOWN_EVICTION: Final = "Not known: the server does not tell its policy. Make sure that eviction is off."
_UNKNOWN_KEPT: Final = "Not known: the server does not tell whether it keeps its data over a restart."


async def examine(patient: Patient, notes: Notes) -> None:
    """Every check of the store."""
    settings = patient.settings
    if not _is_wanted(settings):
        for check in checks_of("store"):
            notes.skip(check, "Sending is switched off and no store is named; nothing else needs one.")
    elif settings.store.kind is StoreKind.SQLITE:
        _judge_file(notes, settings)
    else:
        await _judge_server(patient, notes)


def _is_wanted(settings: Settings) -> bool:
    named = settings.sources.get("MAIL_STORE", "default") != "default" or settings.store.is_upstash
    return named or Gate.SEND in settings.gates


# --- a file ----------------------------------------------------------------------------------------------------


def _judge_file(notes: Notes, settings: Settings) -> None:
    path = settings.store.path
    if path is None:
        _fail_reach(notes, NO_PATH.cause, NO_PATH.next_step)
        return
    file = look_at(path)
    wrong = _wrong_with(file, has_own_key=bool(settings.store_key))
    if wrong is not None:
        _fail_reach(notes, wrong.cause, wrong.next_step)
        return
    notes.ok("store.reach")
    notes.ok("store.eviction", "A file removes nothing.")
    if file.in_memory:
        notes.judge("store.kept", IN_MEMORY.cause, IN_MEMORY.next_step, fails=Gate.SEND in settings.gates)
    elif file.in_container_layer:
        notes.warn("store.kept", IN_LAYER.cause, IN_LAYER.next_step)
    else:
        notes.ok("store.kept", None if file.file_system else "The kind of file system is not known here.")


def _wrong_with(file: StoreFile, *, has_own_key: bool) -> Cause | None:
    if not file.usable:
        return UNUSABLE
    if not file.is_database:
        return NO_DATABASE
    if file.key_exposed and not has_own_key:
        return KEY_EXPOSED
    return ON_NETWORK if file.on_network else None


# --- a server --------------------------------------------------------------------------------------------------


async def _judge_server(patient: Patient, notes: Notes) -> None:
    settings = patient.settings
    # The names of keys depend on the deployment, and no key is touched here.
    store = build_store(settings, Deployment("doctor", settings.public_url or ""))
    assert isinstance(store, ScriptedStore)
    began = patient.now()
    try:
        # What a library says of a file it cannot read looks like a failed handshake.
        client_context(settings.tls_ca_file)
        facts = await store.facts()
    except (StoreUnavailable, UpstreamUnavailable) as error:
        _fail_reach(notes, *_why_unreached(settings.store, error.fault or Fault.SESSION_FAILED))
        return
    finally:
        await store.aclose()
    notes.readings.append(ClockReading.between("store", facts.at.timestamp(), began, patient.now()))
    notes.ok("store.reach")
    _judge_eviction(notes, facts)
    _judge_kept(notes, facts, settings.store)


def _judge_eviction(notes: Notes, facts: StoreFacts) -> None:
    if facts.evicts is None:
        notes.ok("store.eviction", _UNKNOWN_EVICTION)
    elif not facts.evicts:
        notes.ok("store.eviction")
    elif facts.limited is False:
        notes.warn("store.eviction", EVICTS_LATER.cause, EVICTS_LATER.next_step)
    else:
        notes.fail("store.eviction", EVICTS.cause, EVICTS.next_step)


def _judge_kept(notes: Notes, facts: StoreFacts, store: StoreSettings) -> None:
    if store.is_upstash:
        notes.ok("store.kept", "Upstash keeps its data.")
    elif facts.kept is None:
        notes.ok("store.kept", _UNKNOWN_KEPT)
    elif facts.kept:
        notes.ok("store.kept")
    else:
        notes.warn("store.kept", NOT_KEPT.cause, NOT_KEPT.next_step)


def _why_unreached(store: StoreSettings, fault: Fault) -> tuple[str, str]:
    if store.is_upstash and fault is Fault.PASSWORD_WRONG:
        return TOKEN_WRONG.cause, TOKEN_WRONG.next_step
    return CAUSES[fault].about(_subject(store))


def _subject(store: StoreSettings) -> Subject:
    url = store.url.get_secret_value() if store.url else ""
    if not store.is_upstash:
        return Subject.of_url("store", url, "MAIL_STORE")
    token = "UPSTASH_REDIS_REST_TOKEN"  # noqa: S105  the name of a variable
    return Subject.of_url("store", url, "UPSTASH_REDIS_REST_URL", secret_variable=token)


def _fail_reach(notes: Notes, cause: str, next_step: str) -> None:
    notes.fail("store.reach", cause, next_step)
    for check in ("store.eviction", "store.kept"):
        notes.skip(check, "Not reached: see store.reach.")
