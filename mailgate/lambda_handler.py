"""`handler`: the function for AWS Lambda (`mailgate.lambda_handler.handler`), from this process's environment."""

from __future__ import annotations

from mailgate.app import application
from mailgate.lambda_events import LambdaBridge

handler = LambdaBridge(application())
