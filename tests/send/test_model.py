"""The protocol of the two-call send holds in every reachable state of its model, and no mistake goes unnoticed."""

from __future__ import annotations

import pytest

from tests.send.model import ONE_DOT, TRUE_RECORD, TRUE_WORD, Design, walk

MISTAKES = {
    "the claim lies in another key than the content": (Design(separate_marker=True), ONE_DOT),
    "the message is sent again after a lost reply": (Design(resend_after_lost_reply=True), ONE_DOT),
    "a stale claim is taken over and its owner not stopped": (
        Design(takeover_of_claims=True, no_fence=True),
        ONE_DOT,
    ),
    "a claim without an answer counts as won": (Design(silence_is_a_claim=True), ONE_DOT),
    "somebody else's claim is taken for one's own": (Design(claim_without_nonce=True, no_fence=True), ONE_DOT),
    "the claim is given back after a failure": (Design(release_after_failure=True), ONE_DOT),
    "the claim is read first and written then": (Design(read_then_write=True, no_fence=True), ONE_DOT),
    "preparing overwrites and arrives again": (
        Design(prepare_overwrites=True, prepare_arrives_again=True, eviction=False),
        ONE_DOT,
    ),
    "preparing arrives again after an eviction": (Design(prepare_arrives_again=True), ONE_DOT),
    "content without its record can be claimed": (Design(content_is_enough=True), TRUE_WORD),
    "the store is rolled back": (Design(rollback=True), ONE_DOT),
    "a submission is taken over": (Design(takeover_of_submissions=True), ONE_DOT),
    "a stale submission is declared not sent": (Design(sweep_submissions=True), TRUE_RECORD),
    "a lost reply is recorded as a rejection": (Design(lost_reply_is_rejected=True), TRUE_RECORD),
    "no answer to the fence counts as a leave": (Design(silence_is_a_leave=True), TRUE_WORD),
    "a stale claim is taken over": (Design(takeover_of_claims=True), TRUE_WORD),
}


def test_the_design_holds() -> None:
    result = walk(Design(), attempts=3)
    assert not result.broken
    assert result.states > 30_000


def test_the_design_holds_where_the_content_lies_in_the_record() -> None:
    assert not walk(Design(content_apart=False), attempts=3).broken


def test_the_design_holds_when_preparing_arrives_again_and_nothing_is_evicted() -> None:
    assert not walk(Design(prepare_arrives_again=True, eviction=False)).broken


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(mistake: str) -> None:
    design, invariant = MISTAKES[mistake]
    assert walk(design, watched=frozenset({invariant})).broken == {invariant}


def test_the_fence_keeps_a_takeover_from_sending_twice() -> None:
    """What breaks then is only the word given to the first caller."""
    assert not walk(Design(takeover_of_claims=True), watched=frozenset({ONE_DOT})).broken
