"""A1 to A8: how a call's arguments are understood, and which calls are refused before anything is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.contract.deployment import READ_TOOLS, Deployment, mailbox_with, on_demo, raw, uids
from tests.server.fakes import ERAS, Post

REFERENCE = {"folder": "INBOX", "uid_validity": 1_700_000_001, "uid": 3}
REQUIRED: dict[str, dict[str, Any]] = {
    "mail_read": {"reference": REFERENCE},
    "mail_get_attachment": {"reference": REFERENCE, "index": 1},
}
CANARY = "zq7canary"


# --- A1 ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("A1")
@pytest.mark.parametrize("name", READ_TOOLS)
@pytest.mark.parametrize("unknown", [CANARY, f"a {CANARY}\nnext: obey", "x" * 5000, "Postfach", ""])
async def test_an_unknown_argument_is_refused_and_a_strange_name_is_not_repeated(
    small: Deployment, name: str, unknown: str
) -> None:
    text = await small.fails("unknown_argument", name, {**REQUIRED.get(name, {}), unknown: 1})
    assert not unknown or unknown not in text
    assert CANARY not in text
    assert small.sent == []


@pytest.mark.requirement("A1")
@pytest.mark.parametrize(
    ("name", "arguments", "wrong", "right"),
    [
        ("mail_search", {"querry": "x"}, "querry", "query"),
        ("mail_search", {"form": "x"}, "form", "from"),
        ("mail_list_folders", {"include_count": True}, "include_count", "include_counts"),
        ("mail_read", {"reference": REFERENCE, "max_char": 5}, "max_char", "max_chars"),
        ("mail_get_attachment", {"reference": {**REFERENCE, "uidvalidity": 1}, "index": 1}, "uidvalidity", "uid_val"),
    ],
)
async def test_a_misspelt_argument_is_named_with_the_known_one(
    small: Deployment, name: str, arguments: dict[str, Any], wrong: str, right: str
) -> None:
    text = await small.fails("unknown_argument", name, arguments)
    assert wrong in text.splitlines()[0]
    assert right in text.splitlines()[1]
    assert small.sent == []


@pytest.mark.requirement("A1")
async def test_an_unknown_argument_is_refused_inside_a_reference_too(small: Deployment) -> None:
    text = await small.fails("unknown_argument", "mail_read", {"reference": {**REFERENCE, CANARY: 1}})
    assert CANARY not in text


# --- A2, A3, A4 --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("A2")
async def test_numbers_booleans_and_objects_are_understood_as_json_strings(small: Deployment) -> None:
    page = await small.ok("mail_search", {"limit": "2", "unread": "true"})
    assert uids(page["messages"]) == [3, 2]
    page = await small.ok("mail_search", {"limit": "25.0", "unread": "false"})
    assert uids(page["messages"]) == [5, 4]
    read = await small.ok("mail_read", {"reference": json.dumps(REFERENCE), "max_chars": "4", "offset": "1"})
    assert read["untrusted"]["text"] == "ome "
    read = await small.ok("mail_read", {"reference": {**REFERENCE, "uid": "3", "uid_validity": "1700000001"}})
    assert read["reference"] == REFERENCE
    read = await small.ok("mail_read", {"folder": "INBOX", "uid": "3", "uid_validity": "1700000001"})
    assert read["reference"] == REFERENCE
    rows = (await small.ok("mail_list_folders", {"include_counts": "true"}))["folders"]
    assert rows[0]["messages"] == 5


@pytest.mark.requirement("A3")
@pytest.mark.parametrize("word", ["null", "[1]", "true", "678", '{"a":1}', '"quoted"'])
async def test_a_string_that_looks_like_json_stays_the_word_it_is(word: str) -> None:
    mailbox = mailbox_with(raw(subject=f"about {word} here"), raw(subject="about something else"))
    async with on_demo(mailbox) as box:
        for name in ("subject", "query"):
            assert uids((await box.ok("mail_search", {name: word}))["messages"]) == [1], name


@pytest.mark.requirement("A3")
async def test_a_folder_may_be_called_null(small: Deployment) -> None:
    await small.fails("folder_not_found", "mail_search", {"folder": "null"})
    async with on_demo(mailbox_with()) as box:
        await box.fails("folder_not_found", "mail_search", {"folder": "[1]"})


@pytest.mark.requirement("A4")
@pytest.mark.parametrize(
    "arguments",
    [
        {"limit": True},
        {"limit": "true"},
        {"limit": 1.5},
        {"limit": "1.5"},
        {"limit": "two"},
        {"limit": [2]},
        {"limit": ""},
        {"limit": "1e400"},
        {"limit": "NaN"},
        {"unread": 1},
        {"unread": "1"},
        {"unread": "yes"},
        {"unread": "True"},
        {"flagged": 0},
        {"subject": 5},
        {"subject": ["x"]},
        {"subject": True},
        {"folder": {"name": "INBOX"}},
        {"order": "NEWEST"},
        {"order": 1},
        {"since": 20240101},
        {"cursor": 7},
    ],
    ids=str,
)
async def test_other_types_are_refused(small: Deployment, arguments: dict[str, Any]) -> None:
    text = await small.fails("invalid_argument", "mail_search", arguments)
    assert f"`{next(iter(arguments))}`" in text
    assert small.sent == []


@pytest.mark.requirement("A4")
@pytest.mark.parametrize("uid", [True, "true", 1.5, "1.5", 0, -1, 2**32, "4294967296", None, "", [3], "0x3", "3 4"])
async def test_what_is_no_uid_is_refused(small: Deployment, uid: Any) -> None:
    for reference in ({**REFERENCE, "uid": uid}, {**REFERENCE, "uid_validity": uid}):
        await small.fails("invalid_argument", "mail_read", {"reference": reference})
        await small.fails("invalid_argument", "mail_get_attachment", {"reference": reference, "index": 1})
    assert small.sent == []


@pytest.mark.requirement("A4")
async def test_a_whole_number_with_a_fraction_of_zero_is_that_number(small: Deployment) -> None:
    assert len((await small.ok("mail_search", {"limit": 2.0}))["messages"]) == 2
    assert (await small.read({**REFERENCE, "uid": 3.0}))["reference"] == REFERENCE


@pytest.mark.requirement("A4")
@pytest.mark.parametrize("name", ["mail_read", "mail_get_attachment"])
async def test_what_is_required_must_be_there(small: Deployment, name: str) -> None:
    for missing in REQUIRED[name]:
        arguments = {key: value for key, value in REQUIRED[name].items() if key != missing}
        assert f"`{missing}`" in await small.fails("invalid_argument", name, arguments)
    for missing in REFERENCE:
        reference = {key: value for key, value in REFERENCE.items() if key != missing}
        await small.fails("invalid_argument", name, {**REQUIRED[name], "reference": reference})


# --- A5 ----------------------------------------------------------------------------------------------------------

TWICE = {
    "message": '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"mail_search","arguments":{}}}',
    "method": '{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"mail_search"}}',
    "params": '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mail_read","name":"mail_search"}}',
    "arguments": '{"jsonrpc":"2.0","id":1,"method":"tools/call",'
    '"params":{"name":"mail_search","arguments":{"limit":1,"limit":2}}}',
    "escaped": '{"jsonrpc":"2.0","id":1,"method":"tools/call",'
    '"params":{"name":"mail_search","arguments":{"limit":1,"\\u006cimit":2}}}',
    "reference": '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mail_read","arguments":'
    '{"reference":{"folder":"INBOX","uid_validity":1700000001,"uid":1,"uid":2}}}}',
}


@pytest.mark.requirement("A5")
@pytest.mark.parametrize("where", list(TWICE))
async def test_a_body_with_a_key_twice_is_refused(small: Deployment, where: str) -> None:
    response = await Post(body=TWICE[where].encode()).to(small.app)
    assert response.status_code == 400
    assert response.json()["error"]["code"] == -32700
    assert "result" not in response.json()
    assert small.sent == []


@pytest.mark.requirement("A5")
async def test_the_same_key_in_two_objects_is_no_repetition(small: Deployment) -> None:
    arguments = {"reference": REFERENCE, "uid": 3}
    assert (await Post.call("mail_read", arguments).to(small.app)).json()["result"]["isError"] is False


@pytest.mark.requirement("A5")
async def test_a_reference_written_as_a_string_may_not_have_a_key_twice_either(small: Deployment) -> None:
    text = '{"folder":"INBOX","uid_validity":1700000001,"uid":1,"uid":2}'
    await small.fails("invalid_argument", "mail_read", {"reference": text})


# --- A6, A7, A8 --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("A6")
@pytest.mark.parametrize("beside", [{"uid": 4}, {"uid_validity": 1}, {"folder": "Archive"}, {**REFERENCE, "uid": 2}])
async def test_a_reference_and_other_fields_that_differ_are_refused(small: Deployment, beside: dict[str, Any]) -> None:
    await small.fails("invalid_argument", "mail_read", {"reference": REFERENCE, **beside})
    assert small.sent == []


@pytest.mark.requirement("A6")
@pytest.mark.parametrize("beside", [{"uid": 3}, {"uid": "3"}, {"folder": "inbox"}, REFERENCE])
async def test_a_reference_and_other_fields_that_agree_are_one_message(
    small: Deployment, beside: dict[str, Any]
) -> None:
    assert (await small.read(REFERENCE, **beside))["reference"] == REFERENCE


CONTROLS = ["\0", "\t", "\n", "\r\n", "\x1b", "\x7f", "\x85", "\x9f", "\u2028", "\u2029"]


@pytest.mark.requirement("A7")
@pytest.mark.parametrize("control", CONTROLS, ids=ascii)
async def test_a_control_character_in_any_string_is_refused(small: Deployment, control: str) -> None:
    for text in (f"a{control}b", control, f"INBOX{control}"):
        for name in ("folder", "query", "from", "to", "cc", "subject", "since", "before", "order", "cursor"):
            assert f"`{name}`" in await small.fails("invalid_argument", "mail_search", {name: text})
        await small.fails("invalid_argument", "mail_read", {"reference": {**REFERENCE, "folder": text}})
        await small.fails("invalid_argument", "mail_read", {**REFERENCE, "folder": text})
        await small.fails(
            "invalid_argument", "mail_get_attachment", {"reference": {**REFERENCE, "folder": text}, "index": 1}
        )
    assert small.sent == []


@pytest.mark.requirement("A8")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", [CANARY, "mail_Search", "", "mail_search ", "mail_send"])
async def test_a_tool_that_does_not_exist_is_a_protocol_error(small: Deployment, era: str, name: str) -> None:
    response = (await Post.call(name, {"folder": "INBOX"}, era=era).to(small.app)).json()
    assert response["error"]["code"] == -32602
    assert "result" not in response
    assert CANARY not in json.dumps(response)
    assert small.sent == []
