"""The entry file for Vercel's Python runtime, which serves the ASGI application named `app`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from mailgate.asgi import app

__all__ = ["app"]
