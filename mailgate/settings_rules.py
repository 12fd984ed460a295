"""Rules between variables: what contradicts, what is unsafe, what is only worth a warning.

Rules ask `given` and not the parsed value where it matters that something was written, so that a variable that is
wrong in itself does not bring a second, misleading problem with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mailgate.imap.endpoint import Security, is_loopback
from mailgate.policy import Gate, Scope

if TYPE_CHECKING:
    from mailgate.settings import Settings

Given = Callable[[str], bool]

# Hosts whose disk does not outlive the process, by a variable that each sets itself.
_EPHEMERAL = {"VERCEL": "Vercel", "AWS_LAMBDA_FUNCTION_NAME": "AWS Lambda", "K_SERVICE": "Cloud Run"}


def ephemeral_host(environ: Mapping[str, str]) -> str | None:
    """The name of the host we run on, when its disk is not kept."""
    return next((host for name, host in _EPHEMERAL.items() if environ.get(name)), None)


def problems(settings: Settings, given: Given, environ: Mapping[str, str]) -> Iterator[str]:
    """Every sentence that stops the start."""
    yield from _login(given)
    yield from _plaintext(settings)
    yield from _store(settings, given)
    yield from _sending(settings, given, environ)
    yield from _oauth(settings, given)
    if settings.hidden_folders & set(settings.folder_roles.values()):
        yield "MAIL_HIDDEN_FOLDERS hides a folder that MAIL_FOLDER_ROLES gives a role."


def _login(given: Given) -> Iterator[str]:
    password = given("MAIL_PASSWORD") or given("MAIL_PASSWORD_FILE")
    smtp_password = given("MAIL_SMTP_PASSWORD") or given("MAIL_SMTP_PASSWORD_FILE")
    if given("MAIL_IMAP_HOST"):
        if not given("MAIL_USERNAME"):
            yield "MAIL_IMAP_HOST is set (perhaps by MAIL_PROVIDER), but MAIL_USERNAME is not."
        if not password:
            yield "MAIL_IMAP_HOST is set (perhaps by MAIL_PROVIDER), but MAIL_PASSWORD or MAIL_PASSWORD_FILE is not."
    elif given("MAIL_SMTP_HOST"):
        if not (given("MAIL_SMTP_USERNAME") or given("MAIL_USERNAME")):
            yield "MAIL_SMTP_HOST is set, but neither MAIL_SMTP_USERNAME nor MAIL_USERNAME is."
        if not (smtp_password or password):
            yield "MAIL_SMTP_HOST is set, but neither MAIL_SMTP_PASSWORD nor MAIL_PASSWORD is."


def _plaintext(settings: Settings) -> Iterator[str]:
    for kind, host, mode in (
        ("IMAP", settings.imap_host, settings.imap_security),
        ("SMTP", settings.smtp_host, settings.smtp_security),
    ):
        if mode is Security.PLAINTEXT and host is not None and not is_loopback(host):
            yield f"MAIL_{kind}_SECURITY is plaintext, which is refused unless MAIL_{kind}_HOST is loopback."


def _store(settings: Settings, given: Given) -> Iterator[str]:
    url, token = given("UPSTASH_REDIS_REST_URL"), given("UPSTASH_REDIS_REST_TOKEN")
    if settings.store.is_upstash and not (url and token):
        yield "MAIL_STORE is upstash, but UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN are not both set."
    if not given("MAIL_STORE") and url != token:
        yield "UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN are needed together; one is not set."
    if settings.store.is_remote and not given("MAIL_STORE_KEY"):
        yield "MAIL_STORE_KEY is required with a remote store; `mailgate keygen` prints one."


def _sending(settings: Settings, given: Given, environ: Mapping[str, str]) -> Iterator[str]:
    if Gate.SEND not in settings.gates:
        return
    if not given("MAIL_FROM"):
        yield "MAIL_ENABLE_SEND is 1, but MAIL_FROM is not set."
    if not given("MAIL_SMTP_HOST"):
        yield "MAIL_ENABLE_SEND is 1, but MAIL_SMTP_HOST is not set."
    if settings.store.is_remote:
        return
    if host := ephemeral_host(environ):
        yield f"MAIL_ENABLE_SEND is 1 on {host}, whose disk is not kept: MAIL_STORE must be a remote store."
    elif settings.store.path is None:
        yield "MAIL_ENABLE_SEND is 1, but there is no data directory for the store; set MAIL_STORE."


def _oauth(settings: Settings, given: Given) -> Iterator[str]:
    if not given("MAIL_OAUTH_ISSUER"):
        return
    if not given("MAIL_OWNER_SUBJECTS"):
        yield "MAIL_OAUTH_ISSUER is set, but MAIL_OWNER_SUBJECTS is not: anybody with an account there would get in."
    if not (given("MAIL_OAUTH_AUDIENCE") or given("MAIL_PUBLIC_URL")):
        yield "MAIL_OAUTH_ISSUER is set, but neither MAIL_OAUTH_AUDIENCE nor MAIL_PUBLIC_URL is."


def http_problems(given: Given) -> Iterator[str]:
    """What stops the HTTP endpoint, and only that: stdio's caller is the local user and needs no token."""
    if not (given("MAIL_TOKENS") or given("MAIL_OAUTH_ISSUER")):
        yield (
            "HTTP needs callers to be known: set MAIL_TOKENS (`mailgate token` prints an entry), or MAIL_OAUTH_ISSUER "
            "with MAIL_OWNER_SUBJECTS."
        )
    if given("MAIL_OAUTH_ISSUER") and not given("MAIL_PUBLIC_URL"):
        yield "MAIL_OAUTH_ISSUER is set, but MAIL_PUBLIC_URL is not: clients could not learn whose tokens to bring."


def _unused_store(settings: Settings, given: Given) -> Iterator[str]:
    unused = [name for name in ("UPSTASH_REDIS_REST_URL", "UPSTASH_REDIS_REST_TOKEN") if given(name)]
    if unused and not settings.store.is_upstash:
        verb = "is" if len(unused) == 1 else "are"
        yield f"MAIL_STORE names another store, so {' and '.join(unused)} {verb} neither used nor checked."


def warnings(settings: Settings, given: Given) -> Iterator[str]:
    """Every sentence that is worth saying at the start without stopping it."""
    if Gate.DELETE in settings.gates and Gate.WRITES not in settings.gates:
        yield "MAIL_ENABLE_DELETE opens nothing while MAIL_ENABLE_WRITES is not 1."
    if settings.store.is_exposed:
        yield "MAIL_STORE is plain redis:// off loopback: its password and traffic can be read on the way; use rediss://."
    yield from _unused_store(settings, given)
    yield from _odd_ports(settings)
    if any(Scope.READ not in token.scopes for token in settings.tokens):
        yield "MAIL_TOKENS has an entry without mail.read, which no call can do without."
    if settings.public_url and not urlsplit(settings.public_url).path.endswith("/mcp"):
        yield "MAIL_PUBLIC_URL does not end in /mcp, where the endpoint is."
    if not given("MAIL_OAUTH_ISSUER"):
        for name in ("MAIL_OAUTH_JWKS_URL", "MAIL_OAUTH_AUDIENCE", "MAIL_OWNER_SUBJECTS"):
            if given(name):
                yield f"{name} means nothing while MAIL_OAUTH_ISSUER is unset."


def _odd_ports(settings: Settings) -> Iterator[str]:
    # RFC 8314, 7.3: 993 and 465 begin with TLS; 143 and 587 begin in the clear.
    for kind, host, port, mode, implicit, clear in (
        ("IMAP", settings.imap_host, settings.imap_port, settings.imap_security, 993, 143),
        ("SMTP", settings.smtp_host, settings.smtp_port, settings.smtp_security, 465, 587),
    ):
        if host and ((mode is Security.TLS and port == clear) or (mode is not Security.TLS and port == implicit)):
            yield f"MAIL_{kind}_PORT and MAIL_{kind}_SECURITY do not belong together; is one of them missing?"
