from __future__ import annotations

import pytest

from mailgate.imap.capabilities import CapabilitySet

DOVECOT = CapabilitySet.of(
    b"IMAP4rev1 SASL-IR LOGIN-REFERRALS ID ENABLE IDLE SORT SORT=DISPLAY THREAD=REFERENCES THREAD=REFS UNSELECT "
    b"CHILDREN NAMESPACE UIDPLUS LIST-EXTENDED CONDSTORE QRESYNC ESEARCH LIST-STATUS BINARY MOVE PREVIEW=FUZZY PREVIEW "
    b"STATUS=SIZE SAVEDATE LITERAL+ NOTIFY SPECIAL-USE AUTH=PLAIN AUTH=LOGIN".split()
)
COURIER = CapabilitySet.of("IMAP4rev1 UIDPLUS CHILDREN NAMESPACE SORT QUOTA IDLE ENABLE UTF8=ACCEPT".split())


def test_names_compare_without_case() -> None:
    found = CapabilitySet.of(["imap4REV1", b"Move"])
    assert "MOVE" in found
    assert "move" in found
    assert "IMAP4rev1" in found
    assert "MOV" not in found
    assert 5 not in found
    assert found == CapabilitySet.of([b"MOVE", "IMAP4REV1", "move"])


def test_names_come_sorted() -> None:
    assert list(CapabilitySet.of(["b", "C", "a"])) == ["A", "B", "C"]
    assert len(CapabilitySet.of(["b", "B"])) == 1


@pytest.mark.parametrize("name", ["", b"", b"caf\xe9", "é"])
def test_what_is_no_capability_is_left_out(name: str | bytes) -> None:
    assert len(CapabilitySet.of([name])) == 0


def test_features_of_a_rich_server() -> None:
    features = DOVECOT.features()
    missing = {name for name, offered in features.items() if not offered}
    assert missing == {"utf8_accept", "object_id", "quota", "replace", "gmail"}


def test_features_of_a_plain_server() -> None:
    offered = {name for name, offered in COURIER.features().items() if offered}
    assert offered == {"uidplus", "children", "namespace", "sort", "quota", "idle", "enable", "utf8_accept"}


def test_the_features_that_the_contract_names_are_there() -> None:
    named = "move uidplus condstore qresync special_use esearch sort thread preview idle id enable literal_plus sasl_ir"
    assert set(f"{named} utf8_accept list_status namespace unselect".split()) <= set(CapabilitySet().features())
    assert not any(CapabilitySet().features().values())


@pytest.mark.parametrize(("name", "feature"), [("QRESYNC", "condstore"), ("LITERAL+", "literal_minus")])
def test_one_extension_can_imply_another(name: str, feature: str) -> None:
    assert CapabilitySet.of([name]).features()[feature]


def test_imap4rev2_contains_what_rev1_servers_name() -> None:
    rev2 = CapabilitySet.of(["IMAP4rev2"])
    assert "MOVE" not in rev2
    assert rev2.offers("move")
    assert rev2.offers("UIDPLUS")
    assert not rev2.offers("CONDSTORE")
    assert not CapabilitySet.of(["IMAP4rev1"]).offers("MOVE")


def test_a_longer_name_is_another_capability() -> None:
    features = CapabilitySet.of(["MOVE2", "PREVIEW=FUZZY", "IDLER", "SORT=DISPLAY"]).features()
    assert not any(features.values())


def test_mechanisms_are_those_named_for_authentication() -> None:
    assert DOVECOT.auth_mechanisms == ("LOGIN", "PLAIN")
    assert COURIER.auth_mechanisms == ()
