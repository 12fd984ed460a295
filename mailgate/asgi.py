"""`app`: the ASGI application for every host, from this process's environment."""

from __future__ import annotations

from mailgate.app import application

app = application()
