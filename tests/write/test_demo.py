"""The demo opens the gates for writing and sending, and not the one for removing for good."""

from __future__ import annotations

from mailgate.cli_demo import demo_settings
from mailgate.policy import Gate


async def test_the_demo_writes_and_sends_and_does_not_delete_for_good() -> None:
    async with demo_settings("a-token-of-the-tests") as settings:
        assert settings.gates == {Gate.WRITES, Gate.SEND}
        assert settings.mail_from is not None
        assert settings.warnings == ()
