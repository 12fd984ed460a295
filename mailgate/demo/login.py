"""Commands of any state and before login: CAPABILITY, ID, NOOP, LOGOUT, LOGIN, AUTHENTICATE, ENABLE, NAMESPACE."""

from __future__ import annotations

import base64
import binascii
import hmac
import re

from mailgate.demo.extensions import Extension
from mailgate.demo.grammar import BadCommand, Refused, Scanner
from mailgate.demo.session import Done, Session, State

FAILED_LOGINS_MAX = 3
_BASE64 = re.compile(rb"[A-Za-z0-9+/]*={0,2}")


async def capability(session: Session, scanner: Scanner) -> Done:
    """CAPABILITY (RFC 3501, 6.1.1)."""
    scanner.end()
    session.untagged(b"CAPABILITY " + session.extensions.advertised(logged_in=session.state is State.AUTHENTICATED))
    return Done("listed")


async def noop(session: Session, scanner: Scanner) -> Done:
    """NOOP, CHECK and the subscriptions that a demo does not keep."""
    scanner.end()
    return Done()


async def logout(session: Session, scanner: Scanner) -> Done:
    """LOGOUT (RFC 3501, 6.1.3): BYE, then OK."""
    scanner.end()
    session.view = None
    session.bye(b"good bye")
    return Done()


async def id_(session: Session, scanner: Scanner) -> Done:
    """ID (RFC 2971): NIL, or name and value in turn."""
    scanner.space()
    if not scanner.accept(b"NIL"):
        scanner.expect(b"(")
        while not scanner.accept(b")"):
            scanner.string()
            scanner.space()
            scanner.nstring()
            if scanner.peek() != b")":
                scanner.space()
    scanner.end()
    session.untagged(b'ID ("name" "mailgate demo")')
    return Done()


async def login(session: Session, scanner: Scanner) -> Done:
    """LOGIN (RFC 3501, 6.2.3)."""
    scanner.space()
    username = scanner.astring()
    scanner.space()
    password = scanner.astring()
    scanner.end()
    return _admit(session, username, password)


async def authenticate(session: Session, scanner: Scanner) -> Done:
    """AUTHENTICATE PLAIN (RFC 4616), the response on the command line (RFC 4959) or after a continuation."""
    scanner.space()
    if scanner.word() != "PLAIN":
        raise Refused("that mechanism is not offered", "CANNOT")
    if scanner.peek():
        if Extension.SASL_IR not in session.extensions:
            raise BadCommand("the initial response is not supported")
        scanner.space()
        response: bytes | None = scanner.matching(_BASE64, "base64")
        scanner.end()
    else:
        await session.proceed(b"")
        response = await session.continuation_line()
    if response is None or response == b"*":
        raise BadCommand("authentication was cancelled")
    try:
        _, username, password = base64.b64decode(response, validate=True).split(b"\0")
    except (binascii.Error, ValueError):
        raise BadCommand("the response is not of the mechanism PLAIN") from None
    return _admit(session, username, password)


def _admit(session: Session, username: bytes, password: bytes) -> Done:
    account = session.account
    known = hmac.compare_digest(username, account.username.encode())
    if not (hmac.compare_digest(password, account.password.encode()) and known):
        session.failed_logins += 1
        if session.failed_logins >= FAILED_LOGINS_MAX:
            session.bye(b"too many failed logins")
        raise Refused("login refused", "AUTHENTICATIONFAILED")
    session.state = State.AUTHENTICATED
    return Done("logged in", b"CAPABILITY " + session.extensions.advertised(logged_in=True))


async def enable(session: Session, scanner: Scanner) -> Done:
    """ENABLE (RFC 5161): answers what it turned on, which is CONDSTORE or nothing."""
    names = []
    while scanner.peek():
        scanner.space()
        names.append(scanner.word())
    if not names:
        raise BadCommand("ENABLE names nothing")
    words = [b"ENABLED"]
    if "CONDSTORE" in names and Extension.CONDSTORE in session.extensions:
        session.use_condstore()
        words.append(b"CONDSTORE")
    session.untagged(b" ".join(words))
    return Done()


async def namespace(session: Session, scanner: Scanner) -> Done:
    """NAMESPACE (RFC 2342): one personal namespace without a prefix."""
    scanner.end()
    session.untagged(b'NAMESPACE (("" "/")) NIL NIL')
    return Done()
