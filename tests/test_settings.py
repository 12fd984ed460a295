"""Settings: every rule of the table in docs/configuration.md, each with the sentence that names the variable."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mailgate.imap.endpoint import Security
from mailgate.imap.values import FolderName, SpecialUse
from mailgate.policy import Gate, Scope
from mailgate.settings import Settings, SettingsError, StoreKind, check_http, load_settings
from mailgate.settings_values import Sender
from mailgate.settings_variables import VARIABLES

CANARY = "canary-5f1c-secret"
KEY = base64.b64encode(bytes(range(32))).decode()
DIGEST = hashlib.sha256(b"token").hexdigest()
HOME = {"HOME": "/home/owner"}
MAILBOX = {
    **HOME,
    "MAIL_IMAP_HOST": "imap.example.com",
    "MAIL_USERNAME": "owner@example.com",
    "MAIL_PASSWORD": CANARY,
}
SENDING = {
    **MAILBOX,
    "MAIL_SMTP_HOST": "smtp.example.com",
    "MAIL_FROM": "owner@example.com",
    "MAIL_ENABLE_SEND": "1",
}
UPSTASH = {
    "UPSTASH_REDIS_REST_URL": "https://x.upstash.io",
    "UPSTASH_REDIS_REST_TOKEN": CANARY,
    "MAIL_STORE_KEY": KEY,
}
OAUTH = {
    "MAIL_OAUTH_ISSUER": "https://login.example.com/",
    "MAIL_PUBLIC_URL": "https://mail.example.com/mcp",
    "MAIL_OWNER_SUBJECTS": "auth0|owner",
}


def problems(environ: dict[str, str], *, http: bool = False, dotenv: Path | None = None) -> tuple[str, ...]:
    try:
        load_settings(environ, http=http, dotenv=dotenv)
    except SettingsError as error:
        return error.problems
    return ()


# --- defaults --------------------------------------------------------------------------------------------------


def test_with_no_settings_at_all_everything_is_off_and_the_missing_variables_are_named() -> None:
    settings = load_settings(HOME)
    assert settings.missing == ("MAIL_IMAP_HOST", "MAIL_USERNAME", "MAIL_PASSWORD")
    assert settings.gates == frozenset()
    assert settings.warnings == ()
    assert settings.store.path == Path("/home/owner/.local/share/mailgate/store.sqlite3")


def test_the_documented_defaults_are_the_values_in_force() -> None:
    settings = load_settings(HOME)
    for name, variable in VARIABLES.items():
        if variable.default:
            value = getattr(settings, name.removeprefix("MAIL_").lower())
            assert variable.default in (str(value), f"{value:g}" if isinstance(value, float) else "")


def test_a_complete_mailbox_misses_nothing() -> None:
    settings = load_settings(MAILBOX)
    assert settings.missing == ()
    assert (settings.imap_host, settings.imap_port, settings.imap_security) == (
        "imap.example.com",
        993,
        Security.TLS,
    )


def test_a_login_without_a_host_is_incomplete_and_not_wrong() -> None:
    settings = load_settings({"MAIL_USERNAME": "owner", "MAIL_PASSWORD": "x"})
    assert settings.missing == ("MAIL_IMAP_HOST",)


def test_the_result_cannot_be_changed() -> None:
    settings = load_settings(HOME)
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.imap_port = 1  # type: ignore[misc]


# --- where a value comes from ----------------------------------------------------------------------------------


def test_a_preset_fills_hosts_ports_and_security() -> None:
    settings = load_settings({"MAIL_PROVIDER": "Spacemail", "MAIL_USERNAME": "u", "MAIL_PASSWORD": "p"})
    assert (settings.imap_host, settings.imap_port, settings.imap_security) == ("mail.spacemail.com", 993, "tls")
    assert (settings.smtp_host, settings.smtp_port, settings.smtp_security) == ("mail.spacemail.com", 465, "tls")
    assert settings.sources["MAIL_IMAP_HOST"] == "preset:spacemail"


def test_an_explicit_variable_wins_over_the_preset() -> None:
    settings = load_settings({**MAILBOX, "MAIL_PROVIDER": "icloud", "MAIL_SMTP_PORT": "465", "MAIL_IMAP_PORT": ""})
    assert settings.imap_host == "imap.example.com"
    assert (settings.smtp_host, settings.smtp_port, settings.smtp_security) == ("smtp.mail.me.com", 465, "starttls")
    assert settings.sources["MAIL_IMAP_HOST"] == "environment"
    assert settings.sources["MAIL_IMAP_PORT"] == "preset:icloud"


def test_an_unknown_preset_is_refused_with_the_known_names() -> None:
    (problem,) = problems({"MAIL_PROVIDER": CANARY})
    assert "MAIL_PROVIDER" in problem
    assert "spacemail" in problem
    assert CANARY not in problem


def test_the_real_environment_wins_over_the_dotenv_file(tmp_path: Path) -> None:
    dotenv = tmp_path / ".env"
    dotenv.write_text("MAIL_IMAP_HOST=file.example.com\nMAIL_LOG_LEVEL=debug\nMAIL_ENABLE_SEND=1\n")
    settings = load_settings({**MAILBOX, "MAIL_ENABLE_SEND": ""}, dotenv=dotenv)
    assert settings.imap_host == "imap.example.com"
    assert settings.log_level == "debug"
    assert settings.gates == frozenset(), "a variable that is there but empty also wins"
    assert (settings.sources["MAIL_IMAP_HOST"], settings.sources["MAIL_LOG_LEVEL"]) == ("environment", ".env")
    assert settings.sources["MAIL_IMAP_PORT"] == "default"


def test_the_dotenv_file_is_taken_literally(tmp_path: Path) -> None:
    dotenv = tmp_path / ".env"
    dotenv.write_text("MAIL_USERNAME=u\nMAIL_PASSWORD='a${HOME}$b'\n")
    settings = load_settings({"HOME": "/x"}, dotenv=dotenv)
    assert settings.password is not None
    assert settings.password.get_secret_value() == "a${HOME}$b"


def test_a_dotenv_file_that_is_no_text_is_a_problem(tmp_path: Path) -> None:
    dotenv = tmp_path / ".env"
    dotenv.write_bytes(b"MAIL_USERNAME=\xff\xfe\n")
    assert problems(HOME, dotenv=dotenv) == (".env cannot be read as text.",)


def test_a_dotenv_file_need_not_exist(tmp_path: Path) -> None:
    assert load_settings(HOME, dotenv=tmp_path / ".env").missing


# --- gates -----------------------------------------------------------------------------------------------------

NEARLY = ["0", "true", "yes", "on", "True", " 1", "1 ", "１", "01", "+1", "1.0", "١"]


@pytest.mark.parametrize("value", NEARLY)
@pytest.mark.parametrize("gate", list(Gate))
def test_only_the_exact_value_1_opens_a_gate_and_anything_else_warns(gate: Gate, value: str) -> None:
    settings = load_settings({**SENDING, "MAIL_ENABLE_SEND": "", gate.variable: value})
    assert settings.gates == frozenset()
    (warning,) = settings.warnings
    assert gate.variable in warning


def test_an_empty_gate_stays_closed_without_a_word() -> None:
    settings = load_settings({**HOME, **{gate.variable: "" for gate in Gate}})
    assert (settings.gates, settings.warnings) == (frozenset(), ())


def test_1_opens_each_gate() -> None:
    settings = load_settings({**SENDING, **{gate.variable: "1" for gate in Gate}})
    assert settings.gates == frozenset(Gate)
    assert settings.warnings == ()


def test_deletion_without_writes_warns() -> None:
    settings = load_settings({**HOME, "MAIL_ENABLE_DELETE": "1"})
    assert settings.gates == {Gate.DELETE}
    assert any("MAIL_ENABLE_DELETE" in warning for warning in settings.warnings)


# --- what stops the start --------------------------------------------------------------------------------------

WRONG: list[tuple[str, dict[str, str]]] = [
    # form of single values
    ("MAIL_IMAP_HOST", {**MAILBOX, "MAIL_IMAP_HOST": "https://imap.example.com"}),
    ("MAIL_IMAP_HOST", {**MAILBOX, "MAIL_IMAP_HOST": "imap.example.com:993"}),
    ("MAIL_IMAP_HOST", {**MAILBOX, "MAIL_IMAP_HOST": "bücher.example"}),
    ("MAIL_IMAP_HOST", {**MAILBOX, "MAIL_IMAP_HOST": "-imap.example.com"}),
    ("MAIL_IMAP_PORT", {"MAIL_IMAP_PORT": "0"}),
    ("MAIL_IMAP_PORT", {"MAIL_IMAP_PORT": "65536"}),
    ("MAIL_IMAP_PORT", {"MAIL_IMAP_PORT": "９９３"}),
    ("MAIL_IMAP_PORT", {"MAIL_IMAP_PORT": "imaps"}),
    ("MAIL_IMAP_SECURITY", {"MAIL_IMAP_SECURITY": "ssl"}),
    ("MAIL_IMAP_SECURITY", {"MAIL_IMAP_SECURITY": "none"}),
    ("MAIL_USERNAME", {"MAIL_USERNAME": "a\rb"}),
    ("MAIL_PASSWORD", {"MAIL_PASSWORD": "a\nb"}),
    ("MAIL_PASSWORD", {"MAIL_PASSWORD": "latin-1 \udce9"}),
    ("MAIL_SMTP_PORT", {"MAIL_SMTP_PORT": "-1"}),
    ("MAIL_IMAP_CONNECTIONS", {"MAIL_IMAP_CONNECTIONS": "11"}),
    ("MAIL_IMAP_CONNECTIONS", {"MAIL_IMAP_CONNECTIONS": "0"}),
    ("MAIL_SEARCH_SCAN_UIDS", {"MAIL_SEARCH_SCAN_UIDS": "40001"}),
    ("MAIL_SEARCH_SCAN_UIDS", {"MAIL_SEARCH_SCAN_UIDS": "1_000"}),
    ("MAIL_SEARCH_BUDGET_SECONDS", {"MAIL_SEARCH_BUDGET_SECONDS": "61"}),
    ("MAIL_SEARCH_BUDGET_SECONDS", {"MAIL_SEARCH_BUDGET_SECONDS": "nan"}),
    ("MAIL_UPSTREAM_TIMEOUT_SECONDS", {"MAIL_UPSTREAM_TIMEOUT_SECONDS": "0"}),
    ("MAIL_SEND_DEADLINE_SECONDS", {"MAIL_SEND_DEADLINE_SECONDS": "901"}),
    ("MAIL_SEND_LIMIT_PER_HOUR", {"MAIL_SEND_LIMIT_PER_HOUR": "0"}),
    ("MAIL_MAX_REQUEST_BYTES", {"MAIL_MAX_REQUEST_BYTES": "8MB"}),
    ("MAIL_MAX_RESULT_BYTES", {"MAIL_MAX_RESULT_BYTES": "1"}),
    ("MAIL_LOG_LEVEL", {"MAIL_LOG_LEVEL": "loud"}),
    ("MAIL_LOG_FORMAT", {"MAIL_LOG_FORMAT": "xml"}),
    ("MAIL_TRUSTED_AUTHSERV_ID", {"MAIL_TRUSTED_AUTHSERV_ID": "mx.example.com; dkim=pass"}),
    # files
    ("MAIL_PASSWORD_FILE", {"MAIL_PASSWORD_FILE": "/nonexistent/password"}),
    ("MAIL_PASSWORD_FILE", {"MAIL_PASSWORD": "x", "MAIL_PASSWORD_FILE": "/nonexistent/password"}),
    ("MAIL_SMTP_PASSWORD_FILE", {"MAIL_SMTP_PASSWORD": "x", "MAIL_SMTP_PASSWORD_FILE": "/nonexistent/password"}),
    ("MAIL_TLS_CA_FILE", {"MAIL_TLS_CA_FILE": "/nonexistent/ca.pem"}),
    # a host without login
    ("MAIL_USERNAME", {"MAIL_IMAP_HOST": "imap.example.com", "MAIL_PASSWORD": "x"}),
    ("MAIL_PASSWORD", {"MAIL_IMAP_HOST": "imap.example.com", "MAIL_USERNAME": "x"}),
    ("MAIL_USERNAME", {"MAIL_PROVIDER": "spacemail", "MAIL_PASSWORD": "x"}),
    ("MAIL_SMTP_USERNAME", {"MAIL_SMTP_HOST": "smtp.example.com", "MAIL_PASSWORD": "x"}),
    ("MAIL_SMTP_PASSWORD", {"MAIL_SMTP_HOST": "smtp.example.com", "MAIL_USERNAME": "x"}),
    # plaintext
    ("MAIL_IMAP_SECURITY", {**MAILBOX, "MAIL_IMAP_SECURITY": "plaintext"}),
    ("MAIL_SMTP_SECURITY", {**SENDING, "MAIL_SMTP_SECURITY": "plaintext"}),
    ("MAIL_IMAP_SECURITY", {**MAILBOX, "MAIL_IMAP_SECURITY": "plaintext", "MAIL_IMAP_HOST": "127.0.0.1.example.com"}),
    # the sender
    ("MAIL_FROM", {"MAIL_FROM": "owner"}),
    ("MAIL_FROM", {"MAIL_FROM": "a@example.com, b@example.com"}),
    ("MAIL_FROM", {"MAIL_FROM": "A <a@example.com>, B <b@example.com>"}),
    ("MAIL_FROM", {"MAIL_FROM": "b@example.com <a@example.com>"}),
    ("MAIL_FROM", {"MAIL_FROM": "jürgen@example.com"}),
    ("MAIL_FROM", {"MAIL_FROM": "a@bücher.example"}),
    ("MAIL_FROM", {"MAIL_FROM": "a@[127.0.0.1]"}),
    ("MAIL_FROM", {"MAIL_FROM": '"a b"@example.com'}),
    ("MAIL_FROM", {"MAIL_FROM": "a@@example.com"}),
    ("MAIL_FROM", {"MAIL_FROM": "A <a@example.com> B"}),
    ("MAIL_FROM", {"MAIL_FROM": "a" * 65 + "@example.com"}),
    ("MAIL_FROM", {"MAIL_FROM": "A\u202e <a@example.com>"}),
    ("MAIL_FROM", {"MAIL_FROM": "A\r\nBcc: x <a@example.com>"}),
    # sending
    ("MAIL_FROM", {**SENDING, "MAIL_FROM": ""}),
    ("MAIL_SMTP_HOST", {**SENDING, "MAIL_SMTP_HOST": ""}),
    ("MAIL_STORE", {**SENDING, "VERCEL": "1"}),
    ("MAIL_STORE", {**SENDING, "AWS_LAMBDA_FUNCTION_NAME": "mail"}),
    ("MAIL_STORE", {**SENDING, "K_SERVICE": "mail", "MAIL_STORE": "sqlite:/tmp/x"}),
    ("MAIL_STORE", {**SENDING, "HOME": ""}),
    # recipients
    ("MAIL_ALLOWED_RECIPIENTS", {"MAIL_ALLOWED_RECIPIENTS": "*@example.com"}),
    ("MAIL_ALLOWED_RECIPIENTS", {"MAIL_ALLOWED_RECIPIENTS": "@*.example.com"}),
    ("MAIL_ALLOWED_RECIPIENTS", {"MAIL_ALLOWED_RECIPIENTS": "@"}),
    ("MAIL_ALLOWED_RECIPIENTS", {"MAIL_ALLOWED_RECIPIENTS": "a@example.com,"}),
    ("MAIL_ALLOWED_RECIPIENTS", {"MAIL_ALLOWED_RECIPIENTS": ","}),
    # folders
    ("MAIL_FOLDER_ROLES", {"MAIL_FOLDER_ROLES": "sent"}),
    ("MAIL_FOLDER_ROLES", {"MAIL_FOLDER_ROLES": "outbox=Outbox"}),
    ("MAIL_FOLDER_ROLES", {"MAIL_FOLDER_ROLES": "inbox=Other"}),
    ("MAIL_FOLDER_ROLES", {"MAIL_FOLDER_ROLES": "sent="}),
    ("MAIL_FOLDER_ROLES", {"MAIL_FOLDER_ROLES": "sent=A,sent=B"}),
    ("MAIL_FOLDER_ROLES", {"MAIL_FOLDER_ROLES": "sent=role:trash"}),
    ("MAIL_HIDDEN_FOLDERS", {"MAIL_HIDDEN_FOLDERS": "Private,,Work"}),
    ("MAIL_HIDDEN_FOLDERS", {"MAIL_HIDDEN_FOLDERS": "role:junk"}),
    ("MAIL_HIDDEN_FOLDERS", {"MAIL_HIDDEN_FOLDERS": "Sent", "MAIL_FOLDER_ROLES": "sent=Sent"}),
    # the store
    ("MAIL_STORE", {"MAIL_STORE": "postgres://x"}),
    ("MAIL_STORE", {"MAIL_STORE": "sqlite:"}),
    ("MAIL_STORE", {"MAIL_STORE": "sqlite::memory:"}),
    ("MAIL_STORE", {"MAIL_STORE": "sqlite:///x"}),
    ("MAIL_STORE", {"MAIL_STORE": "rediss://", "MAIL_STORE_KEY": KEY}),
    ("MAIL_STORE", {"MAIL_STORE": "rediss://cache:x", "MAIL_STORE_KEY": KEY}),
    ("MAIL_STORE", {"MAIL_STORE": "rediss://cache?ssl_cert_reqs=none", "MAIL_STORE_KEY": KEY}),
    ("MAIL_STORE_KEY", {"MAIL_STORE": "rediss://cache"}),
    ("MAIL_STORE_KEY", {**UPSTASH, "MAIL_STORE_KEY": ""}),
    ("MAIL_STORE_KEY", {"MAIL_STORE_KEY": base64.b64encode(bytes(31)).decode()}),
    ("MAIL_STORE_KEY", {"MAIL_STORE_KEY": "not base64!"}),
    ("MAIL_STORE_KEY", {"MAIL_STORE_KEY": f"{KEY},"}),
    ("UPSTASH_REDIS_REST_URL", {**UPSTASH, "UPSTASH_REDIS_REST_URL": "http://x.upstash.io"}),
    ("UPSTASH_REDIS_REST_URL", {**UPSTASH, "UPSTASH_REDIS_REST_URL": "https://*.upstash.io"}),
    ("UPSTASH_REDIS_REST_URL", {**UPSTASH, "UPSTASH_REDIS_REST_URL": "", "MAIL_STORE": "upstash"}),
    ("UPSTASH_REDIS_REST_TOKEN", {**UPSTASH, "UPSTASH_REDIS_REST_TOKEN": ""}),
    # URLs and origins
    ("MAIL_PUBLIC_URL", {"MAIL_PUBLIC_URL": "http://mail.example.com/mcp"}),
    ("MAIL_PUBLIC_URL", {"MAIL_PUBLIC_URL": "https://*.example.com/mcp"}),
    ("MAIL_PUBLIC_URL", {"MAIL_PUBLIC_URL": "https://mail.example.com/mcp?x=1"}),
    ("MAIL_PUBLIC_URL", {"MAIL_PUBLIC_URL": "https://mail.example.com/mcp#"}),
    ("MAIL_PUBLIC_URL", {"MAIL_PUBLIC_URL": "https://u:p@mail.example.com/mcp"}),
    ("MAIL_PUBLIC_URL", {"MAIL_PUBLIC_URL": "https://mail.example.com:99999/mcp"}),
    ("MAIL_PUBLIC_URL", {"MAIL_PUBLIC_URL": "mail.example.com/mcp"}),
    ("MAIL_PUBLIC_URL", {"MAIL_PUBLIC_URL": "https:///mcp"}),
    ("MAIL_ALLOWED_ORIGINS", {"MAIL_ALLOWED_ORIGINS": "*"}),
    ("MAIL_ALLOWED_ORIGINS", {"MAIL_ALLOWED_ORIGINS": "null"}),
    ("MAIL_ALLOWED_ORIGINS", {"MAIL_ALLOWED_ORIGINS": "https://*.example.com"}),
    ("MAIL_ALLOWED_ORIGINS", {"MAIL_ALLOWED_ORIGINS": "https://app.example.com/"}),
    ("MAIL_ALLOWED_ORIGINS", {"MAIL_ALLOWED_ORIGINS": "https://a.example.com https://b.example.com"}),
    # authority
    ("MAIL_OAUTH_ISSUER", {**OAUTH, "MAIL_OAUTH_ISSUER": "http://login.example.com"}),
    ("MAIL_OAUTH_JWKS_URL", {**OAUTH, "MAIL_OAUTH_JWKS_URL": "http://login.example.com/keys"}),
    ("MAIL_OAUTH_AUDIENCE", {**OAUTH, "MAIL_OAUTH_AUDIENCE": "*"}),
    ("MAIL_OAUTH_AUDIENCE", {**OAUTH, "MAIL_PUBLIC_URL": ""}),
    ("MAIL_OWNER_SUBJECTS", {**OAUTH, "MAIL_OWNER_SUBJECTS": ""}),
    ("MAIL_OWNER_SUBJECTS", {**OAUTH, "MAIL_OWNER_SUBJECTS": "*"}),
    ("MAIL_TOKENS", {"MAIL_TOKENS": CANARY}),
    ("MAIL_TOKENS", {"MAIL_TOKENS": DIGEST}),
    ("MAIL_TOKENS", {"MAIL_TOKENS": f"{DIGEST}:"}),
    ("MAIL_TOKENS", {"MAIL_TOKENS": f"{DIGEST}:mail.admin"}),
    ("MAIL_TOKENS", {"MAIL_TOKENS": f"{DIGEST[:-1]}:mail.read"}),
    ("MAIL_TOKENS", {"MAIL_TOKENS": f"{DIGEST}:mail.read,{DIGEST.upper()}:mail.read"}),
]


@pytest.mark.parametrize(("variable", "environ"), WRONG, ids=lambda value: value if isinstance(value, str) else "")
def test_wrong_or_unsafe_settings_stop_the_start_and_name_the_variable(variable: str, environ: dict[str, str]) -> None:
    (problem,) = problems({**HOME, **environ})
    assert variable in problem
    assert problem.endswith(".")


def test_all_problems_come_at_once() -> None:
    found = problems(
        {**SENDING, "MAIL_FROM": "", "MAIL_IMAP_PORT": "x", "MAIL_LOG_LEVEL": "x", "MAIL_PUBLIC_URL": "x"}, http=True
    )
    assert len(found) == 5
    for name in ("MAIL_FROM", "MAIL_IMAP_PORT", "MAIL_LOG_LEVEL", "MAIL_PUBLIC_URL", "MAIL_TOKENS"):
        assert any(name in problem for problem in found)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "::1", "[::1]"])
def test_plaintext_is_allowed_on_loopback(host: str) -> None:
    settings = load_settings({**MAILBOX, "MAIL_IMAP_HOST": host, "MAIL_IMAP_SECURITY": "plaintext"})
    assert settings.imap_security is Security.PLAINTEXT
    assert settings.imap_host == host.strip("[]")


# --- what is only a warning ------------------------------------------------------------------------------------

ODD: list[tuple[str, dict[str, str]]] = [
    ("MAIL_STORE", {"MAIL_STORE": "redis://cache.example.com", "MAIL_STORE_KEY": KEY}),
    ("did you mean MAIL_IMAP_HOST?", {"MAIL_IMAP_HOSTS": CANARY}),
    ("MAIL_UNHEARD_OF_THING", {"MAIL_UNHEARD_OF_THING": CANARY}),
    ("begins with MAIL_", {f"MAIL_{CANARY}": "x"}),
    ("MAIL_IMAP_PORT", {**MAILBOX, "MAIL_IMAP_SECURITY": "starttls"}),
    ("MAIL_SMTP_PORT", {**SENDING, "MAIL_SMTP_PORT": "587"}),
    ("MAIL_TOKENS", {"MAIL_TOKENS": f"{DIGEST}:mail.send"}),
    ("MAIL_PUBLIC_URL", {"MAIL_PUBLIC_URL": "https://mail.example.com"}),
    ("MAIL_OWNER_SUBJECTS", {"MAIL_OWNER_SUBJECTS": "owner"}),
]


@pytest.mark.parametrize(("expected", "environ"), ODD, ids=[row[0] for row in ODD])
def test_odd_settings_warn_without_stopping_the_start(expected: str, environ: dict[str, str]) -> None:
    (warning,) = load_settings({**HOME, **environ}).warnings
    assert expected in warning
    assert CANARY not in warning


@pytest.mark.parametrize("url", ["redis://localhost", "redis://127.0.0.1:6379/2", "rediss://u:p@cache.example.com/0"])
def test_a_redis_store_on_loopback_or_over_tls_needs_no_warning(url: str) -> None:
    settings = load_settings({**HOME, "MAIL_STORE": url, "MAIL_STORE_KEY": KEY})
    assert settings.warnings == ()
    assert settings.store.kind is StoreKind.REDIS


# --- values ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("owner@Example.COM", Sender("", "owner@example.com")),
        ("The Owner <owner@example.com>", Sender("The Owner", "owner@example.com")),
        ("<owner@example.com>", Sender("", "owner@example.com")),
        ('"Owner, The" <owner@example.com>', Sender("Owner, The", "owner@example.com")),
        (r'"The \"Owner\"" <owner@example.com>', Sender('The "Owner"', "owner@example.com")),
        ("Jürgen Groß <j.g+mail@example.com>", Sender("Jürgen Groß", "j.g+mail@example.com")),
    ],
)
def test_the_sender_is_one_address_with_an_optional_name(text: str, expected: Sender) -> None:
    assert load_settings({**HOME, "MAIL_FROM": text}).mail_from == expected


def test_lists_and_maps_are_parsed() -> None:
    settings = load_settings(
        {
            **HOME,
            "MAIL_FOLDER_ROLES": r"sent=Sent Messages, Trash = Deleted\, old",
            "MAIL_HIDDEN_FOLDERS": "Private/Ärzte, Work",
            "MAIL_ALLOWED_RECIPIENTS": "a@Example.com, @Example.ORG",
            "MAIL_ALLOWED_ORIGINS": "https://App.example.com:443,http://localhost:3000",
            "MAIL_TOKENS": f"{DIGEST.upper()}:mail.read+mail.send",
        }
    )
    assert settings.folder_roles == {
        SpecialUse.SENT: FolderName("Sent Messages"),
        SpecialUse.TRASH: FolderName("Deleted, old"),
    }
    assert settings.hidden_folders == {FolderName("Private/Ärzte"), FolderName("Work")}
    assert settings.allowed_recipients == ("a@example.com", "@example.org")
    assert settings.allowed_origins == ("https://app.example.com", "http://localhost:3000")
    (token,) = settings.tokens
    assert (token.digest_hex, token.scopes) == (DIGEST, {Scope.READ, Scope.SEND})


def test_submission_logs_in_as_the_mailbox_unless_told_otherwise() -> None:
    settings = load_settings(SENDING)
    assert settings.smtp_username == settings.username
    assert settings.smtp_password == settings.password
    other = load_settings({**SENDING, "MAIL_SMTP_USERNAME": "relay", "MAIL_SMTP_PASSWORD": "other"})
    assert other.smtp_username == "relay"
    assert other.smtp_password is not None
    assert other.smtp_password.get_secret_value() == "other"


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_a_password_file_gives_its_one_line_exactly(tmp_path: Path, ending: str) -> None:
    path = tmp_path / "password"
    path.write_bytes(f" pass wörd {ending}".encode())
    settings = load_settings({**MAILBOX, "MAIL_PASSWORD": "", "MAIL_PASSWORD_FILE": str(path)})
    assert settings.password is not None
    assert settings.password.get_secret_value() == " pass wörd "


@pytest.mark.parametrize("content", [b"", b"\n", b"two\nlines\n", b"nul\x00", b"\xff\xfe", b"x" * 70_000])
def test_a_password_file_without_one_line_of_text_is_a_problem(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "password"
    path.write_bytes(content)
    (problem,) = problems({**MAILBOX, "MAIL_PASSWORD": "", "MAIL_PASSWORD_FILE": str(path)})
    assert "MAIL_PASSWORD_FILE" in problem


def test_a_ca_file_must_hold_a_certificate(tmp_path: Path) -> None:
    path = tmp_path / "ca.pem"
    path.write_text("-----BEGIN PRIVATE KEY-----\n")
    (problem,) = problems({**HOME, "MAIL_TLS_CA_FILE": str(path)})
    assert "MAIL_TLS_CA_FILE" in problem
    path.write_text("-----BEGIN CERTIFICATE-----\n")
    assert load_settings({**HOME, "MAIL_TLS_CA_FILE": str(path)}).tls_ca_file == path


def test_the_store_is_upstash_when_its_two_variables_are_set() -> None:
    settings = load_settings({**HOME, **UPSTASH})
    assert settings.store.kind is StoreKind.UPSTASH
    assert settings.store_key[0].get_secret_value() == bytes(range(32))
    assert not [warning for warning in settings.warnings if "UPSTASH" in warning]
    assert load_settings({**HOME, **UPSTASH, "MAIL_STORE": "sqlite:x.db"}).store.path == Path("x.db")


@pytest.mark.parametrize("unused", [UPSTASH, {"UPSTASH_REDIS_REST_TOKEN": CANARY}])
def test_upstash_variables_beside_another_store_are_said_to_be_unused(unused: dict[str, str]) -> None:
    settings = load_settings({**HOME, **unused, "MAIL_STORE": "sqlite:x.db"})
    (warning,) = [warning for warning in settings.warnings if "UPSTASH" in warning]
    assert "UPSTASH_REDIS_REST_TOKEN" in warning
    assert "neither used nor checked" in warning
    assert CANARY not in warning


def test_a_remote_store_lets_a_serverless_host_send() -> None:
    assert Gate.SEND in load_settings({**SENDING, **UPSTASH, "VERCEL": "1"}).gates


def test_reading_on_a_serverless_host_needs_no_store() -> None:
    assert load_settings({**MAILBOX, "VERCEL": "1"}).missing == ()


def test_a_list_of_store_keys_keeps_its_order() -> None:
    second = base64.urlsafe_b64encode(b"\xff" * 32).decode()
    settings = load_settings({**HOME, "MAIL_STORE_KEY": f"{KEY}, {second}"})
    assert [key.get_secret_value() for key in settings.store_key] == [bytes(range(32)), b"\xff" * 32]


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"XDG_DATA_HOME": "/data"}, "/data/mailgate/store.sqlite3"),
        ({"XDG_DATA_HOME": "relative"}, "/home/owner/.local/share/mailgate/store.sqlite3"),
        ({"HOME": ""}, "None"),
    ],
)
def test_the_default_store_is_in_the_data_directory(environ: dict[str, str], expected: str) -> None:
    assert str(load_settings({**HOME, **environ}).store.path) == expected


def test_the_audience_defaults_to_the_public_url() -> None:
    assert load_settings({**HOME, **OAUTH}).oauth_audience == OAUTH["MAIL_PUBLIC_URL"]


# --- http ------------------------------------------------------------------------------------------------------


def test_http_without_a_way_to_know_callers_does_not_start() -> None:
    settings = load_settings(MAILBOX)
    assert any("MAIL_TOKENS" in problem for problem in check_http(settings))
    assert problems(MAILBOX, http=True) == check_http(settings)


def test_http_with_a_token_starts() -> None:
    settings = load_settings({**MAILBOX, "MAIL_TOKENS": f"{DIGEST}:mail.read"}, http=True)
    assert check_http(settings) == ()


@pytest.mark.parametrize("tokens", ["", f"{DIGEST}:mail.read"], ids=["alone", "beside static tokens"])
def test_http_with_an_issuer_starts(tokens: str) -> None:
    settings = load_settings({**MAILBOX, **OAUTH, "MAIL_TOKENS": tokens}, http=True)
    assert check_http(settings) == ()


def test_http_with_an_issuer_needs_the_public_url_that_its_metadata_names() -> None:
    environ = {**MAILBOX, **OAUTH, "MAIL_PUBLIC_URL": "", "MAIL_OAUTH_AUDIENCE": "mailgate"}
    (problem,) = problems(environ, http=True)
    assert "MAIL_PUBLIC_URL" in problem
    assert check_http(load_settings(environ)) == (problem,)


def test_a_wrong_token_entry_is_not_also_called_a_missing_one() -> None:
    assert len(problems({**MAILBOX, "MAIL_TOKENS": "x"}, http=True)) == 1


# --- secrets ---------------------------------------------------------------------------------------------------


def every_secret(tmp_path: Path) -> Settings:
    path = tmp_path / "smtp-password"
    path.write_text(f"file-{CANARY}\n")
    return load_settings(
        {
            **SENDING,
            "MAIL_SMTP_PASSWORD_FILE": str(path),
            "MAIL_STORE": f"rediss://user:{CANARY}@cache.example.com/0",
            "MAIL_STORE_KEY": base64.b64encode(CANARY.ljust(32).encode()).decode(),
            "UPSTASH_REDIS_REST_URL": "https://x.upstash.io",
            "UPSTASH_REDIS_REST_TOKEN": CANARY,
            "MAIL_TOKENS": f"{DIGEST}:mail.read",
        }
    )


def test_secrets_never_print(tmp_path: Path) -> None:
    settings = every_secret(tmp_path)
    key = base64.b64encode(CANARY.ljust(32).encode()).decode()
    for shown in (repr(settings), str(settings), repr(dict(settings.shown)), repr(settings.store_key)):
        assert CANARY not in shown
        assert key not in shown
        assert DIGEST not in shown


def test_shown_values_are_masked_and_have_a_source(tmp_path: Path) -> None:
    settings = every_secret(tmp_path)
    assert set(settings.shown) == set(settings.sources) == set(VARIABLES)
    assert settings.shown["MAIL_STORE"] == "rediss://***@cache.example.com/0"
    assert settings.shown["MAIL_PASSWORD"] == "set (masked)"
    assert settings.shown["MAIL_ENABLE_SEND"] == "1 (open)"
    assert settings.shown["MAIL_ENABLE_WRITES"] == "closed"
    assert settings.shown["MAIL_HIDDEN_FOLDERS"] == "unset"
    assert settings.shown["MAIL_SMTP_USERNAME"] == "as MAIL_USERNAME"
    assert load_settings(HOME).shown["MAIL_STORE"] == "sqlite:/home/owner/.local/share/mailgate/store.sqlite3"


@pytest.mark.parametrize("name", sorted(VARIABLES))
def test_no_problem_or_warning_repeats_what_was_written(name: str) -> None:
    environ = {**HOME, name: f"!{CANARY}\x01!"}
    assert CANARY not in said_about(environ)
    environ[name] = f" {CANARY} é*"
    assert CANARY not in said_about(environ)


def said_about(environ: dict[str, str]) -> str:
    """Everything that loading says, as text: problems when it is refused, warnings when it is not."""
    try:
        return "\n".join(load_settings(environ, http=True).warnings)
    except SettingsError as error:
        return f"{error} {error!r} {error.problems}"


@given(
    st.dictionaries(st.sampled_from(sorted(VARIABLES)), st.text(max_size=40) | st.sampled_from(["1", "*", ",", "::"]))
)
@settings(max_examples=300, deadline=None)
def test_whatever_is_written_the_answer_is_settings_or_a_list_of_problems(environ: dict[str, str]) -> None:
    written = {value for value in environ.values() if len(value) > 12}
    said = said_about({**HOME, **environ})
    assert not any(value in said for value in written)
