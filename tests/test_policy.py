from __future__ import annotations

from itertools import chain, combinations

import pytest

from mailgate.errors import GateClosed, ScopeMissing
from mailgate.policy import Gate, Requirement, Scope, permit

READ = Requirement()
WRITE = Requirement(frozenset({Scope.READ, Scope.WRITE}), frozenset({Gate.WRITES}))
DELETE = Requirement(frozenset({Scope.READ, Scope.WRITE}), frozenset({Gate.WRITES, Gate.DELETE}))
SEND_AND_FILE = Requirement(frozenset(Scope), frozenset({Gate.SEND, Gate.WRITES}))


def subsets(items: type[Scope] | type[Gate]) -> list[frozenset[str]]:
    values = list(items)
    return [frozenset(c) for c in chain.from_iterable(combinations(values, n) for n in range(len(values) + 1))]


@pytest.mark.parametrize("scopes", subsets(Scope), ids=lambda s: "+".join(sorted(s)) or "none")
@pytest.mark.parametrize("gates", subsets(Gate), ids=lambda s: "+".join(sorted(s)) or "none")
def test_a_call_is_permitted_exactly_when_all_scopes_and_all_gates_are_there(
    scopes: frozenset[Scope], gates: frozenset[Gate]
) -> None:
    allowed = {
        "read": "mail.read" in scopes,
        "write": {"mail.read", "mail.write"} <= scopes and "writes" in gates,
        "delete": {"mail.read", "mail.write"} <= scopes and {"writes", "delete"} <= gates,
        "send_and_file": {"mail.read", "mail.write", "mail.send"} <= scopes and {"writes", "send"} <= gates,
    }
    for name, requirement in [("read", READ), ("write", WRITE), ("delete", DELETE), ("send_and_file", SEND_AND_FILE)]:
        assert (permit(requirement, scopes, gates) is None) == allowed[name], name


def test_a_closed_gate_wins_over_a_missing_scope() -> None:
    denial = permit(WRITE, frozenset({Scope.READ}), frozenset())
    assert denial is not None
    assert isinstance(denial.error(), GateClosed)
    assert denial.reason == "gate closed: MAIL_ENABLE_WRITES"


def test_every_missing_scope_is_named_at_once() -> None:
    denial = permit(SEND_AND_FILE, frozenset({Scope.READ}), frozenset(Gate))
    assert denial is not None
    assert denial.scopes == (Scope.WRITE, Scope.SEND)
    error = denial.error()
    assert isinstance(error, ScopeMissing)
    assert "mail.write mail.send" in error.sentence


def test_a_requirement_without_mail_read_cannot_be_built() -> None:
    with pytest.raises(ValueError, match=r"mail\.read"):
        Requirement(frozenset({Scope.WRITE}))
