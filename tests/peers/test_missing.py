"""A peer that is not there is never overlooked."""

from __future__ import annotations

import pytest

from tests.conftest import missing_peer


def test_in_ci_a_missing_peer_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="Dovecot is not installed"):
        missing_peer("Dovecot")


def test_elsewhere_it_is_a_skip_that_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="Dovecot is not installed"):
        missing_peer("Dovecot")
