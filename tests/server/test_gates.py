"""Who may call what: every tool under every combination of flags and scopes, against a table written by hand.

A mail server listens all the while, and whatever is refused must not so much as connect to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from itertools import chain, combinations

import pytest

from mailgate.app import build_app, build_service
from mailgate.policy import Principal, Scope
from mailgate.server.catalog import TOOLS
from mailgate.settings import Settings, load_settings
from tests.server.fakes import ENVIRONMENT, Post, token_entry

READ, WRITE, SEND = "mail.read", "mail.write", "mail.send"
FLAGS = ("MAIL_ENABLE_WRITES", "MAIL_ENABLE_DELETE", "MAIL_ENABLE_SEND")
WRITES, DELETE, SENDS = FLAGS

# Not read off the catalog: this is what the operator and the owner were promised.
TABLE: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "mail_capabilities": ((READ,), ()),
    "mail_list_folders": ((READ,), ()),
    "mail_search": ((READ,), ()),
    "mail_read": ((READ,), ()),
    "mail_get_attachment": ((READ,), ()),
    "mail_set_flags": ((READ, WRITE), (WRITES,)),
    "mail_create_folder": ((READ, WRITE), (WRITES,)),
    "mail_rename_folder": ((READ, WRITE), (WRITES,)),
    "mail_copy": ((READ, WRITE), (WRITES,)),
    "mail_move": ((READ, WRITE), (WRITES,)),
    "mail_trash": ((READ, WRITE), (WRITES,)),
    "mail_save_draft": ((READ, WRITE), (WRITES,)),
    "mail_delete_permanently": ((READ, WRITE), (WRITES, DELETE)),
    "mail_prepare_send": ((READ, SEND), (SENDS,)),
    "mail_prepare_reply": ((READ, SEND), (SENDS,)),
    "mail_prepare_forward": ((READ, SEND), (SENDS,)),
    "mail_send_confirmed": ((READ, SEND), (SENDS,)),
    "mail_send_confirmed append_sent": ((READ, WRITE, SEND), (WRITES, SENDS)),
}
CANARY = "zq7canary"
REFERENCE = {"folder": "INBOX", "uid_validity": 7, "uid": 3}


def subsets(of: tuple[str, ...]) -> list[tuple[str, ...]]:
    return list(chain.from_iterable(combinations(of, size) for size in range(len(of) + 1)))


EVERY_FLAGS = pytest.mark.parametrize("flags", subsets(FLAGS), ids=lambda flags: "+".join(flags) or "none")
EVERY_SCOPES = subsets((READ, WRITE, SEND))


def expected(tool: str, flags: tuple[str, ...], scopes: tuple[str, ...]) -> str | None:
    """The refusal, gates before scopes, or None."""
    needed_scopes, needed_flags = TABLE[tool]
    if set(needed_flags) - set(flags):
        return "gate_closed"
    return "scope_missing" if set(needed_scopes) - set(scopes) else None


def call_of(row: str) -> tuple[str, dict[str, object]]:
    """The tool of a row, and arguments that are wrong in any case."""
    name, _, argument = row.partition(" ")
    return name, {CANARY: 1, **({argument: True} if argument else {})}


def token(scopes: tuple[str, ...]) -> str:
    return "matrix-token-" + "-".join(scopes)


@dataclass
class Listener:
    """Accepts, counts, and answers nothing."""

    port: int
    connections: list[asyncio.StreamWriter] = field(default_factory=list)

    def settings(self, flags: dict[str, str]) -> Settings:
        tokens = ",".join(token_entry(token(scopes), "+".join(scopes)) for scopes in EVERY_SCOPES if scopes)
        return load_settings(
            {
                **ENVIRONMENT,
                "MAIL_IMAP_HOST": "127.0.0.1",
                "MAIL_IMAP_PORT": str(self.port),
                "MAIL_IMAP_SECURITY": "plaintext",
                "MAIL_FROM": "owner@example.org",
                "MAIL_SMTP_HOST": "127.0.0.1",
                "MAIL_SMTP_SECURITY": "plaintext",
                "MAIL_UPSTREAM_TIMEOUT_SECONDS": "1",
                "MAIL_STORE": "sqlite:/nonexistent/store",
                "MAIL_TOKENS": tokens,
                **flags,
            }
        )


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    heard: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(lambda _reader, writer: heard.append(writer), "127.0.0.1", 0)
    yield Listener(server.sockets[0].getsockname()[1], heard)
    server.close()
    for writer in heard:
        writer.close()


def opened(flags: tuple[str, ...]) -> dict[str, str]:
    return dict.fromkeys(flags, "1")


def cases() -> Iterator[tuple[str, tuple[str, ...]]]:
    return ((tool, scopes) for tool in TABLE for scopes in EVERY_SCOPES)


def test_of_all_cells_254_are_allowed() -> None:
    cells = [(row, flags, scopes) for row in TABLE for flags in subsets(FLAGS) for scopes in EVERY_SCOPES]
    assert len(cells) == 1152
    assert sum(expected(*cell) is None for cell in cells) == 254


@pytest.mark.parametrize(
    ("said", "more"), [(True, True), ("true", True), (" true ", True), (False, False), ("x", False)]
)
async def test_a_copy_needs_more_however_a_client_writes_true(listener: Listener, said: object, more: bool) -> None:
    """What is understood as true must be seen as true by whoever decides."""
    service = build_service(listener.settings(opened(FLAGS)))
    app = build_app(listener.settings(opened(FLAGS)))
    arguments = {"prepared_id": "p_x", "confirmed_digest": "0" * 64, "append_sent": said}
    narrow = Principal("test", "caller", frozenset({Scope.READ, Scope.SEND}))
    answer = await service.dispatcher.call("mail_send_confirmed", arguments, narrow)
    assert answer.text.startswith("error scope_missing: ") is more, answer.text
    response = await Post.call("mail_send_confirmed", arguments, token=token((READ, SEND))).to(app)
    assert (response.status_code == 403) is more
    assert listener.connections == []


def test_the_table_has_every_tool() -> None:
    assert list(dict.fromkeys(call_of(row)[0] for row in TABLE)) == [tool.name for tool in TOOLS]


@pytest.mark.requirement("W1")
@EVERY_FLAGS
async def test_every_call_is_decided_by_flags_and_scopes_alone(listener: Listener, flags: tuple[str, ...]) -> None:
    service = build_service(listener.settings(opened(flags)))
    for tool, scopes in cases():
        principal = Principal("test", "caller", frozenset(map(Scope, scopes)))
        answer = await service.dispatcher.call(*call_of(tool), principal)
        # What is allowed gets as far as the arguments, which are wrong on purpose.
        code = expected(tool, flags, scopes) or "unknown_argument"
        assert answer.text.startswith(f"error {code}: "), (tool, flags, scopes, answer.text)
    assert listener.connections == []


@pytest.mark.requirement("W2")
@EVERY_FLAGS
async def test_over_http_a_missing_scope_is_403_naming_every_scope_of_the_call(
    listener: Listener, flags: tuple[str, ...]
) -> None:
    app = build_app(listener.settings(opened(flags)))
    for tool, scopes in cases():
        if not scopes:
            continue  # a token has at least one scope
        response = await Post.call(*call_of(tool), token=token(scopes)).to(app)
        code = expected(tool, flags, scopes)
        if code == "scope_missing":
            assert response.status_code == 403, (tool, scopes)
            assert response.json()["error"] == "insufficient_scope"
            challenge = f'Bearer error="insufficient_scope", scope="{" ".join(TABLE[tool][0])}"'
            assert response.headers["www-authenticate"] == challenge
        else:
            assert response.status_code == 200, (tool, scopes)
            text = response.json()["result"]["content"][0]["text"]
            assert text.startswith(f"error {code or 'unknown_argument'}: ")
    assert listener.connections == []


@pytest.mark.requirement("W1")
@pytest.mark.parametrize("value", ["true", "yes", "on", "TRUE", "0", "01", "2", " 1", "1 ", "１"], ids=ascii)
async def test_only_the_exact_value_1_opens_a_gate_and_any_other_warns(listener: Listener, value: str) -> None:
    configured = listener.settings(dict.fromkeys(FLAGS, value))
    assert configured.gates == frozenset()
    for flag in FLAGS:
        assert any(flag in warning for warning in configured.warnings), flag
    service = build_service(configured)
    everyone = Principal("test", "caller", frozenset(Scope))
    for tool, (_, needed) in TABLE.items():
        answer = await service.dispatcher.call(*call_of(tool), everyone)
        assert answer.text.startswith("error gate_closed: " if needed else "error unknown_argument: ")
    assert listener.connections == []


@pytest.mark.requirement("W2")
@pytest.mark.parametrize("wrong", ["mail_set_flags", "mail_create_folder", "mail_trash", "mail_save_draft"])
async def test_wrong_arguments_do_not_connect_either(listener: Listener, wrong: str) -> None:
    service = build_service(listener.settings(opened(FLAGS)))
    everyone = Principal("test", "caller", frozenset(Scope))
    arguments = {
        "mail_set_flags": {"reference": REFERENCE, "operation": "add", "flags": ["\\Deleted"]},
        "mail_create_folder": {"name": "a\u202eb"},
        "mail_trash": {"reference": {**REFERENCE, "uid": "1:*"}},
        "mail_save_draft": {"message": {"to": ["Ann <ann@example.org>"]}},
    }
    answer = await service.dispatcher.call(wrong, arguments[wrong], everyone)
    assert answer.text.startswith("error invalid_argument: "), answer.text
    assert listener.connections == []


async def test_an_allowed_call_does_connect(listener: Listener) -> None:
    """Or the silence above would prove nothing."""
    service = build_service(listener.settings(opened(FLAGS)))
    everyone = Principal("test", "caller", frozenset(Scope))
    answer = await service.dispatcher.call("mail_trash", {"reference": REFERENCE}, everyone)
    assert answer.text.startswith("error upstream_timeout: ")
    assert len(listener.connections) == 1
