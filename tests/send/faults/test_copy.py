"""What became of the copy in Sent is noted in the record; a store that does not take the note is told of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.contract.deployment import USERNAME, codes, demo_server, mailbox_with
from tests.send.faults.scene import Scene, arrange, confirmation
from tests.send.faults.test_table import Fault


@pytest.mark.parametrize(
    ("fault", "later"),
    [
        (Fault.REQUEST_LOST, "none"),
        (Fault.REPLY_LOST, "saved"),
        (Fault.ERROR, "none"),
        (Fault.REDIRECT, "none"),
        (Fault.TRUNCATED, "saved"),
    ],
)
async def test_a_note_that_is_lost_is_a_warning_and_no_second_copy(remote: Scene, fault: Fault, later: str) -> None:
    mailbox = mailbox_with()
    async with demo_server(mailbox) as (port, _):
        scene = replace(remote, login=USERNAME, extra={"MAIL_IMAP_PORT": str(port)})
        async with scene.service() as service:
            review = await service.prepare()
            arrange(scene.place, None, None, None, None, fault.value)
            told = await service.ok("mail_send_confirmed", confirmation(review, append_sent=True))
            assert (told["status"], told["sent_copy"], codes(told)) == ("accepted", "saved", ["copy_not_recorded"])
        async with scene.service() as fresh:
            told = await fresh.ok("mail_send_confirmed", confirmation(review, append_sent=True))
            assert (told["status"], told["sent_copy"], codes(told)) == ("accepted", later, [])
    assert len(mailbox.folder("Sent").messages) == scene.smtp.dots == 1


async def test_a_record_that_is_gone_is_warned_of_once(remote: Scene) -> None:
    async with demo_server(mailbox_with()) as (port, _):
        scene = replace(remote, login=USERNAME, extra={"MAIL_IMAP_PORT": str(port)})
        async with scene.service() as service:
            review = await service.prepare()
            arrange(scene.place, None, None, Fault.EVICTED.value)
            told = await service.ok("mail_send_confirmed", confirmation(review, append_sent=True))
    assert (told["status"], told["sent_copy"], codes(told)) == ("accepted", "saved", ["record_lost"])
