"""Who may call what: scopes from the token, gates from the operator, one pure function over both.

Nothing here knows a tool by name; the rows are in `server/catalog.py`.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum

from mailgate.errors import AuthorityError, GateClosed, ScopeMissing


class Scope(StrEnum):
    """What a token allows. Every call needs `mail.read`."""

    READ = "mail.read"
    WRITE = "mail.write"
    SEND = "mail.send"


class Gate(StrEnum):
    """What the operator has switched on for this deployment."""

    WRITES = "writes"
    DELETE = "delete"
    SEND = "send"

    @property
    def variable(self) -> str:
        """The environment variable that opens it."""
        return {
            Gate.WRITES: "MAIL_ENABLE_WRITES",
            Gate.DELETE: "MAIL_ENABLE_DELETE",
            Gate.SEND: "MAIL_ENABLE_SEND",
        }[self]


ALL_SCOPES: frozenset[Scope] = frozenset(Scope)


@dataclass(frozen=True, slots=True)
class Requirement:
    """What one call needs: every scope and every gate in the sets."""

    scopes: frozenset[Scope] = frozenset({Scope.READ})
    gates: frozenset[Gate] = frozenset()

    def __post_init__(self) -> None:
        if Scope.READ not in self.scopes:
            raise ValueError("every call needs mail.read")


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is calling: `issuer` and `subject` identify, `scopes` allow.

    A static token has issuer `static` and the first half of its hash as subject; stdio has issuer `local`.
    """

    issuer: str
    subject: str
    scopes: frozenset[Scope] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Denial:
    """Why a call is refused: closed gates win over missing scopes, which are still all named."""

    gates: tuple[Gate, ...] = ()
    scopes: tuple[Scope, ...] = ()

    @property
    def reason(self) -> str:
        """One short sentence for `mail_capabilities`."""
        if self.gates:
            return "gate closed: " + ", ".join(gate.variable for gate in self.gates)
        return "scope missing: " + " ".join(self.scopes)

    def error(self) -> AuthorityError:
        """The error that tells the caller."""
        if self.gates:
            names = " and ".join(gate.variable for gate in self.gates)
            return GateClosed(f"This deployment does not allow this call: {names} is not set to 1.")
        names = " ".join(self.scopes)
        return ScopeMissing(f"The token lacks {names}, which this call needs.")


def permit(requirement: Requirement, scopes: AbstractSet[Scope], gates: AbstractSet[Gate]) -> Denial | None:
    """None when the call may go on, else why not.

    A closed gate wins over a missing scope: nobody is asked to grant what cannot help.
    """
    closed = tuple(gate for gate in Gate if gate in requirement.gates and gate not in gates)
    if closed:
        return Denial(gates=closed)
    missing = tuple(scope for scope in Scope if scope in requirement.scopes and scope not in scopes)
    return Denial(scopes=missing) if missing else None
