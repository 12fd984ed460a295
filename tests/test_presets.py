"""Presets are data that the settings accept as they are."""

from __future__ import annotations

import pytest

from mailgate.presets import PRESETS
from mailgate.settings import load_settings


def test_spacemail_comes_first() -> None:
    assert next(iter(PRESETS)) == "spacemail"


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_needs_only_a_login_to_be_complete(name: str) -> None:
    settings = load_settings({"MAIL_PROVIDER": name, "MAIL_USERNAME": "u", "MAIL_PASSWORD": "p"})
    assert settings.missing == ()
    assert settings.warnings == ()
    assert settings.smtp_host == PRESETS[name].smtp_host


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_never_sends_a_password_in_the_clear(name: str) -> None:
    preset = PRESETS[name]
    assert (preset.imap_port, preset.imap_security) == (993, "tls")
    assert (preset.smtp_port, preset.smtp_security) in {(465, "tls"), (587, "starttls")}


@pytest.mark.parametrize("name", ["outlook", "hotmail", "office365"])
def test_providers_without_password_login_are_not_offered(name: str) -> None:
    assert name not in PRESETS
