"""What is prepared belongs to one caller, one login and one public URL, on every store."""

from __future__ import annotations

import hashlib

import pytest

from tests.send.faults.scene import LETTER, Scene, confirmation
from tests.server.fakes import Post

FIRST, SECOND = "a-token-of-the-owner", "another-token-of-the-owner"


def _entry(token: str) -> str:
    return f"{hashlib.sha256(token.encode()).hexdigest()}:mail.read+mail.send"


async def test_another_login_or_public_url_finds_nothing(scene: Scene) -> None:
    url = "https://mail.example.org/mcp"
    async with scene.service(MAIL_PUBLIC_URL=url) as service:
        review = await service.prepare()
        for elsewhere in (
            {"MAIL_PUBLIC_URL": "https://mail.example.org/other"},
            {},
            {"MAIL_PUBLIC_URL": url, "MAIL_USERNAME": "x" + scene.login},
        ):
            assert await scene.confirmed_elsewhere(review, **elsewhere) == "prepared_not_found"
        assert (scene.smtp.connections, scene.smtp.commands) == (0, [])
        assert await scene.confirmed_elsewhere(review, MAIL_PUBLIC_URL=url) == "accepted"


async def test_another_address_of_the_same_mail_server_changes_nothing(scene: Scene) -> None:
    """A mailbox that moved, or is reached through a proxy, has the same login."""
    async with scene.service() as service:
        review = await service.prepare()
    moved = {"MAIL_IMAP_HOST": "imap.example.net", "MAIL_IMAP_PORT": "994", "MAIL_IMAP_SECURITY": "tls"}
    assert await scene.confirmed_elsewhere(review, **moved) == "accepted"
    assert await scene.confirmed_elsewhere(review) == "accepted"
    assert scene.smtp.connections == 1


async def test_over_http_it_belongs_to_the_very_token(scene: Scene) -> None:
    """Also the scopes of a token may change meanwhile: they are not who somebody is."""
    scene.extra["MAIL_TOKENS"] = f"{_entry(FIRST)},{_entry(SECOND)}"
    async with scene.service() as service:
        app = service.app
        prepared = await Post.call("mail_prepare_send", {"message": LETTER}, token=FIRST).to(app)
        review = prepared.json()["result"]["structuredContent"]
        other = await Post.call("mail_send_confirmed", confirmation(review), token=SECOND).to(app)
        assert other.json()["result"]["content"][0]["text"].startswith("error prepared_not_found: ")
    assert scene.smtp.connections == 0
    scene.extra["MAIL_TOKENS"] = _entry(FIRST).replace("mail.read", "mail.read+mail.write")
    async with scene.service() as later:
        confirmed = await Post.call("mail_send_confirmed", confirmation(review), token=FIRST).to(later.app)
        assert confirmed.json()["result"]["structuredContent"]["status"] == "accepted"
    assert scene.smtp.dots == 1


@pytest.mark.parametrize("rotated", ["behind", "gone"])
async def test_a_key_that_was_rotated_still_opens_while_it_is_listed(scene: Scene, rotated: str) -> None:
    new = "bmV3IG5ldyBuZXcgbmV3IG5ldyBuZXcgbmV3IG5ldy4="
    old = scene.variables()["MAIL_STORE_KEY"]
    async with scene.service() as service:
        review = await service.prepare()
    keys = f"{new},{old}" if rotated == "behind" else new
    answer = await scene.confirmed_elsewhere(review, MAIL_STORE_KEY=keys)
    assert answer == ("accepted" if rotated == "behind" else "not_sent:store_unavailable")
    assert scene.smtp.dots == (rotated == "behind")
