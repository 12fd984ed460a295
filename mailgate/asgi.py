"""`app`: the ASGI application for every host, from this process's environment."""

from __future__ import annotations

from mailgate.app import build_app
from mailgate.server.telemetry import configure_logging
from mailgate.settings import SettingsError, read_settings

try:
    _settings = read_settings(http=True)
except SettingsError as refused:
    # A traceback would bury the list of problems, and the list is all there is to say.
    raise SystemExit(str(refused)) from None

configure_logging(_settings.log_level, _settings.log_format)
app = build_app(_settings)
