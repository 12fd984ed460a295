"""What an access token must claim (RFC 7519, 4.1; RFC 9068, 4): pure rules over parsed JSON, strict about types.

A claim that is there with the wrong type is never taken as absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mailgate.limits import TOKEN_LEEWAY_SECONDS
from mailgate.policy import Principal, Scope
from mailgate.server.auth import Rejection
from mailgate.server.jwt_form import TokenRefused

_TIME_MAX: Final = 253_402_300_799
"""The end of the year 9999; a later `exp` is milliseconds, or nonsense."""

_KINDS: Final = frozenset({"access", "bearer", "at+jwt", "jwt"})
"""What issuers call an access token in a claim."""

Claims = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TokenRules:
    """Whose tokens are accepted, for whom, and about whom. All compared character by character."""

    issuer: str
    audience: str
    subjects: frozenset[str] = field(repr=False)


def check_addressing(claims: Claims, rules: TokenRules, now: float) -> None:
    """Is it this issuer's, for us, for now, and an access token? Raises `TokenRefused`.

    This can be asked before the signature is checked: it decides only whether the issuer's keys are worth a fetch.
    """
    if _text(claims, "iss") != rules.issuer:
        raise TokenRefused(Rejection.ISSUER)
    if rules.audience not in _audiences(claims):
        raise TokenRefused(Rejection.AUDIENCE)
    _check_times(claims, now)
    _check_kind(claims)


def principal_of(claims: Claims, rules: TokenRules) -> Principal:
    """The caller of a token whose signature is good. Raises `TokenRefused` for anybody but the owner."""
    subject = _text(claims, "sub")
    if subject not in rules.subjects:
        raise TokenRefused(Rejection.SUBJECT)
    return Principal(rules.issuer, subject, granted(claims))


def granted(claims: Claims) -> frozenset[Scope]:
    """The scopes of the first of `scope`, `scp` and `permissions` that is there; other names in it mean nothing here.

    Not all three together: where `scope` says what this client was granted, `permissions` can list all that its user
    may ever do. `scope` is one text (RFC 8693, 4.2); issuers write the other two as a text or as a list.
    """
    for name in ("scope", "scp", "permissions"):
        if name in claims:
            names = _words(claims[name], may_be_list=name != "scope")
            return frozenset(scope for scope in Scope if scope.value in names)
    return frozenset()


def _words(value: object, *, may_be_list: bool) -> list[str]:
    if isinstance(value, str):
        return value.split(" ")
    if may_be_list and isinstance(value, list) and all(isinstance(each, str) for each in value):
        return value
    raise TokenRefused(Rejection.CLAIM)


def _text(claims: Claims, name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str):
        raise TokenRefused(Rejection.CLAIM)
    return value


def _audiences(claims: Claims) -> list[str]:
    """RFC 7519, 4.1.3: a list of strings, or one string."""
    value = claims.get("aud")
    audiences = [value] if isinstance(value, str) else value
    if not isinstance(audiences, list) or not all(isinstance(each, str) for each in audiences):
        raise TokenRefused(Rejection.CLAIM)
    return audiences


def _check_times(claims: Claims, now: float) -> None:
    if "exp" not in claims or now >= _moment(claims["exp"]) + TOKEN_LEEWAY_SECONDS:
        raise TokenRefused(Rejection.EXPIRED if "exp" in claims else Rejection.CLAIM)
    for name in ("nbf", "iat"):
        if name in claims and _moment(claims[name]) > now + TOKEN_LEEWAY_SECONDS:
            raise TokenRefused(Rejection.NOT_YET_VALID)


def _moment(value: object) -> float:
    """RFC 7519, 2: NumericDate, "a JSON numeric value", seconds and perhaps a fraction."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _TIME_MAX:
        raise TokenRefused(Rejection.CLAIM)
    return value


def _check_kind(claims: Claims) -> None:
    """Refuse what says it is no access token, and what may only be used together with a key we do not check."""
    # Keycloak writes Bearer, ID, Refresh, Offline into a claim `typ`; Cognito writes access or id into `token_use`.
    for name in ("typ", "token_use"):
        kind = claims.get(name, "access")
        if not isinstance(kind, str) or kind.lower() not in _KINDS:
            raise TokenRefused(Rejection.TYPE)
    if "cnf" in claims:
        # RFC 7800, 3: the presenter has to prove that it has the key. Taking it as a bearer token would undo that.
        raise TokenRefused(Rejection.BOUND)
