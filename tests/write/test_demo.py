"""The demo opens the gate for writing, and only that one."""

from __future__ import annotations

from mailgate.cli_demo import demo_settings
from mailgate.policy import Gate


async def test_the_demo_writes_and_does_not_delete_for_good() -> None:
    async with demo_settings("a-token-of-the-tests") as settings:
        assert settings.gates == {Gate.WRITES}
        assert settings.mail_from is not None
        assert settings.warnings == ()
