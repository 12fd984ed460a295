"""A send store over anything that runs the scripts of `lua.py`: arguments in, answers out, no state of its own."""

from __future__ import annotations

import base64
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from mailgate.errors import DigestMismatch, PreparedNotFound, SendLimitReached, StoreUnavailable
from mailgate.limits import RECORD_SECONDS, SEND_WINDOW_SECONDS, STORE_SECONDS
from mailgate.send import lua
from mailgate.send.record import Digest, Nonce, PreparedId, SendStatus, SentCopy
from mailgate.send.store import StoredClaim, StoredMessage, StoredOutcome, StoredRecord, StoreFacts, store_call

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ScriptedStore(ABC):
    """Base of the Redis stores. Keys begin with the deployment's tag; the braces keep all on one cluster node."""

    def __init__(self, deployment_tag: str, *, seconds: float = STORE_SECONDS) -> None:
        self._prefix = f"mailgate:{{{deployment_tag}}}:"
        self._seconds = seconds

    @abstractmethod
    async def _execute(self, command: Sequence[str]) -> object:
        """Run one command once and return its answer, or raise; never again by itself."""

    async def _run(self, script: str, keys: Sequence[str], arguments: Sequence[str]) -> object:
        return await self._execute(["EVAL", script, str(len(keys)), *keys, *arguments])

    @abstractmethod
    async def aclose(self) -> None:
        """Let go of connections."""

    async def prepare(self, message: StoredMessage, *, expires_seconds: float) -> datetime:
        """See `SendStore.prepare`."""
        arguments = (
            message.owner_tag,
            message.digest.value,
            _to_text(message.content),
            _to_text(message.kept),
            _ms(expires_seconds),
        )
        word, *rest = await self._step(lua.PREPARE, message.prepared_id, *arguments)
        if word != "prepared":
            raise StoreUnavailable
        return _time(rest[0])

    async def look(self, prepared_id: PreparedId, owner_tag: str) -> bytes | None:
        """See `SendStore.look`."""
        word, *rest = await self._step(lua.LOOK, prepared_id, owner_tag)
        async with store_call():
            return _of_text(rest[0]) if word == "prepared" else None

    async def claim(
        self,
        prepared_id: PreparedId,
        owner_tag: str,
        digest: Digest,
        nonce: Nonce,
        *,
        limit_per_hour: int | None,
        deadline_seconds: float,
    ) -> StoredClaim | StoredRecord:
        """See `SendStore.claim`."""
        answer = await self._step(
            lua.CLAIM,
            prepared_id,
            owner_tag,
            digest.value,
            nonce.value,
            _ms(deadline_seconds),
            str(limit_per_hour or 0),
            _ms(SEND_WINDOW_SECONDS),
            _ms(RECORD_SECONDS),
            prepared_id.value,
        )
        refusal = {"absent": PreparedNotFound, "mismatch": DigestMismatch, "limit": SendLimitReached}.get(answer[0])
        if refusal is not None:
            raise refusal
        async with store_call():
            return StoredClaim(_of_text(answer[1])) if answer[0] == "claimed" else _record(answer)

    async def begin(self, prepared_id: PreparedId, nonce: Nonce) -> bool:
        """See `SendStore.begin`."""
        return await self._yes(lua.BEGIN, prepared_id, nonce.value, _ms(RECORD_SECONDS))

    async def settle(self, prepared_id: PreparedId, nonce: Nonce, outcome: StoredOutcome) -> StoredRecord | None:
        """See `SendStore.settle`."""
        told = (outcome.status.value, outcome.reason or "", _to_text(outcome.refused))
        answer = await self._step(lua.SETTLE, prepared_id, nonce.value, _ms(RECORD_SECONDS), *told)
        async with store_call():
            return None if answer == ["absent"] else _record(answer)

    async def note_copy(self, prepared_id: PreparedId, nonce: Nonce, sent_copy: SentCopy) -> bool:
        """See `SendStore.note_copy`."""
        return await self._yes(lua.NOTE_COPY, prepared_id, nonce.value, sent_copy.value)

    async def check(self) -> None:
        """See `SendStore.check`."""
        async with store_call(self._seconds):
            _words(await self._run(lua.CHECK, (), ()))

    async def facts(self) -> StoreFacts:
        """What the server tells about itself; changes nothing. Raises `StoreUnavailable` when `check` would.

        What only concerns the operator (INFO, CONFIG GET) may be refused, as hosted servers do: it is not known then.
        """
        async with store_call(self._seconds):
            _, seconds = _words(await self._run(lua.CHECK, (), ()))
            at = _time(f"{seconds}000")
        memory = await self._told("INFO", "memory")
        policy, maximum = memory.get("maxmemory_policy"), memory.get("maxmemory")
        return StoreFacts(
            at,
            evicts=None if policy is None else policy != "noeviction",
            limited=None if maximum is None else maximum != "0",
            kept=_is_kept(await self._told("INFO", "persistence"), await self._told("CONFIG", "GET", "save")),
        )

    async def _told(self, *command: str) -> Mapping[str, str]:
        try:
            async with store_call(self._seconds):
                return _pairs(await self._execute(command))
        except StoreUnavailable:
            return {}

    async def _yes(self, script: str, prepared_id: PreparedId, *arguments: str) -> bool:
        answer = await self._step(script, prepared_id, *arguments)
        if answer not in (["yes"], ["no"]):
            raise StoreUnavailable
        return answer == ["yes"]

    async def _step(self, script: str, prepared_id: PreparedId, *arguments: str) -> list[str]:
        names = (f"send:{prepared_id.value}", "claims", f"content:{prepared_id.value}")
        keys = tuple(self._prefix + name for name in names)
        async with store_call(self._seconds):
            return _words(await self._run(script, keys, arguments))


def _is_kept(persistence: Mapping[str, str], snapshots: Mapping[str, str]) -> bool | None:
    """Is there a log of changes, or a snapshot from time to time? An empty `save` means that there is none."""
    log, save = persistence.get("aof_enabled"), snapshots.get("save")
    if log == "1" or save:
        return True
    return None if log is None or save is None else False


def _pairs(answer: object) -> Mapping[str, str]:
    """`name:value` lines (INFO), names and values in turn (CONFIG GET), or either as the library has read it."""
    if isinstance(answer, str | bytes):
        text = answer.decode("ascii", "replace") if isinstance(answer, bytes) else answer
        split = (line.partition(":") for line in text.splitlines())
        return {name: value for name, colon, value in split if colon}
    if isinstance(answer, Mapping):
        answer = [each for pair in answer.items() for each in pair]
    words = [each.decode("ascii", "replace") if isinstance(each, bytes) else str(each) for each in _list(answer)]
    return dict(zip(words[::2], words[1::2], strict=True))


def _list(answer: object) -> list[object]:
    if not isinstance(answer, list):
        raise TypeError("not a list")
    return answer


def _words(answer: object) -> list[str]:
    """The answer as text. An answer of any other form raises, and the call counts as unanswered."""
    if not isinstance(answer, list) or not answer:
        raise TypeError("not a list of strings")
    return [word.decode("ascii") if isinstance(word, bytes) else _text(word) for word in answer]


def _text(word: object) -> str:
    if not isinstance(word, str):
        raise TypeError("not a string")
    return word


def _record(answer: list[str]) -> StoredRecord:
    word, status, at, reason, kept, refused, sent_copy = answer
    if word != "record":
        raise ValueError("not a record")
    return StoredRecord(
        SendStatus(status),
        _time(at),
        reason or None,
        _of_text(kept),
        _of_text(refused),
        SentCopy(sent_copy or SentCopy.NONE),
    )


def _ms(seconds: float) -> str:
    return str(round(seconds * 1000))


def _time(milliseconds: str) -> datetime:
    return _EPOCH + timedelta(milliseconds=int(milliseconds))


def _to_text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _of_text(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
