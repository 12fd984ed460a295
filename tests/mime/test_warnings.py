"""The table of warning codes."""

from mailgate.mime.warnings import COUNTED, SENTENCES, WarningCode, WarningLog, read_warning


def test_every_code_has_one_sentence() -> None:
    assert set(SENTENCES) == set(WarningCode)
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in SENTENCES.values())


def test_a_warning_renders_as_code_and_sentence() -> None:
    assert str(read_warning(WarningCode.NO_TEXT)) == f"no_text: {SENTENCES[WarningCode.NO_TEXT]}"


def test_a_code_is_logged_once_and_only_where_it_holds() -> None:
    log = WarningLog()
    log.add(WarningCode.NO_TEXT)
    log.add(WarningCode.NO_TEXT)
    log.add(WarningCode.TIME_LIMIT, when=False)
    assert [warning.code for warning in log.warnings()] == ["no_text"]
    assert WarningCode.TIME_LIMIT not in log


def test_counts_of_one_code_add_up_and_stand_in_its_sentence() -> None:
    log, other = WarningLog(), WarningLog()
    log.add(WarningCode.HIDDEN_TEXT_REMOVED, count=20)
    other.add(WarningCode.HIDDEN_TEXT_REMOVED, count=3)
    other.add(WarningCode.HIDDEN_TEXT_REMOVED, when=False, count=100)
    log.extend(other)
    (warning,) = log.warnings()
    assert str(warning) == "hidden_text_removed: " + COUNTED[WarningCode.HIDDEN_TEXT_REMOVED].format(23)


def test_a_sentence_without_a_known_number_is_the_constant_one() -> None:
    code = WarningCode.HIDDEN_TEXT_REMOVED
    assert read_warning(code).sentence == SENTENCES[code]
    assert read_warning(WarningCode.NO_TEXT, 7).sentence == SENTENCES[WarningCode.NO_TEXT]
