"""The settings as a table: one row per environment variable, in the order in which they are documented.

`.env.example`, `docs/configuration.md`, `mailgate config` and the warning about unknown variables all follow it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mailgate import limits


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable: `default` is text as it would be written, empty when there is none; `secret` never prints."""

    name: str
    group: str
    default: str
    meaning: str
    secret: bool = False


def _whole(number: float) -> str:
    return f"{number:g}"


_ROWS: tuple[Variable, ...] = (
    Variable("MAIL_PROVIDER", "Mailbox", "", "a preset that fills hosts and ports; explicit variables win"),
    Variable("MAIL_IMAP_HOST", "Mailbox", "", "host name of the IMAP server"),
    Variable("MAIL_IMAP_PORT", "Mailbox", "993", "its TCP port"),
    Variable(
        "MAIL_IMAP_SECURITY",
        "Mailbox",
        "tls",
        "`tls`, `starttls` (mandatory, never opportunistic) or `plaintext` (loopback only)",
    ),
    Variable("MAIL_USERNAME", "Mailbox", "", "login name, usually the full address"),
    Variable("MAIL_PASSWORD", "Mailbox", "", "login password, often an app password", secret=True),
    Variable("MAIL_PASSWORD_FILE", "Mailbox", "", "file that holds the password instead; one trailing newline is cut"),
    Variable("MAIL_IMAP_CONNECTIONS", "Mailbox", "2", "most connections one process keeps to the mailbox (1 to 10)"),
    Variable(
        "MAIL_FOLDER_ROLES",
        "Mailbox",
        "",
        "your own role map, e.g. `sent=Sent Messages,trash=Deleted Messages`; it wins over what the server advertises",
    ),
    Variable("MAIL_HIDDEN_FOLDERS", "Mailbox", "", "comma list of folders that no tool lists, reads or names"),
    Variable(
        "MAIL_TRUSTED_AUTHSERV_ID",
        "Mailbox",
        "",
        "the authserv-id whose Authentication-Results are believed; unset means no verdicts",
    ),
    Variable(
        "MAIL_TLS_CA_FILE",
        "Mailbox",
        "",
        "PEM file of extra trust anchors for every outbound TLS connection; verification cannot be turned off",
    ),
    Variable("MAIL_SMTP_HOST", "Submission", "", "host name of the submission server"),
    Variable("MAIL_SMTP_PORT", "Submission", "465", "its TCP port"),
    Variable("MAIL_SMTP_SECURITY", "Submission", "tls", "as for IMAP"),
    Variable("MAIL_SMTP_USERNAME", "Submission", "", "login name; the mailbox's when unset"),
    Variable("MAIL_SMTP_PASSWORD", "Submission", "", "login password; the mailbox's when unset", secret=True),
    Variable("MAIL_SMTP_PASSWORD_FILE", "Submission", "", "file that holds the password instead"),
    Variable("MAIL_FROM", "Submission", "", "the sender, `addr@host` or `Name <addr@host>`; no caller can choose it"),
    Variable("MAIL_ENABLE_WRITES", "Gates", "", "`1` allows the write tools"),
    Variable("MAIL_ENABLE_DELETE", "Gates", "", "`1` also allows permanent deletion; needs writes as well"),
    Variable("MAIL_ENABLE_SEND", "Gates", "", "`1` allows preparing and sending"),
    Variable(
        "MAIL_ALLOWED_RECIPIENTS",
        "Gates",
        "",
        "comma list of addresses or `@domain`; when set, nothing else can be prepared or sent to",
    ),
    Variable("MAIL_SEND_LIMIT_PER_HOUR", "Gates", "", "cap on confirmed sends in an hour, counted in the store"),
    Variable("MAIL_SEND_DEADLINE_SECONDS", "Gates", "120", "one send attempt, the final reply included (1 to 900)"),
    Variable(
        "MAIL_STORE",
        "Store",
        "",
        "`sqlite:PATH`, `redis://…`, `rediss://…` or `upstash`; unset: `upstash` when its two variables are set, else "
        "SQLite in your data directory",
    ),
    Variable("MAIL_STORE_KEY", "Store", "", "32 bytes in base64; a comma list rotates, the first seals", secret=True),
    Variable("UPSTASH_REDIS_REST_URL", "Store", "", "Upstash's own name for the address of its REST interface"),
    Variable("UPSTASH_REDIS_REST_TOKEN", "Store", "", "and for its token", secret=True),
    Variable("MAIL_TOKENS", "Access over HTTP", "", "comma list of `sha256hex:scope+scope`", secret=True),
    Variable(
        "MAIL_PUBLIC_URL",
        "Access over HTTP",
        "",
        "the URL that clients use, e.g. `https://mail.example.com/mcp`; gives allowed host, origin, metadata, audience",
    ),
    Variable(
        "MAIL_ALLOWED_ORIGINS", "Access over HTTP", "", "comma list of further browser origins; exact, no wildcard"
    ),
    Variable("MAIL_OAUTH_ISSUER", "Access over HTTP", "", "JWT mode: the issuer's URL, to the letter"),
    Variable("MAIL_OAUTH_JWKS_URL", "Access over HTTP", "", "JWT mode: where its keys are; discovered when unset"),
    Variable("MAIL_OAUTH_AUDIENCE", "Access over HTTP", "", "JWT mode: the audience; `MAIL_PUBLIC_URL` when unset"),
    Variable("MAIL_OWNER_SUBJECTS", "Access over HTTP", "", "JWT mode: comma list of the owner's `sub` values"),
    Variable(
        "MAIL_SEARCH_SCAN_UIDS",
        "Limits",
        _whole(limits.SCAN_UIDS_DEFAULT),
        f"UID values in one search window (1 to {limits.SCAN_UIDS_MAX})",
    ),
    Variable(
        "MAIL_SEARCH_BUDGET_SECONDS",
        "Limits",
        _whole(limits.SEARCH_BUDGET_DEFAULT),
        f"time one search may walk windows (0 to {limits.SEARCH_BUDGET_MAX:g}); 0 means one window a call",
    ),
    Variable(
        "MAIL_UPSTREAM_TIMEOUT_SECONDS",
        "Limits",
        _whole(limits.UPSTREAM_TIMEOUT_DEFAULT),
        f"deadline for one call's upstream work, reading (0.1 to {limits.UPSTREAM_TIMEOUT_MAX:g})",
    ),
    Variable(
        "MAIL_MAX_REQUEST_BYTES",
        "Limits",
        str(limits.REQUEST_BYTES_DEFAULT),
        f"largest HTTP body ({limits.REQUEST_BYTES_MIN} to {limits.REQUEST_BYTES_MAX})",
    ),
    Variable(
        "MAIL_MAX_RESULT_BYTES",
        "Limits",
        str(limits.RESULT_BYTES_DEFAULT),
        f"largest result, counted in encoded bytes ({limits.RESULT_BYTES_MIN} to {limits.RESULT_BYTES_MAX})",
    ),
    Variable("MAIL_LOG_LEVEL", "Logs", "info", "`debug`, `info`, `warning` or `error`"),
    Variable("MAIL_LOG_FORMAT", "Logs", "json", "`json` or `console`; logs go to stderr"),
)

VARIABLES: Mapping[str, Variable] = MappingProxyType({row.name: row for row in _ROWS})
"""Every variable that mailgate reads, by name."""
