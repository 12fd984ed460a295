"""Nothing secret, and nothing that a caller or a message said, in a log at any level or in an error."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from mailgate.errors import UpstreamRefused
from mailgate.imap.capabilities import CapabilitySet
from mailgate.server.telemetry import configure_logging
from tests.read.fakes import FakeMessage
from tests.server.fakes import (
    BARE_TOKEN,
    ENVIRONMENT,
    ERAS,
    OWNER_TOKEN,
    PASSWORD,
    READ_TOKEN,
    TOKENS,
    Post,
    application,
    http_client,
    inbox,
    mailbox,
    settings,
)
from tests.write.fakes import WritableFakeMailbox

ARGUMENT = "canary-argument-51c3"
MAIL = "canary-mail-8e1f"
SERVER = "canary-server-text-2d4a"
REFERENCE = {"folder": "INBOX", "uid_validity": 1700000000, "uid": 1}
SECRETS = [OWNER_TOKEN, READ_TOKEN, BARE_TOKEN, PASSWORD, *TOKENS.replace(":", ",").split(",")[::2]]
SPOKEN = [ARGUMENT, MAIL, SERVER, "ada@example", "owner@example", "imap.example.net", "Weekly", "figures"]

SUCCESSES: list[tuple[str, dict[str, Any]]] = [
    ("mail_capabilities", {}),
    ("mail_list_folders", {"include_counts": True}),
    ("mail_search", {"query": MAIL, "subject": "weekly"}),
    ("mail_read", {"reference": REFERENCE}),
    ("mail_get_attachment", {"reference": REFERENCE, "index": 1}),
    ("mail_search", {"previews": True}),
    ("mail_read", {"references": [REFERENCE, {**REFERENCE, "folder": ARGUMENT}], "max_chars": 5}),
    ("mail_read", {"reference": REFERENCE, "headers_only": True}),
    ("mail_get_attachment", {"reference": REFERENCE, "index": 1, "as": "text"}),
    ("mail_set_flags", {"reference": REFERENCE, "operation": "add", "flags": [ARGUMENT]}),
    ("mail_create_folder", {"name": ARGUMENT}),
    ("mail_rename_folder", {"old": ARGUMENT, "new": f"{ARGUMENT}-2"}),
    ("mail_copy", {"reference": REFERENCE, "destination": f"{ARGUMENT}-2"}),
    ("mail_save_draft", {"message": {"to": [f"{ARGUMENT}@example.net"], "subject": ARGUMENT}, "folder": "INBOX"}),
    ("mail_move", {"reference": REFERENCE, "destination": f"{ARGUMENT}-2"}),
    ("mail_delete_permanently", {"reference": {**REFERENCE, "uid": 2}}),
]
FAILURES: list[tuple[str, dict[str, Any]]] = [
    ("mail_capabilities", {ARGUMENT: 1}),
    ("mail_list_folders", {"include_counts": ARGUMENT}),
    ("mail_search", {"folder": ARGUMENT}),
    ("mail_search", {"folder": f"role:{ARGUMENT}"}),
    ("mail_search", {"cursor": ARGUMENT}),
    ("mail_search", {"since": ARGUMENT}),
    ("mail_search", {"order": ARGUMENT}),
    ("mail_search", {"subject": ARGUMENT * 100}),
    ("mail_search", {"query": ARGUMENT + "\r\n"}),
    ("mail_read", {"reference": {**REFERENCE, "folder": ARGUMENT}}),
    ("mail_read", {"reference": {**REFERENCE, "uid": ARGUMENT}}),
    ("mail_read", {"reference": {**REFERENCE, ARGUMENT: 1}}),
    ("mail_read", {"reference": ARGUMENT}),
    ("mail_read", {"reference": {**REFERENCE, "uid": 99}}),
    ("mail_read", {"reference": {**REFERENCE, "uid_validity": 1}}),
    ("mail_read", {"reference": REFERENCE, "offset": 100000}),
    ("mail_read", {"references": [{**REFERENCE, ARGUMENT: 1}]}),
    ("mail_read", {"references": ARGUMENT}),
    ("mail_read", {"reference": REFERENCE, "quoted": ARGUMENT}),
    ("mail_get_attachment", {"reference": REFERENCE, "index": 1, "as": ARGUMENT}),
    ("mail_get_attachment", {"reference": REFERENCE, "index": 9}),
    ("mail_set_flags", {"reference": REFERENCE, "operation": ARGUMENT, "flags": ["x"]}),
    ("mail_set_flags", {"reference": REFERENCE, "operation": "add", "flags": [f"\\{ARGUMENT}"]}),
    ("mail_set_flags", {"reference": REFERENCE, "operation": "add", "flags": ["x"], "unchanged_since": ARGUMENT}),
    ("mail_create_folder", {"name": f"role:{ARGUMENT}"}),
    ("mail_rename_folder", {"old": ARGUMENT, "new": f"{ARGUMENT}-2"}),
    ("mail_copy", {"reference": REFERENCE, "destination": ARGUMENT}),
    ("mail_move", {"reference": {**REFERENCE, "folder": ARGUMENT}, "destination": "INBOX"}),
    ("mail_trash", {"reference": {**REFERENCE, "uid": 99}}),
    ("mail_save_draft", {"message": {"to": [ARGUMENT]}}),
    ("mail_save_draft", {"message": {"subject": f"{ARGUMENT}\r\nBcc: x"}}),
    ("mail_save_draft", {"message": {}, "folder": ARGUMENT}),
    ("mail_delete_permanently", {"reference": {**REFERENCE, "uid_validity": 1}}),
]
OPEN = {"MAIL_ENABLE_WRITES": "1", "MAIL_ENABLE_DELETE": "1", "MAIL_FROM": "owner@example.org"}


@pytest.fixture
def logs(caplog: pytest.LogCaptureFixture) -> Iterator[io.StringIO]:
    """Our own handler at debug level, beside pytest's, on the root logger."""
    root = logging.getLogger()
    before = (list(root.handlers), root.level)
    stream = io.StringIO()
    configure_logging("debug", "json", stream)
    root.addHandler(caplog.handler)
    caplog.handler.setLevel(0)
    try:
        yield stream
    finally:
        root.handlers[:], _ = before[0], root.setLevel(before[1])


def box() -> WritableFakeMailbox:
    folder = inbox(2)
    for held in folder.content.values():
        held.subject = f"Weekly {MAIL}"
        held.source = held.source.replace(b"Weekly", f"Weekly {MAIL}".encode()).replace(
            b"figures.csv", f"{MAIL}.csv".encode()
        )
        held.block = None
    folder.append(FakeMessage(subject=MAIL))
    box = mailbox(folder)
    box.announced = box.inbox.capabilities = CapabilitySet.of(["IMAP4rev1", "MOVE", "UIDPLUS"])
    return box


def assert_quiet(text: str) -> None:
    for canary in [*SECRETS, *SPOKEN]:
        assert canary not in text


@pytest.mark.parametrize("era", ERAS)
async def test_successful_calls_log_names_of_ours_only(
    era: str, logs: io.StringIO, caplog: pytest.LogCaptureFixture
) -> None:
    app = application(settings(**OPEN), box())
    for name, arguments in SUCCESSES:
        response = await Post.call(name, arguments, era=era).to(app)
        assert response.json()["result"]["isError"] is False, response.text
        assert all(secret not in response.text for secret in SECRETS)
    lines = [json.loads(line) for line in logs.getvalue().splitlines()]
    calls = [line for line in lines if line["event"] == "call"]
    assert [(line["tool"], line["code"]) for line in calls] == [(name, "ok") for name, _ in SUCCESSES]
    assert len({line["request_id"] for line in calls}) == len(SUCCESSES)
    assert "-" not in {line["request_id"] for line in calls}
    assert_quiet(logs.getvalue())
    assert_quiet(caplog.text)


@pytest.mark.parametrize("era", ERAS)
async def test_failed_calls_repeat_nothing_in_the_answer_or_the_log(
    era: str, logs: io.StringIO, caplog: pytest.LogCaptureFixture
) -> None:
    app = application(settings(**OPEN), box())
    for name, arguments in FAILURES:
        response = await Post.call(name, arguments, era=era).to(app)
        assert response.json()["result"]["isError"] is True, (name, arguments)
        assert_quiet(response.json()["result"]["content"][0]["text"])
    assert_quiet(logs.getvalue())
    assert_quiet(caplog.text)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "error",
    [RuntimeError(f"{MAIL} {PASSWORD}"), UpstreamRefused(server_text=SERVER.encode()), UnicodeError(SERVER)],
    ids=lambda error: type(error).__name__,
)
async def test_what_an_exception_holds_stays_in_it(
    era: str, error: Exception, logs: io.StringIO, caplog: pytest.LogCaptureFixture
) -> None:
    held = box()

    def fail(command: str) -> None:
        raise error

    next(iter(held.folders.values())).before = fail
    response = await Post.call("mail_search", {"query": ARGUMENT}, era=era).to(application(box=held))
    assert response.json()["result"]["isError"] is True
    assert_quiet(response.text)
    assert_quiet(logs.getvalue())
    assert_quiet(caplog.text)


@pytest.mark.parametrize("era", ERAS)
async def test_refused_requests_repeat_nothing(era: str, logs: io.StringIO, caplog: pytest.LogCaptureFixture) -> None:
    app = application(box=box())
    posts = [
        Post.call(ARGUMENT, era=era),
        Post(ARGUMENT, era=era),
        Post.call("mail_search", era=era, token=ARGUMENT),
        Post.call("mail_search", era=era, headers={"Origin": f"https://{ARGUMENT}.example"}),
        Post.call("mail_search", era=era, headers={"Host": f"{ARGUMENT}.example"}),
        Post.call("mail_search", era=era, headers={"Content-Type": f"text/{ARGUMENT}"}),
        Post.call("mail_search", era=era, headers={"Mcp-Name": ARGUMENT, "Mcp-Method": ARGUMENT}),
        Post.call("mail_search", era=era, headers={"Accept": f"text/{ARGUMENT}"}),
        Post(body=f'{{"{ARGUMENT}'.encode()),
        Post(body=f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":["{ARGUMENT}"]}}}}'.encode()),
        Post(body=f'{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"{ARGUMENT}"}}'.encode()),
        Post(body=f'{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"x":"{ARGUMENT}"}}}}'.encode()),
    ]
    for post in posts:
        response = await post.to(app)
        assert_quiet(response.text)
        assert_quiet(str(response.headers))
    async with http_client(app) as client:
        await client.get(f"/{ARGUMENT}?{ARGUMENT}=1")
    assert_quiet(logs.getvalue())
    assert_quiet("\n".join(record.getMessage() for record in caplog.records if record.name != "httpx2"))


async def test_settings_and_service_do_not_print_their_secrets() -> None:
    from tests.server.fakes import service

    printed = repr(settings()) + repr(service(box=box()).dispatcher.backend)
    for secret in (PASSWORD, *SECRETS):
        assert secret not in printed
    assert ENVIRONMENT["MAIL_PASSWORD"] == PASSWORD
