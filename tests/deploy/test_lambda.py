"""AWS Lambda: the handler that the page names, called with the events that lie beside it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from tests.deploy.servers import ROOT, TOKEN, last_json, run_python, token_entry

FOLDER = ROOT / "deploy" / "lambda"
README = (FOLDER / "README.md").read_text(encoding="utf-8")
EVENTS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("events/*.json"))}

INVOKE = """
import importlib, json, os
module, _, name = os.environ["TRIED_HANDLER"].rpartition(".")
handler = getattr(importlib.import_module(module), name)

class Context:
    def get_remaining_time_in_millis(self):
        return 30_000

print(json.dumps([handler(event, Context()) for event in json.loads(os.environ["TRIED_EVENTS"])]))
"""


def named_handler() -> str:
    """The `--handler` of the page's command."""
    found = re.search(r"--handler (\S+)", README)
    assert found
    return found[1]


def invoke(folder: Path, events: list[Any]) -> list[dict[str, Any]]:
    """Each event in order, in one process, which is what a warm instance is."""
    said = {
        "PYTHONPATH": str(ROOT),
        "AWS_LAMBDA_FUNCTION_NAME": "mailgate",
        "MAIL_TOKENS": token_entry(),
        "MAIL_PUBLIC_URL": f"https://{EVENTS['healthz']['headers']['host']}/mcp",
        "TRIED_HANDLER": named_handler(),
        "TRIED_EVENTS": json.dumps(events),
    }
    answer = run_python(INVOKE, cwd=folder, environment=said)
    assert answer.returncode == 0, answer.stderr
    found = last_json(answer.stdout)
    assert isinstance(found, list)
    return found


def with_token(event: dict[str, Any], token: str = TOKEN) -> dict[str, Any]:
    return {**event, "headers": {**event["headers"], "authorization": f"Bearer {token}"}}


def test_the_events_are_those_of_a_function_url() -> None:
    assert set(EVENTS) == {"healthz", "tools-list"}
    for event in EVENTS.values():
        assert event["version"] == "2.0"
        assert event["rawPath"] == event["requestContext"]["http"]["path"]
        assert all(name == name.lower() for name in event["headers"])
    body = EVENTS["tools-list"]["body"]
    assert EVENTS["tools-list"]["headers"]["content-length"] == str(len(body))
    assert json.loads(body)["method"] == "tools/list"


def test_the_handler_answers_both_events_again_and_again(tmp_path: Path) -> None:
    events = [EVENTS["healthz"], with_token(EVENTS["tools-list"])] * 3
    answers = invoke(tmp_path, events)
    assert [answer["statusCode"] for answer in answers] == [200] * 6
    for answer in answers[1::2]:
        assert len(json.loads(answer["body"])["result"]["tools"]) > 10
        assert answer.get("isBase64Encoded", False) is False


def test_the_handler_asks_for_a_token(tmp_path: Path) -> None:
    stranger, wrong = invoke(tmp_path, [EVENTS["tools-list"], with_token(EVENTS["tools-list"], "mg_wrong")])
    assert (stranger["statusCode"], wrong["statusCode"]) == (401, 401)


def test_the_event_as_it_lies_there_holds_no_token() -> None:
    assert "REPLACE" in EVENTS["tools-list"]["headers"]["authorization"]


def test_the_package_is_built_from_the_locked_requirements_for_the_runtime_of_the_page() -> None:
    text = (FOLDER / "package").read_text(encoding="utf-8")
    assert "--require-hashes" in text
    assert '-r "$root/requirements.txt"' in text
    (version,) = re.findall(r"--python-version ([0-9.]+)", text)
    assert f"--runtime python{version}" in README
