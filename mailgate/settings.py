"""The settings: the one reader of the environment.

    environment > .env > preset > default  ->  Settings (frozen), or SettingsError with every problem at once

A problem or a warning names variables and never a value. Secrets are `SecretStr` or `SecretBytes`: they do not print.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Literal
from urllib.parse import urlsplit

from pydantic import SecretBytes, SecretStr

from mailgate import limits, settings_rules
from mailgate import settings_values as values
from mailgate.imap.endpoint import Security, is_loopback
from mailgate.imap.values import FolderName, SpecialUse
from mailgate.policy import Gate
from mailgate.settings_reader import Reader
from mailgate.settings_values import Sender, StaticToken
from mailgate.settings_variables import VARIABLES


class SettingsError(Exception):
    """The start is refused. `problems` are complete sentences; none holds a value."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


class StoreKind(StrEnum):
    """Where prepared messages and send records live."""

    SQLITE = "sqlite"
    REDIS = "redis"
    UPSTASH = "upstash"


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """One store: `path` with sqlite (None when no place was found), `url` with the others, `token` with upstash."""

    kind: StoreKind
    path: Path | None = None
    url: SecretStr | None = None
    token: SecretStr | None = None

    @property
    def is_remote(self) -> bool:
        """Is the content held by another machine, so that it must be sealed?"""
        return self.kind is not StoreKind.SQLITE

    @property
    def is_upstash(self) -> bool:
        """Is it reached over Upstash's REST interface?"""
        return self.kind is StoreKind.UPSTASH

    @property
    def is_exposed(self) -> bool:
        """Does Redis traffic cross a network in the clear?"""
        if self.kind is not StoreKind.REDIS or self.url is None:
            return False
        parts = urlsplit(self.url.get_secret_value())
        return parts.scheme == "redis" and not is_loopback(parts.hostname or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything an operator decides, valid once built. Fields are the variables without `MAIL_`.

    `missing` names the variables without which there is no mailbox, `sources` and `shown` are for `mailgate config`:
    where each variable came from, and its value with secrets masked.
    """

    provider: str | None
    imap_host: str | None
    imap_port: int
    imap_security: Security
    username: str | None
    password: SecretStr | None
    imap_connections: int
    folder_roles: Mapping[SpecialUse, FolderName]
    hidden_folders: frozenset[FolderName]
    trusted_authserv_id: str | None
    tls_ca_file: Path | None
    smtp_host: str | None
    smtp_port: int
    smtp_security: Security
    smtp_username: str | None
    smtp_password: SecretStr | None
    mail_from: Sender | None
    gates: frozenset[Gate]
    allowed_recipients: tuple[str, ...]
    send_limit_per_hour: int | None
    send_deadline_seconds: float
    store: StoreSettings
    store_key: tuple[SecretBytes, ...]
    tokens: tuple[StaticToken, ...]
    public_url: str | None
    allowed_origins: tuple[str, ...]
    oauth_issuer: str | None
    oauth_jwks_url: str | None
    oauth_audience: str | None
    owner_subjects: tuple[str, ...]
    search_scan_uids: int
    search_budget_seconds: float
    upstream_timeout_seconds: float
    max_request_bytes: int
    max_result_bytes: int
    log_level: str
    log_format: Literal["json", "console"]
    missing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    shown: Mapping[str, str] = field(default_factory=dict, repr=False)


# --- from the environment --------------------------------------------------------------------------------------


def read_settings(*, http: bool = False, dotenv: Path | None = Path(".env")) -> Settings:
    """The settings of this process; `http` adds what the HTTP endpoint needs. SettingsError with all problems.

    `dotenv` is read where it exists, except on a serverless host: there the environment is all there is.
    """
    environ = dict(os.environ)
    if settings_rules.ephemeral_host(environ):
        dotenv = None
    return load_settings(environ, dotenv=dotenv, http=http)


def load_settings(environ: Mapping[str, str], *, dotenv: Path | None = None, http: bool = False) -> Settings:
    """Settings from a mapping and, below it, a `.env` file that need not exist. SettingsError with all problems."""
    from_file, file_problems = _read_dotenv(dotenv)
    reader = Reader(environ, from_file)
    settings = _build(reader)
    found = [*file_problems, *reader.problems, *settings_rules.problems(settings, reader.given, environ)]
    if http:
        found += settings_rules.http_problems(reader.given)
    if found:
        raise SettingsError(tuple(dict.fromkeys(found)))
    return settings


def check_http(settings: Settings) -> tuple[str, ...]:
    """The problems that stop the HTTP endpoint but not stdio; empty when it may start."""
    given = {
        "MAIL_TOKENS": bool(settings.tokens),
        "MAIL_OAUTH_ISSUER": settings.oauth_issuer is not None,
        "MAIL_PUBLIC_URL": settings.public_url is not None,
    }
    return tuple(settings_rules.http_problems(given.__getitem__))


def _read_dotenv(path: Path | None) -> tuple[dict[str, str], list[str]]:
    """A `.env` file's assignments, taken literally: a `$` in a password is a `$`."""
    if path is None or not path.is_file():
        return {}, []
    try:
        from dotenv import dotenv_values

        found = dotenv_values(path, interpolate=False, encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}, [".env cannot be read as text."]
    return {name: value for name, value in found.items() if value is not None}, []


# --- from text to values ---------------------------------------------------------------------------------------


def _build(reader: Reader) -> Settings:
    """A value for every field; wrong variables leave their default and a problem in the reader."""
    read = reader.value
    port = values.whole(1, 65535)
    connections = values.whole(1, limits.IMAP_CONNECTIONS_MAX)
    request_bytes = values.whole(limits.REQUEST_BYTES_MIN, limits.REQUEST_BYTES_MAX)
    result_bytes = values.whole(limits.RESULT_BYTES_MIN, limits.RESULT_BYTES_MAX)
    username = read("MAIL_USERNAME", values.text, None)
    password = reader.password("MAIL_PASSWORD")
    public_url = read("MAIL_PUBLIC_URL", values.web_url, None)
    settings = Settings(
        provider=reader.provider,
        imap_host=read("MAIL_IMAP_HOST", values.host, None),
        imap_port=read("MAIL_IMAP_PORT", port, 993),
        imap_security=read("MAIL_IMAP_SECURITY", values.security, Security.TLS),
        username=username,
        password=_secret(password),
        imap_connections=read("MAIL_IMAP_CONNECTIONS", connections, limits.IMAP_CONNECTIONS_DEFAULT),
        folder_roles=read("MAIL_FOLDER_ROLES", values.folder_roles, MappingProxyType({})),
        hidden_folders=read("MAIL_HIDDEN_FOLDERS", values.hidden_folders, frozenset()),
        trusted_authserv_id=read("MAIL_TRUSTED_AUTHSERV_ID", values.authserv_id, None),
        tls_ca_file=_ca_file(reader),
        smtp_host=read("MAIL_SMTP_HOST", values.host, None),
        smtp_port=read("MAIL_SMTP_PORT", port, 465),
        smtp_security=read("MAIL_SMTP_SECURITY", values.security, Security.TLS),
        smtp_username=read("MAIL_SMTP_USERNAME", values.text, username),
        smtp_password=_secret(reader.password("MAIL_SMTP_PASSWORD") or password),
        mail_from=read("MAIL_FROM", values.sender, None),
        gates=reader.gates(),
        allowed_recipients=read("MAIL_ALLOWED_RECIPIENTS", values.recipients, ()),
        send_limit_per_hour=read("MAIL_SEND_LIMIT_PER_HOUR", values.whole(1, limits.SEND_LIMIT_MAX), None),
        send_deadline_seconds=_seconds(
            reader, "MAIL_SEND_DEADLINE_SECONDS", 1, limits.SEND_DEADLINE_MAX, limits.SEND_DEADLINE_DEFAULT
        ),
        store=_store(reader),
        store_key=tuple(SecretBytes(key) for key in read("MAIL_STORE_KEY", values.store_keys, ())),
        tokens=read("MAIL_TOKENS", values.static_tokens, ()),
        public_url=public_url,
        allowed_origins=read("MAIL_ALLOWED_ORIGINS", values.origins, ()),
        oauth_issuer=read("MAIL_OAUTH_ISSUER", values.web_url, None),
        oauth_jwks_url=read("MAIL_OAUTH_JWKS_URL", values.web_url, None),
        oauth_audience=read("MAIL_OAUTH_AUDIENCE", values.audience, public_url),
        owner_subjects=read("MAIL_OWNER_SUBJECTS", values.subjects, ()),
        search_scan_uids=read("MAIL_SEARCH_SCAN_UIDS", values.whole(1, limits.SCAN_UIDS_MAX), limits.SCAN_UIDS_DEFAULT),
        search_budget_seconds=_seconds(
            reader, "MAIL_SEARCH_BUDGET_SECONDS", 0, limits.SEARCH_BUDGET_MAX, limits.SEARCH_BUDGET_DEFAULT
        ),
        upstream_timeout_seconds=_seconds(
            reader, "MAIL_UPSTREAM_TIMEOUT_SECONDS", 0.1, limits.UPSTREAM_TIMEOUT_MAX, limits.UPSTREAM_TIMEOUT_DEFAULT
        ),
        max_request_bytes=read("MAIL_MAX_REQUEST_BYTES", request_bytes, limits.REQUEST_BYTES_DEFAULT),
        max_result_bytes=read("MAIL_MAX_RESULT_BYTES", result_bytes, limits.RESULT_BYTES_DEFAULT),
        log_level=read("MAIL_LOG_LEVEL", values.choice("debug", "info", "warning", "error"), "info"),
        log_format=_log_format(reader),
        missing=_missing(reader),
        sources=MappingProxyType({name: reader.source(name) for name in VARIABLES}),
    )
    return replace(
        settings,
        warnings=(*reader.warnings, *settings_rules.warnings(settings, reader.given), *reader.unknown()),
        shown=MappingProxyType({name: _shown(reader, settings.store, name) for name in VARIABLES}),
    )


def _secret(text: str) -> SecretStr | None:
    return SecretStr(text) if text else None


def _seconds(reader: Reader, name: str, low: float, high: float, default: float) -> float:
    return reader.value(name, values.seconds(low, high), default)


def _log_format(reader: Reader) -> Literal["json", "console"]:
    return (
        "console" if reader.value("MAIL_LOG_FORMAT", values.choice("json", "console"), "json") == "console" else "json"
    )


def _ca_file(reader: Reader) -> Path | None:
    """The file of extra trust anchors, looked into so that a wrong path stops the start and not the first call."""
    content = reader.read_file("MAIL_TLS_CA_FILE")
    if content and "-----BEGIN CERTIFICATE-----" not in content:
        reader.problems.append("MAIL_TLS_CA_FILE names a file without a PEM certificate.")
    return Path(reader.raw("MAIL_TLS_CA_FILE")) if content else None


def _missing(reader: Reader) -> tuple[str, ...]:
    absent = [name for name in ("MAIL_IMAP_HOST", "MAIL_USERNAME") if not reader.given(name)]
    if not (reader.given("MAIL_PASSWORD") or reader.given("MAIL_PASSWORD_FILE")):
        absent.append("MAIL_PASSWORD")
    return tuple(absent)


# --- the store -------------------------------------------------------------------------------------------------


def _store(reader: Reader) -> StoreSettings:
    """The store that is named, else Upstash when its variables are there, else SQLite in the data directory."""
    upstash = reader.given("UPSTASH_REDIS_REST_URL") and reader.given("UPSTASH_REDIS_REST_TOKEN")
    home = reader.data_directory()
    default = StoreSettings(StoreKind.SQLITE, path=home / "store.sqlite3" if home else None)
    if not reader.given("MAIL_STORE"):
        return _upstash(reader) if upstash else default
    return reader.value("MAIL_STORE", lambda text: _parse_store(reader, text), default)


def _parse_store(reader: Reader, text: str) -> StoreSettings:
    if text.lower() == "upstash":
        return _upstash(reader)
    if text.lower().startswith(("redis://", "rediss://")):
        return StoreSettings(StoreKind.REDIS, url=SecretStr(values.redis_url(text)))
    kind, _, path = text.partition(":")
    if kind.lower() != "sqlite" or not path or path.startswith((":", "//")):
        raise ValueError("takes sqlite:PATH, redis://…, rediss://… or upstash")
    return StoreSettings(StoreKind.SQLITE, path=Path(path).expanduser())


def _upstash(reader: Reader) -> StoreSettings:
    url = reader.value("UPSTASH_REDIS_REST_URL", values.web_url, "")
    return StoreSettings(StoreKind.UPSTASH, url=_secret(url), token=_secret(reader.raw("UPSTASH_REDIS_REST_TOKEN")))


# What stands in for an unset variable.
_FALLBACKS = {
    "MAIL_SMTP_USERNAME": "MAIL_USERNAME",
    "MAIL_SMTP_PASSWORD": "MAIL_PASSWORD",
    "MAIL_OAUTH_AUDIENCE": "MAIL_PUBLIC_URL",
}


def _shown(reader: Reader, store: StoreSettings, name: str) -> str:
    """The effective value as text, also where it is derived from another variable."""
    if reader.given(name):
        return reader.shown(name)
    if name == "MAIL_STORE":
        return "upstash" if store.is_upstash else f"sqlite:{store.path or '(no data directory)'}"
    fallback = _FALLBACKS.get(name)
    return f"as {fallback}" if fallback and reader.given(fallback) else reader.shown(name)
