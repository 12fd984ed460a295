"""The socket that mailgate is served on."""

from __future__ import annotations

import socket

import uvicorn

from mailgate.cli_web import listen


def test_an_answer_does_not_wait_for_the_clients_acknowledgement_of_its_first_half() -> None:
    bound, port = listen(uvicorn.Config(lambda: None, host="127.0.0.1", port=0, log_config=None))
    with bound, socket.create_connection(("127.0.0.1", port)):
        connection, _ = bound.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
