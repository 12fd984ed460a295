"""The table of warning codes."""

from mailgate.mime.warnings import SENTENCES, WarningCode, WarningLog, read_warning


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
