"""A record that somebody altered, moved or put together is never sent: the mail server hears nothing of it."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import pytest

from mailgate.limits import SEND_DEADLINE_DEFAULT
from mailgate.send.record import Deployment, Digest, Envelope, Nonce, Owner, PreparedId, PreparedMessage
from mailgate.send.sealing import KeyRing
from tests.contract.deployment import OWNER, STORE_KEY, Result
from tests.send.faults.raw import Raw, raw_of
from tests.send.faults.scene import Scene, Sending

STRANGER = replace(OWNER, subject="somebody else")
UNUSABLE, MISMATCH = "not_sent:store_unavailable", "not_sent:digest_mismatch"


@dataclass
class Case:
    """A prepared message, the service that prepared it, and the store as it is."""

    scene: Scene
    service: Sending
    review: Result
    raw: Raw

    @property
    def name(self) -> str:
        prepared_id: str = self.review["prepared_id"]
        return prepared_id

    @property
    def keys(self) -> KeyRing:
        """For somebody who has the key as well."""
        return KeyRing([base64.b64decode(STORE_KEY)], Deployment(self.scene.login))

    def get(self, field: str) -> bytes:
        return self.raw.get(self.scene.tag, self.name, field)

    def put(self, field: str, value: bytes) -> None:
        self.raw.put(self.scene.tag, self.name, field, value)

    def opened(self) -> PreparedMessage:
        prepared_id = PreparedId(self.name)
        data = self.keys.open(self.get("content"), "content", prepared_id, Owner(OWNER.issuer, OWNER.subject))
        return PreparedMessage.of_bytes(prepared_id, data)

    def replace_content(self, message: PreparedMessage) -> None:
        sealed = self.keys.seal(
            message.to_bytes(), "content", PreparedId(self.name), Owner(OWNER.issuer, OWNER.subject)
        )
        self.put("content", sealed)

    async def is_never_sent(self, answer: str, review: Result | None = None) -> None:
        """By this process and by a fresh one, now and later."""
        asked = review or self.review
        assert await self.service.outcome(asked) == answer
        assert await self.scene.confirmed_elsewhere(asked) == answer
        self.silent()

    def silent(self) -> None:
        smtp = self.scene.smtp
        assert (smtp.connections, smtp.commands, smtp.dots) == (0, [], 0)


@pytest.fixture
async def case(scene: Scene) -> AsyncIterator[Case]:
    async with scene.service() as service:
        yield Case(scene, service, await service.prepare(), raw_of(scene))


async def test_what_was_left_alone_is_sent(case: Case) -> None:
    for field in ("content", "digest", "status", "owner", "kept"):
        case.put(field, case.get(field))
    case.replace_content(case.opened())
    assert await case.service.outcome(case.review) == "accepted"
    assert case.scene.smtp.dots == 1


# --- the content -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("position", [0, 1, 12, 13, 40, -300, -17, -16, -1])
async def test_one_octet_of_the_sealed_content(case: Case, position: int) -> None:
    """Format, nonce, first octet, envelope, text, tag."""
    content = bytearray(case.get("content"))
    content[position] ^= 1
    case.put("content", bytes(content))
    await case.is_never_sent(UNUSABLE)


@pytest.mark.parametrize("kept", [0, 1, 13, 29, -1])
async def test_content_that_was_cut(case: Case, kept: int) -> None:
    case.put("content", case.get("content")[:kept])
    await case.is_never_sent(UNUSABLE)


@pytest.mark.parametrize(
    "change",
    [
        {"to": ("eve@example.com",)},
        {"bcc": ("bob@example.org", "eve@example.com")},
        {"bcc": ()},
        {"to": ("cid@example.net",), "cc": ("ann@example.com",)},
        {"to": ("ann@example.com", "cid@example.net"), "cc": ()},
        {"sender": "eve@example.com"},
    ],
    ids=["exchanged", "added", "taken away", "swapped", "another role", "sender"],
)
async def test_a_recipient_by_somebody_who_has_the_key(case: Case, change: dict[str, object]) -> None:
    """Even then: the digest that the owner confirmed stands for sender, recipients and roles."""
    message = case.opened()
    case.replace_content(replace(message, envelope=replace(message.envelope, **change)))  # type: ignore[arg-type]
    await case.is_never_sent(MISMATCH)


async def test_one_octet_of_the_message_by_somebody_who_has_the_key(case: Case) -> None:
    message = case.opened()
    case.replace_content(replace(message, message=message.message.replace(b"Hello", b"Hallo")))
    await case.is_never_sent(MISMATCH)


async def test_another_message_altogether_with_its_own_digest(case: Case) -> None:
    """The digest of the caller counts, not the one that was stored."""
    message = case.opened()
    other = PreparedMessage(
        message.prepared_id, Envelope("owner@example.org", ("eve@example.com",)), message.message, message.message_id
    )
    case.replace_content(other)
    case.put("digest", other.digest.value.encode())
    await case.is_never_sent("digest_mismatch")


async def test_content_exchanged_between_two_messages_of_the_same_owner(case: Case) -> None:
    second = await case.service.prepare(subject="Another")
    one, two = case.get("content"), case.raw.get(case.scene.tag, second["prepared_id"], "content")
    case.put("content", two)
    case.raw.put(case.scene.tag, second["prepared_id"], "content", one)
    await case.is_never_sent(UNUSABLE)
    await case.is_never_sent(UNUSABLE, second)


# --- the digest ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("forged", ["0" * 64, "", "no digest"])
async def test_another_digest_in_the_record(case: Case, forged: str) -> None:
    case.put("digest", forged.encode())
    await case.is_never_sent("digest_mismatch")


async def test_whoever_confirms_the_forged_digest_gets_nothing_either(case: Case) -> None:
    forged = Digest("0" * 64)
    case.put("digest", forged.value.encode())
    await case.is_never_sent(MISMATCH, {**case.review, "digest": forged.value})


# --- the state -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["claimed", "submitting", "accepted", "rejected", "not_sent", "unknown", "", "sent"])
async def test_a_state_set_forward_sends_nothing(case: Case, status: str) -> None:
    """The answer is then what the record says, or that the store cannot be used."""
    case.put("status", status.encode())
    answers = {await case.service.outcome(case.review), await case.scene.confirmed_elsewhere(case.review)}
    allowed = {"sending", "store_unavailable", "prepared_not_found", status}
    if status in ("claimed", "submitting"):
        allowed |= {"not_sent", "unknown"}
    assert answers <= allowed
    case.silent()


@pytest.mark.parametrize("ending", ["250 2.0.0 ok", "554 5.6.0 no", None])
async def test_a_state_set_back_after_the_message_was_sent_sends_nothing_again(case: Case, ending: str | None) -> None:
    """There is nothing left that could be sent."""
    case.scene.smtp.ending = ending
    first = await case.service.outcome(case.review)
    case.put("status", b"prepared")
    again = await case.scene.confirmed_elsewhere(case.review)
    assert again in ("prepared_not_found", UNUSABLE)
    assert await case.service.outcome(case.review) == again
    assert (case.scene.smtp.dots, case.scene.smtp.connections) == (1, 1)
    assert first.startswith(("accepted", "rejected", "unknown"))


async def test_a_claim_set_back_under_way_is_sent_once_at_most(case: Case) -> None:
    """The attempt that had claimed is stopped before DATA by the nonce of the other."""
    answers: list[str] = []

    async def set_back() -> None:
        case.scene.smtp.at_mail = None
        case.put("status", b"prepared")
        answers.append(await case.scene.confirmed_elsewhere(case.review))

    case.scene.smtp.at_mail = set_back
    answers.append(await case.service.outcome(case.review))
    assert answers == ["accepted", "accepted"]
    assert (case.scene.smtp.dots, case.scene.smtp.said("DATA")) == (1, 1)


@pytest.mark.parametrize("field", ["nonce", "status"])
async def test_a_claim_altered_under_way_is_stopped_before_data(case: Case, field: str) -> None:
    async def alter() -> None:
        case.put(field, Nonce.new().value.encode() if field == "nonce" else b"not_sent")

    case.scene.smtp.at_mail = alter
    answer = await case.service.outcome(case.review)
    assert answer == ("sending" if field == "nonce" else "not_sent")
    assert (case.scene.smtp.said("DATA"), case.scene.smtp.said("RSET")) == (0, 1)
    case.scene.backdoor.age(SEND_DEADLINE_DEFAULT + 1)
    assert await case.scene.confirmed_elsewhere(case.review) == "not_sent"
    assert case.scene.smtp.connections == 1


# --- the place -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kept", [True, False], ids=["copied", "moved"])
async def test_a_record_under_another_id(case: Case, kept: bool) -> None:
    other = PreparedId.new().value
    case.raw.copy(case.scene.tag, case.name, case.scene.tag, other)
    if not kept:
        case.raw.remove(case.scene.tag, case.name)
    await case.is_never_sent(UNUSABLE, {**case.review, "prepared_id": other})
    assert await case.service.outcome(case.review) == ("accepted" if kept else "prepared_not_found")
    assert case.scene.smtp.dots == kept


async def test_a_record_over_that_of_another_message(case: Case) -> None:
    second = await case.service.prepare(subject="Another")
    case.raw.copy(case.scene.tag, case.name, case.scene.tag, second["prepared_id"])
    await case.is_never_sent("digest_mismatch", second)
    await case.is_never_sent(UNUSABLE, {**second, "digest": case.review["digest"]})


@pytest.mark.parametrize("other", ["login", "public URL"])
async def test_a_record_of_another_deployment(case: Case, other: str) -> None:
    """Its owner is the same person, its key the same key."""
    scene, url = case.scene, ""
    if other == "login":
        scene = replace(case.scene, login="another@example.org")
    else:
        url = "https://mail.example.org/mcp"
    tag = Deployment(scene.login, url).tag
    case.raw.copy(case.scene.tag, case.name, tag, case.name)
    async with scene.service(**({"MAIL_PUBLIC_URL": url} if url else {})) as service:
        assert await service.outcome(case.review) == "prepared_not_found"
        owner = Deployment(scene.login, url).owner_tag(Owner(OWNER.issuer, OWNER.subject))
        case.raw.put(tag, case.name, "owner", owner.encode())
        assert await service.outcome(case.review) == UNUSABLE
        assert await service.outcome(case.review) == UNUSABLE
    case.silent()


@pytest.mark.parametrize("stranger", [STRANGER, replace(OWNER, issuer="https://issuer.example")])
async def test_a_record_of_another_owner(case: Case, stranger: object) -> None:
    assert isinstance(stranger, type(OWNER))
    assert await case.service.outcome(case.review, caller=stranger) == "prepared_not_found"
    tag = Deployment(case.scene.login).owner_tag(Owner(stranger.issuer, stranger.subject))
    case.put("owner", tag.encode())
    assert await case.service.outcome(case.review) == "prepared_not_found"
    assert await case.service.outcome(case.review, caller=stranger) == UNUSABLE
    case.silent()
