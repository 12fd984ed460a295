"""Events as AWS Lambda gives them, and calls made of them."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from tests.server.fakes import OWNER_TOKEN, Post


@dataclass
class Remaining:
    """The context object: how much time the function has left."""

    milliseconds: int = 30_000

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds


def fields_of(post: Post) -> dict[str, str]:
    fields = {**post.fields(), "Host": "localhost"}
    if post.token is not None:
        fields["Authorization"] = f"Bearer {post.token}"
    return {name.lower(): value for name, value in fields.items()}


def newer(post: Post, *, encoded: bool = True, path: str = "/mcp", **changes: Any) -> dict[str, Any]:
    """A function URL's or an HTTP API's event (payload format 2.0)."""
    body = post.content()
    return {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": "",
        "headers": fields_of(post),
        "requestContext": {"http": {"method": "POST", "path": path, "sourceIp": "192.0.2.1"}, "stage": "$default"},
        "body": base64.b64encode(body).decode() if encoded else body.decode(),
        "isBase64Encoded": encoded,
        **changes,
    }


def older(post: Post, **changes: Any) -> dict[str, Any]:
    """A REST API's event (payload format 1.0)."""
    return {
        "httpMethod": "POST",
        "path": "/mcp",
        "headers": fields_of(post),
        "multiValueHeaders": {name: [value] for name, value in fields_of(post).items()},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": None,
        "requestContext": {"identity": {"sourceIp": "192.0.2.1"}, "stage": "prod"},
        "body": post.content().decode(),
        "isBase64Encoded": False,
        **changes,
    }


def search(era: str = "legacy", token: str | None = OWNER_TOKEN) -> Post:
    """A call that reads the mailbox."""
    return Post.call("mail_search", {"limit": 2}, era=era, token=token)


def found(answer: dict[str, Any]) -> list[int]:
    """The UIDs of a search's answer."""
    assert answer["statusCode"] == 200, answer
    body = base64.b64decode(answer["body"]) if answer["isBase64Encoded"] else answer["body"]
    result = json.loads(body)["result"]
    assert result["isError"] is False, result
    return [row["reference"]["uid"] for row in result["structuredContent"]["messages"]]
