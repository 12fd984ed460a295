"""Static bearer tokens."""

from __future__ import annotations

import hashlib
import hmac

import pytest

from mailgate.limits import TOKEN_CHARS_MAX
from mailgate.policy import Gate, Principal, Scope
from mailgate.server.auth import Rejection, TokenTable, challenge, open_scopes
from mailgate.settings_values import StaticToken


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


TABLE = TokenTable(
    (StaticToken(digest("first"), frozenset({Scope.READ})), StaticToken(digest("second"), frozenset(Scope)))
)


@pytest.mark.parametrize("field", [b"Bearer second", b"bearer second", b"BEARER  second"])
def test_a_known_token_is_a_principal_named_by_half_its_hash(field: bytes) -> None:
    assert TABLE.authenticate([field]) == Principal("static", digest("second")[:32], frozenset(Scope))


@pytest.mark.parametrize(
    "field",
    [b"", b"Bearer", b"Bearer ", b"Bearer third", b"Basic second", b"second", b"Bearer second x", b"Bearer secon",
     b"Bearer second\n", b"Bearer \xff", b"Bearer " + b"a" * (TOKEN_CHARS_MAX + 1), b"Bearer,second",
     b"Bearer " + digest("second").encode()],
)  # fmt: skip
def test_anything_else_is_invalid(field: bytes) -> None:
    assert TABLE.authenticate([field]) is Rejection.INVALID


def test_no_field_is_not_an_invalid_token() -> None:
    assert TABLE.authenticate([]) is Rejection.ABSENT


def test_two_fields_are_refused_even_when_both_are_good() -> None:
    assert TABLE.authenticate([b"Bearer second", b"Bearer second"]) is Rejection.INVALID


def test_every_entry_is_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []

    def compare(left: str, right: str) -> bool:
        compared.append(left)
        return left == right

    monkeypatch.setattr(hmac, "compare_digest", compare)
    TABLE.authenticate([b"Bearer first"])
    assert compared == [digest("first"), digest("second")]


@pytest.mark.parametrize(
    ("gates", "scopes"),
    [
        (set(), "mail.read"),
        ({Gate.DELETE}, "mail.read"),
        ({Gate.WRITES}, "mail.read mail.write"),
        ({Gate.SEND}, "mail.read mail.send"),
        (set(Gate), "mail.read mail.write mail.send"),
    ],
)
def test_the_challenge_names_the_scopes_whose_gates_are_open(gates: set[Gate], scopes: str) -> None:
    assert challenge(open_scopes(gates)) == f'Bearer scope="{scopes}"'


def test_an_error_stands_in_the_challenge_only_where_there_was_a_token() -> None:
    assert challenge([Scope.READ], "invalid_token") == 'Bearer error="invalid_token", scope="mail.read"'
