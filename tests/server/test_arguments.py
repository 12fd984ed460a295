"""What each tool takes: strict, and errors that name the argument and the rule."""

from __future__ import annotations

from typing import Any

import pytest

from mailgate.errors import CallerError, InvalidArgument, UnknownArgument
from mailgate.imap.values import FolderName
from mailgate.server.catalog import BY_NAME
from mailgate.server.validation import validate

REFERENCE = {"folder": "INBOX", "uid_validity": 7, "uid": 3}
CANARY = "canary-9d2e"


def given(tool: str, arguments: dict[str, Any]) -> Any:
    row = BY_NAME[tool]
    return validate(row.arguments, row.input_schema, arguments)


def refusal(tool: str, arguments: dict[str, Any]) -> CallerError:
    with pytest.raises(CallerError) as caught:
        given(tool, arguments)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("mail_search", {"limit": 0}, "`limit` must be at least 1."),
        ("mail_search", {"limit": 101}, "`limit` must be at most 100."),
        ("mail_search", {"limit": True}, "`limit` must be an integer."),
        ("mail_search", {"limit": 1.5}, "`limit` must be an integer."),
        ("mail_search", {"limit": "many"}, "`limit` must be an integer."),
        ("mail_search", {"limit": []}, "`limit` must be an integer."),
        (
            "mail_read",
            {"reference": {"folder": None, "uid_validity": 1, "uid": 1}},
            "`reference.folder` must be a string.",
        ),
        ("mail_get_attachment", {"reference": REFERENCE, "index": None}, "`index` must be an integer."),
        ("mail_search", {"limit": 10**30}, "`limit` must be at most 100."),
        ("mail_search", {"order": CANARY}, "`order` must be 'newest' or 'oldest'."),
        ("mail_search", {"subject": 5}, "`subject` must be a string."),
        ("mail_search", {"subject": ""}, "`subject` must not be empty; leave it out instead."),
        ("mail_search", {"subject": CANARY + "\n"}, "`subject` must not hold control characters."),
        ("mail_search", {"from": CANARY + "\u2028"}, "`from` must not hold control characters."),
        ("mail_search", {"query": "\ud800"}, "`query` must not hold control characters."),
        ("mail_search", {"query": "é" * 257}, "`query` must have at most 512 octets."),
        ("mail_search", {"unread": 1}, "`unread` must be true or false."),
        ("mail_search", {"folder": {}}, "`folder` must be a string."),
        ("mail_search", {"folder": "x" * 1001}, "`folder` must have at most 1000 octets."),
        ("mail_list_folders", {"include_counts": "yes"}, "`include_counts` must be true or false."),
        ("mail_read", {}, "`reference` is required, or `folder`, `uid_validity` and `uid` together."),
        (
            "mail_read",
            {"folder": "INBOX", "uid": 3},
            "`reference` is required, or `folder`, `uid_validity` and `uid` together.",
        ),
        ("mail_read", {"reference": CANARY}, "`reference` must be an object."),
        ("mail_read", {"reference": {"folder": "INBOX", "uid": 3}}, "`reference.uid_validity` is required."),
        ("mail_read", {"reference": {**REFERENCE, "uid": 2**32}}, "`reference.uid` must fit 32 bits."),
        ("mail_read", {"reference": {**REFERENCE, "uid": 0}}, "`reference.uid` must be at least 1."),
        ("mail_read", {"reference": {**REFERENCE, "uid": True}}, "`reference.uid` must be an integer."),
        ("mail_read", {"reference": REFERENCE, "max_chars": 262145}, "`max_chars` must be at most 262144."),
        ("mail_read", {"reference": REFERENCE, "offset": -1}, "`offset` must be at least 0."),
        ("mail_get_attachment", {"reference": REFERENCE}, "`index` is required."),
        ("mail_get_attachment", {"reference": REFERENCE, "index": 0}, "`index` must be at least 1."),
    ],
)
def test_an_error_names_the_argument_and_the_rule_and_no_value(
    tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    error = refusal(tool, arguments)
    assert isinstance(error, InvalidArgument)
    assert error.sentence == sentence
    assert CANARY not in error.render()


@pytest.mark.parametrize(
    ("tool", "arguments", "shown", "meant"),
    [
        ("mail_search", {"subjct": CANARY}, "`subjct`", "`subject`"),
        ("mail_search", {"from_": CANARY}, "`from_`", "`from`"),
        ("mail_read", {"refrence": REFERENCE}, "`refrence`", "`reference`"),
        (
            "mail_read",
            {"reference": {**REFERENCE, "uidvalidity": 7}},
            "`reference.uidvalidity`",
            "`reference.uid_validity`",
        ),
    ],
)
def test_a_misspelt_name_is_shown_with_the_one_it_is_close_to(
    tool: str, arguments: dict[str, Any], shown: str, meant: str
) -> None:
    error = refusal(tool, arguments)
    assert isinstance(error, UnknownArgument)
    assert shown in error.sentence
    assert meant in error.next_step
    assert CANARY not in error.render()


@pytest.mark.parametrize("name", [CANARY, "subject\n", "ſubject", "subject" * 7, "bcc_list", ""])
def test_any_other_unknown_name_is_refused_without_being_shown(name: str) -> None:
    error = refusal("mail_search", {name: "x"})
    assert isinstance(error, UnknownArgument)
    assert error.render() == UnknownArgument().render()


@pytest.mark.parametrize("tool", ["mail_capabilities", "mail_list_folders", "mail_search", "mail_get_attachment"])
def test_only_a_read_takes_the_reference_apart(tool: str) -> None:
    assert isinstance(refusal(tool, {"uid": 3}), UnknownArgument)


def test_fields_beside_the_reference_must_say_the_same() -> None:
    assert given("mail_read", {"reference": REFERENCE, "uid": 3, "folder": "inbox"}).named.uid == 3
    for beside in ({"uid": 4}, {"uid_validity": 8}, {"folder": "Sent"}):
        error = refusal("mail_read", {"reference": REFERENCE, **beside})
        assert error.sentence == "`reference` and the fields beside it name different messages."


def test_the_three_fields_alone_are_the_reference() -> None:
    reference = given("mail_read", dict(REFERENCE)).named.to_reference()
    assert (reference.folder, reference.uid_validity, reference.uid) == (FolderName("INBOX"), 7, 3)


def test_an_explicit_null_is_the_absence_of_an_optional_filter() -> None:
    assert given("mail_search", {"subject": None, "cursor": None}).subject is None


def test_the_word_null_is_a_search_term() -> None:
    assert given("mail_search", {"subject": "null"}).subject == "null"


def test_the_defaults_are_those_of_the_published_schema() -> None:
    for row in BY_NAME.values():
        fields = row.arguments.model_fields
        published = row.input_schema["properties"]
        for name, field in fields.items():
            schema = published[field.alias or name]
            if "default" in schema:
                assert schema["default"] == field.default
            else:
                assert field.is_required() or field.default is None


# --- the changing tools ------------------------------------------------------------------------------------------


def test_a_whole_call_written_as_json_strings_is_understood() -> None:
    flags = given(
        "mail_set_flags",
        {
            "reference": '{"folder":"INBOX","uid_validity":"7","uid":"3"}',
            "operation": "add",
            "flags": '["\\\\seen", "work"]',
            "unchanged_since": "9223372036854775807",
        },
    )
    assert flags.delta.flags == ("\\Seen", "work")
    assert flags.since == 2**63 - 1
    message = '{"to":["a@example.org"],"attachments":[{"filename":"a","content_type":"a/b","data_base64":"YQ=="}]}'
    draft = given("mail_save_draft", {"message": message}).message.to_composition()
    assert (draft.to, draft.attachments[0].data) == (("a@example.org",), b"a")


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("mail_set_flags", {"flags": []}, "`flags` must have at least 1 of them."),
        ("mail_set_flags", {"flags": ["x"] * 21}, "`flags` must have at most 20 of them."),
        ("mail_set_flags", {"flags": "x"}, "`flags` must be an array."),
        ("mail_set_flags", {"operation": CANARY}, "`operation` must be 'add' or 'remove'."),
        ("mail_set_flags", {"unchanged_since": 5}, "`unchanged_since` must be a string."),
        (
            "mail_set_flags",
            {"unchanged_since": CANARY},
            "`unchanged_since` must be a modseq as the tools give it, in decimal digits.",
        ),
        ("mail_copy", {}, "`destination` is required."),
        ("mail_move", {"destination": ""}, "`destination` must not be empty; leave it out instead."),
        ("mail_create_folder", {}, "`name` is required."),
        ("mail_rename_folder", {"old": "a"}, "`new` is required."),
        ("mail_save_draft", {}, "`message` is required."),
        ("mail_save_draft", {"message": {"to": "a@example.org"}}, "`message.to` must be an array."),
        ("mail_save_draft", {"message": {"subject": "a\nb"}}, "`message.subject` must not hold control characters."),
        ("mail_save_draft", {"message": {"attachments": [{}]}}, "`message.attachments.0.filename` is required."),
        ("mail_trash", {}, "`reference` is required, or `folder`, `uid_validity` and `uid` together."),
    ],
)
def test_an_error_of_a_changing_tool_names_the_argument(tool: str, arguments: dict[str, Any], sentence: str) -> None:
    whole = {
        "mail_set_flags": {"reference": REFERENCE, "operation": "add", "flags": ["x"]},
        "mail_copy": {"reference": REFERENCE},
        "mail_move": {"reference": REFERENCE},
    }
    error = refusal(tool, {**whole.get(tool, {}), **arguments})
    assert error.sentence == sentence
    assert CANARY not in error.render()


def test_a_misspelt_field_of_a_message_is_named_with_the_known_one() -> None:
    error = refusal("mail_save_draft", {"message": {"subjekt": "x"}})
    assert isinstance(error, UnknownArgument)
    assert "`message.subject`" in error.next_step
