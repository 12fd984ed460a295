"""A model of the two-call send, walked through exhaustively: one record, some attempts, a hostile environment.

Every request to the store lies on a wire from which it may be delivered at any time, any number of times, or never;
whoever waits for the answer may give up before it comes. Attempts may die between any two steps. The record may expire
or be evicted, and its content, where it lies in a key beside it, by itself. A claim may grow stale at any moment, so
the model needs no clock. In every reachable state:

    one dot      the final dot of DATA was written at most once
    true record  what the record says of the outcome is what happened
    true word    nobody who was told that the message was not sent is contradicted by an acceptance

`Design()` is what mailgate does; each flag puts one mistake into it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

ONE_DOT, TRUE_RECORD, TRUE_WORD = "one dot", "true record", "true word"
ALL = frozenset({ONE_DOT, TRUE_RECORD, TRUE_WORD})
NEGATIVE = ("not_sent", "rejected")

Phase: TypeAlias = tuple[str, int, str]
"""Phase, owner of the attempt, outcome."""
PREPARED: Phase = ("prepared", -1, "")


@dataclass(frozen=True)
class Design:
    """The protocol, and the mistakes that can be put into it."""

    separate_marker: bool = False
    resend_after_lost_reply: bool = False
    takeover_of_claims: bool = False
    takeover_of_submissions: bool = False
    no_fence: bool = False
    silence_is_a_claim: bool = False
    silence_is_a_leave: bool = False
    claim_without_nonce: bool = False
    release_after_failure: bool = False
    read_then_write: bool = False
    sweep_submissions: bool = False
    lost_reply_is_rejected: bool = False
    prepare_overwrites: bool = False
    prepare_arrives_again: bool = False
    rollback: bool = False
    content_is_enough: bool = False
    content_apart: bool = True
    eviction: bool = True


class Request(NamedTuple):
    """A step on its way to the store."""

    kind: str
    who: int
    outcome: str = ""


class Attempt(NamedTuple):
    """Where one call stands, and the outcome it has to record."""

    at: str = "idle"
    outcome: str = ""


class State(NamedTuple):
    """Everything there is. `marker` is used only where claims lie apart from the content; `content`: it is there."""

    record: Phase | None
    content: bool
    marker: Phase | None
    wire: frozenset[Request]
    attempts: tuple[Attempt, ...]
    dots: int = 0
    accepted: bool = False
    denied: bool = False


def start(design: Design, attempts: int) -> State:
    """A prepared message that nobody has confirmed yet."""
    again = frozenset({Request("prepare", -1)}) if design.prepare_arrives_again else frozenset()
    return State(PREPARED, True, None, again, (Attempt(),) * attempts)


def violation(state: State) -> frozenset[str]:
    """What this state breaks."""
    broken = set()
    if state.dots > 1:
        broken.add(ONE_DOT)
    told = state.marker or state.record
    if told and told[0] == "done":
        outcome = told[2]
        if (outcome == "accepted" and not state.accepted) or (outcome in NEGATIVE and state.accepted):
            broken.add(TRUE_RECORD)
    if state.denied and state.accepted:
        broken.add(TRUE_WORD)
    return frozenset(broken)


# --- the store -------------------------------------------------------------------------------------------------


def _store(design: Design, now: Phase | None, content: bool, request: Request) -> list[tuple[str, Phase | None]]:
    """Every answer with the phase after it; more than one where it depends on whether the attempt is stale."""
    kind, who, outcome = request
    if kind == "claim" and now is None and content and design.content_is_enough:
        return [("won", ("claimed", who, ""))]
    if kind == "claim" and not content and now is not None and now[0] in ("prepared", "claimed"):
        return _claim_without_content(now)
    if kind == "prepare":
        return [("", PREPARED if now is None or design.prepare_overwrites else now)]
    if kind == "release":
        return [("", PREPARED if now else None)]
    if now is None:
        return [("absent", None)]
    if kind == "write":
        return [("won", ("claimed", who, ""))]
    if kind == "claim":
        return _claim(design, now, who)
    if kind == "begin":
        return _begin(now, who)
    if now[1] == who and now[0] in ("claimed", "submitting"):
        return [("recorded", ("done", who, outcome))]
    return [("absent" if now == PREPARED else now[2] or "sending", now)]


def _claim_without_content(now: Phase) -> list[tuple[str, Phase | None]]:
    """Nothing is given out, not even to the attempt whose claim it is."""
    phase, owner, _ = now
    if phase == "prepared":
        return [("absent", None)]
    return [("sending", now), ("not_sent", ("done", owner, "not_sent"))]


def _claim(design: Design, now: Phase, who: int) -> list[tuple[str, Phase | None]]:
    phase, owner, outcome = now
    mine: Phase = ("claimed", who, "")
    if phase == "prepared":
        return [("seen", now)] if design.read_then_write else [("won", mine)]
    if phase == "claimed":
        if owner == who or design.claim_without_nonce:
            return [("won", now)]
        stale = ("won", mine) if design.takeover_of_claims else ("not_sent", ("done", owner, "not_sent"))
        return [("sending", now), stale]
    if phase == "submitting":
        answers: list[tuple[str, Phase | None]] = [("sending", now)]
        if design.takeover_of_submissions:
            answers.append(("won", mine))
        if design.sweep_submissions:
            answers.append(("not_sent", ("done", owner, "not_sent")))
        return answers
    return [(outcome, now)]


def _begin(now: Phase, who: int) -> list[tuple[str, Phase | None]]:
    phase, owner, _ = now
    if owner != who or phase not in ("claimed", "submitting"):
        return [("no", now)]
    if phase == "submitting":
        return [("yes", now), ("no", now)]
    return [("yes", ("submitting", who, "")), ("no", ("done", who, "not_sent"))]


# --- what can happen next --------------------------------------------------------------------------------------


def successors(design: Design, state: State) -> Iterator[State]:
    """Every state one step away."""
    yield from _environment(design, state)
    for request in state.wire:
        yield from _delivered(design, state, request)
    for who, attempt in enumerate(state.attempts):
        if attempt.at not in ("idle", "end"):
            yield _moved(state, who, Attempt("end"))
        yield from _attempt(design, state, who, attempt)


def _environment(design: Design, state: State) -> Iterator[State]:
    if state.record == PREPARED or (design.eviction and state.record):
        yield state._replace(record=None, content=state.content and design.content_apart)
    if state.content and design.content_apart:
        yield state._replace(content=False)
    if state.marker and design.eviction:
        yield state._replace(marker=None)
    if design.rollback and state.record:
        yield state._replace(record=PREPARED, content=True)


def _delivered(design: Design, state: State, request: Request) -> Iterator[State]:
    """The request takes effect and its answer reaches whoever still waits; a copy of it may stay on the wire."""
    apart = design.separate_marker and request.kind != "prepare"
    now = (state.marker or state.record) if apart and state.record else state.record
    for answer, after in _store(design, now, state.content, request):
        if apart and state.record:
            changed = state._replace(marker=after if after != PREPARED else None)
        else:
            changed = state._replace(record=after, content=_content_after(design, state, after))
        for wire in (state.wire, state.wire - {request}):
            reached = changed._replace(wire=wire)
            if request.who >= 0 and state.attempts[request.who].at == request.kind:
                yield _answered(design, reached, request, answer)
            # The answer may be lost as well.
            yield reached


def _content_after(design: Design, state: State, after: Phase | None) -> bool:
    """Preparing writes it with the record; it lasts as long as it may still have to be sent."""
    if after is None:
        return state.content and state.record is None
    if after == PREPARED:
        return state.content or state.record is None or design.prepare_overwrites or design.release_after_failure
    return state.content and after[0] == "claimed"


def _answered(design: Design, state: State, request: Request, answer: str) -> State:
    who, outcome = request.who, state.attempts[request.who].outcome
    if request.kind in ("claim", "write"):
        if answer == "won":
            return _moved(state, who, Attempt("dot" if design.no_fence else "won"))
        if answer == "seen":
            return _asked(state, Request("write", who))
        return _told(state, who, answer)
    if request.kind == "begin":
        return _moved(state, who, Attempt("data")) if answer == "yes" else _settling(design, state, who, "not_sent")
    return _told(state, who, outcome if answer in ("recorded", "absent", "") else answer)


def _attempt(design: Design, state: State, who: int, attempt: Attempt) -> Iterator[State]:
    at = attempt.at
    if at == "idle":
        yield _asked(state, Request("claim", who))
    elif at in ("claim", "write"):
        if design.silence_is_a_claim:
            yield _moved(state, who, Attempt("dot"))
    elif at == "won":
        yield _settling(design, state, who, "not_sent")
        yield _settling(design, state, who, "rejected")
        yield _asked(state, Request("begin", who))
    elif at == "begin":
        yield (
            _moved(state, who, Attempt("data"))
            if design.silence_is_a_leave
            else _settling(design, state, who, "not_sent")
        )
    elif at == "data":
        yield _settling(design, state, who, "rejected")
        yield _settling(design, state, who, "unknown")
        yield _moved(state, who, Attempt("dot"))
    elif at == "dot":
        yield from _dotted(design, state._replace(dots=state.dots + 1), who)
    elif at in ("settle", "release"):
        yield _told(state, who, attempt.outcome)


def _dotted(design: Design, state: State, who: int) -> Iterator[State]:
    taken = state._replace(accepted=True)
    yield _settling(design, taken, who, "accepted")
    yield _settling(design, state, who, "rejected")
    for after in (taken, state):
        if design.resend_after_lost_reply and state.dots < 2:
            yield _moved(after, who, Attempt("dot"))
        else:
            yield _settling(design, after, who, "rejected" if design.lost_reply_is_rejected else "unknown")


def _settling(design: Design, state: State, who: int, outcome: str) -> State:
    failed = outcome in ("not_sent", "unknown")
    kind = "release" if design.release_after_failure and failed else "settle"
    return _asked(state, Request(kind, who, outcome))


def _asked(state: State, request: Request) -> State:
    moved = _moved(state, request.who, Attempt(request.kind, request.outcome))
    return moved._replace(wire=moved.wire | {request})


def _told(state: State, who: int, word: str) -> State:
    ended = _moved(state, who, Attempt("end"))
    return ended._replace(denied=True) if word in NEGATIVE else ended


def _moved(state: State, who: int, attempt: Attempt) -> State:
    return state._replace(attempts=(*state.attempts[:who], attempt, *state.attempts[who + 1 :]))


# --- the walk --------------------------------------------------------------------------------------------------


class Walk(NamedTuple):
    """How many states were reached, and what the first bad one broke."""

    states: int
    broken: frozenset[str]


def walk(design: Design, *, attempts: int = 2, watched: frozenset[str] = ALL) -> Walk:
    """Visit every reachable state, or stop at the first that breaks what is watched."""
    first = start(design, attempts)
    seen = {first}
    waiting = [first]
    while waiting:
        state = waiting.pop()
        for after in successors(design, state):
            if after not in seen:
                broken = violation(after) & watched
                if broken:
                    return Walk(len(seen), broken)
                seen.add(after)
                waiting.append(after)
    return Walk(len(seen), frozenset())
