"""Each bound of a composition at its exact edge, over real HTTP: what just fits is prepared, one more is refused."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.send.limits.compositions import (
    COMPLETE,
    DECODED,
    LONGEST_NAME,
    MIB,
    SUBJECT,
    attachments,
    brimful,
    noise,
    people,
    split,
)
from tests.send.limits.conftest import Preparing, sending
from tests.send.real.serving import Result, served

ANN = {"to": ["ann@example.com"]}
LINES = "0123456789" * 7 + "\n"


def text(octets: int) -> str:
    """Lines of plain text, so many octets with line ends of one."""
    whole, rest = divmod(octets, len(LINES))
    return LINES * whole + "y" * rest


def one_file(octets: int, name: str = "a.bin") -> list[Result]:
    data = base64.b64encode(noise(octets)).decode()
    return [{"filename": name, "content_type": "application/octet-stream", "data_base64": data}]


def roles(to: int, cc: int, bcc: int) -> Result:
    everybody = people(to + cc + bcc)
    return {"to": everybody[:to], "cc": everybody[to : to + cc], "bcc": everybody[to + cc :]}


@dataclass(frozen=True)
class Edge:
    """What just fits, what just does not, and the argument that the refusal names."""

    fits: Callable[[], Result]
    exceeds: Callable[[], Result]
    named: str


EDGES = {
    "50 recipients in To": Edge(lambda: roles(50, 0, 0), lambda: roles(51, 0, 0), "message.to"),
    "50 recipients in all roles": Edge(lambda: roles(17, 17, 16), lambda: roles(17, 17, 17), "message.bcc"),
    "50 recipients in Bcc": Edge(lambda: roles(0, 0, 50), lambda: roles(0, 0, 51), "message.bcc"),
    "50 recipients, one of them repeated": Edge(
        lambda: {"to": [*people(49), people(1)[0]]}, lambda: {"to": [*people(50), people(1)[0]]}, "message.to"
    ),
    "512 octets of subject": Edge(
        lambda: {**ANN, "subject": "s" * 512}, lambda: {**ANN, "subject": "s" * 513}, "message.subject"
    ),
    "512 octets of subject beyond ASCII": Edge(
        lambda: {**ANN, "subject": SUBJECT}, lambda: {**ANN, "subject": SUBJECT + "s"}, "message.subject"
    ),
    "512 octets of subject beyond the first plane": Edge(
        lambda: {**ANN, "subject": "😀" * 128}, lambda: {**ANN, "subject": "😀" * 127 + "éé" + "s"}, "message.subject"
    ),
    "1 MiB of text": Edge(lambda: {**ANN, "text": text(MIB)}, lambda: {**ANN, "text": text(MIB) + "y"}, "message.text"),
    "1 MiB of text in one line": Edge(
        lambda: {**ANN, "text": "y" * MIB}, lambda: {**ANN, "text": "y" * (MIB + 1)}, "message.text"
    ),
    "1 MiB of text with line ends of two": Edge(
        lambda: {**ANN, "text": text(MIB).replace("\n", "\r\n")},
        lambda: {**ANN, "text": text(MIB + 1).replace("\n", "\r\n")},
        "message.text",
    ),
    "20 attachments": Edge(
        lambda: {**ANN, "attachments": attachments([1] * 20)},
        lambda: {**ANN, "attachments": attachments([1] * 21)},
        "message.attachments",
    ),
    "3 MiB in one attachment": Edge(
        lambda: {**ANN, "attachments": one_file(DECODED)},
        lambda: {**ANN, "attachments": one_file(DECODED + 1)},
        "message.attachments",
    ),
    "3 MiB in twenty attachments": Edge(
        lambda: {**ANN, "attachments": attachments(split(DECODED, 20))},
        lambda: {**ANN, "attachments": attachments(split(DECODED + 1, 20))},
        "message.attachments",
    ),
    "200 characters of file name": Edge(
        lambda: {**ANN, "attachments": one_file(1, LONGEST_NAME)},
        lambda: {**ANN, "attachments": one_file(1, "x" + LONGEST_NAME)},
        "message.attachments.0.filename",
    ),
}


def shown(message: Result) -> Result:
    """What the review of a composition has to say, from the composition alone."""
    files = [(each["filename"], base64.b64decode(each["data_base64"])) for each in message.get("attachments", [])]
    recipients = [address for role in ("to", "cc", "bcc") for address in message.get(role, [])]
    return {
        "subject": message.get("subject", ""),
        "text": message.get("text", "").replace("\r\n", "\n").removesuffix("\n"),
        "recipients": list(dict.fromkeys(recipients)),
        "attachments": [(name, len(data), hashlib.sha256(data).hexdigest()) for name, data in files],
    }


def told(review: Result) -> Result:
    return {
        "subject": review["subject"],
        "text": review["text"],
        "recipients": [*review["to"], *review["cc"], *review["bcc"]],
        "attachments": [(each["filename"], each["size"], each["sha256"]) for each in review["attachments"]],
    }


async def prepare(at: Preparing, message: Result) -> Result:
    return await at.server.ok("mail_prepare_send", {"message": message})


async def refused(at: Preparing, message: Result) -> str:
    """The one line that says why; and nothing was stored."""
    before = at.stored()
    failure = await at.server.fails("mail_prepare_send", {"message": message})
    assert at.stored() == before
    return failure.splitlines()[0]


@pytest.mark.requirement("WD4", "SP1")
@pytest.mark.parametrize("name", EDGES)
async def test_what_just_fits_is_prepared_and_one_more_is_refused(preparing: Preparing, name: str) -> None:
    edge = EDGES[name]
    message = edge.fits()
    review = await prepare(preparing, message)
    assert told(review) == shown(message)
    assert review["size"] <= COMPLETE
    failure = await refused(preparing, edge.exceeds())
    assert failure.startswith("error limit_exceeded: ")
    assert f"`{edge.named}`" in failure


@pytest.mark.requirement("WD4")
@pytest.mark.parametrize("over", [1, 2, 72])
async def test_a_message_of_five_mebibytes_is_prepared_and_a_larger_one_refused(
    preparing: Preparing, over: int
) -> None:
    async def prepared(message: Result) -> Result:
        return await prepare(preparing, message)

    review, message = await brimful(prepared)
    assert review["size"] == COMPLETE
    assert told(review) == shown(message)

    async def attempted(message: Result) -> Result:
        answer = await preparing.server.call("mail_prepare_send", {"message": message})
        structured: Result | None = answer.get("structuredContent")
        return structured or {"size": 0, "failure": answer["content"][0]["text"]}

    too_large, _ = await brimful(attempted, over=over)
    assert too_large["failure"].startswith("error limit_exceeded: The complete message is larger than 5 MiB")


@pytest.mark.requirement("WD4")
async def test_text_and_attachments_never_both_reach_their_bounds(preparing: Preparing) -> None:
    """3 MiB are 4 MiB in base64 before a single line end, and nothing is left for the header."""
    message = {**ANN, "text": text(MIB), "attachments": one_file(DECODED)}
    assert "`message.text` and `message.attachments`" in await refused(preparing, message)


@pytest.mark.requirement("SP11")
@pytest.mark.parametrize("character", ["é", "漢", "😀"])
async def test_a_review_that_cannot_be_shown_whole_is_refused_and_nothing_is_stored(
    preparing: Preparing, character: str
) -> None:
    message = {**ANN, "text": character * (MIB // len(character.encode()))}
    failure = await refused(preparing, message)
    assert failure.startswith("error limit_exceeded: ")
    assert "MAIL_MAX_RESULT_BYTES" in failure
    assert "nothing was stored" in failure
    # Half of it can be shown.
    half = {**ANN, "text": character * (MIB // 2 // len(character.encode()))}
    assert told(await prepare(preparing, half)) == shown(half)


@pytest.mark.requirement("WD4", "SP11")
@pytest.mark.parametrize("character", ["é", "漢", "😀", '"', "\t"])
async def test_with_room_for_the_review_any_text_of_one_mebibyte_is_prepared(tmp_path: Any, character: str) -> None:
    each = len(character.encode())
    whole = "y" * (MIB % each) + character * (MIB // each)
    database = tmp_path / "send.sqlite3"
    room = sending(1, MAIL_STORE=f"sqlite:{database}", MAIL_MAX_RESULT_BYTES=str(16 * MIB))
    with served(room) as server:
        at = Preparing(server, database)
        assert told(await prepare(at, {**ANN, "text": whole})) == shown({"text": whole, **ANN})
        assert "`message.text`" in await refused(at, {**ANN, "text": whole + "y"})
