"""The demo mailbox's IMAP server: a listener on one loopback port, and the table of commands it understands.

A test double and a shop window, never the oracle: what it answers follows the standards and, where they leave a
choice, mostly Dovecot. It speaks no TLS and is only ever bound where its caller says.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from mailgate.demo import copying, folder_commands, listing, login, messages, selecting
from mailgate.demo.extensions import Extension, Extensions
from mailgate.demo.reading import MAX_LINE
from mailgate.demo.session import Account, CommandRow, Session
from mailgate.demo.store import DemoMailbox

SESSIONS_MAX = 50
STOP_SECONDS = 2.0
"""How long a session's last octets may take when the server stops."""

COMMANDS: dict[str, CommandRow] = {
    "CAPABILITY": CommandRow(login.capability, login=None),
    "NOOP": CommandRow(login.noop, login=None),
    "LOGOUT": CommandRow(login.logout, login=None),
    "ID": CommandRow(login.id_, login=None, extension=Extension.ID),
    "LOGIN": CommandRow(login.login, login=False),
    "AUTHENTICATE": CommandRow(login.authenticate, login=False),
    "ENABLE": CommandRow(login.enable, extension=Extension.ENABLE),
    "NAMESPACE": CommandRow(login.namespace, extension=Extension.NAMESPACE),
    "LIST": CommandRow(listing.list_),
    "STATUS": CommandRow(folder_commands.status),
    "CREATE": CommandRow(folder_commands.create),
    "DELETE": CommandRow(folder_commands.delete),
    "RENAME": CommandRow(folder_commands.rename),
    "SUBSCRIBE": CommandRow(folder_commands.subscribe),
    "UNSUBSCRIBE": CommandRow(folder_commands.subscribe),
    "APPEND": CommandRow(folder_commands.append),
    "SELECT": CommandRow(selecting.select),
    "EXAMINE": CommandRow(selecting.examine),
    "CHECK": CommandRow(login.noop, selected=True),
    "UNSELECT": CommandRow(selecting.unselect, selected=True, extension=Extension.UNSELECT),
    "CLOSE": CommandRow(selecting.close, selected=True),
    "EXPUNGE": CommandRow(selecting.expunge, selected=True),
    "UID EXPUNGE": CommandRow(selecting.uid_expunge, selected=True, extension=Extension.UIDPLUS),
    "FETCH": CommandRow(messages.fetch, selected=True, renumbers=False),
    "UID FETCH": CommandRow(messages.uid_fetch, selected=True),
    "SEARCH": CommandRow(messages.search, selected=True, renumbers=False),
    "UID SEARCH": CommandRow(messages.uid_search, selected=True),
    "STORE": CommandRow(messages.store, selected=True, renumbers=False),
    "UID STORE": CommandRow(messages.uid_store, selected=True),
    "COPY": CommandRow(copying.copy, selected=True),
    "UID COPY": CommandRow(copying.uid_copy, selected=True),
    "MOVE": CommandRow(copying.move, selected=True, extension=Extension.MOVE),
    "UID MOVE": CommandRow(copying.uid_move, selected=True, extension=Extension.MOVE),
}
"""Every command, by name. One that is missing here, or whose extension is taken away, is answered BAD."""


class DemoServer:
    """Serves one `DemoMailbox` to one account.

    `without` names extensions to take away (`ValueError` for an unknown name). `on_command` is called with the
    octets of each command as it arrived, literals included, credentials too: it is meant for tests.
    """

    def __init__(
        self,
        mailbox: DemoMailbox,
        *,
        username: str,
        password: str,
        without: frozenset[str] = frozenset(),
        on_command: Callable[[bytes], None] | None = None,
    ) -> None:
        self.mailbox = mailbox
        self._account = Account(username, password)
        self._extensions = Extensions(without)
        self._on_command = on_command
        self._listener: asyncio.Server | None = None
        self._stopping = False
        self._sessions: dict[asyncio.Task[None], tuple[Session, asyncio.StreamWriter]] = {}

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> tuple[str, int]:
        """Listens, and answers the host and port it listens on."""
        self._stopping = False
        self._listener = await asyncio.start_server(self._accept, host, port, limit=MAX_LINE)
        bound = self._listener.sockets[0].getsockname()
        return bound[0], bound[1]

    async def stop(self) -> None:
        """Closes the listener, tells every session BYE and waits until all have ended. Harmless when not started."""
        if self._listener is None:
            return
        self._stopping = True
        self._listener.close()
        ending = list(self._sessions)
        for task, (session, _) in list(self._sessions.items()):
            session.bye(b"the server stops")
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        await self._listener.wait_closed()
        self._listener = None

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        session = Session(
            self.mailbox, self._account, self._extensions, COMMANDS, reader, writer, on_command=self._on_command
        )
        if self._stopping or len(self._sessions) >= SESSIONS_MAX:
            session.bye(b"[UNAVAILABLE] too many sessions")
        self._sessions[task] = (session, writer)
        try:
            await session.run()
        except asyncio.CancelledError:
            # Only `stop` cancels a session, and waits for it: it has ended, which is what was asked for.
            pass
        finally:
            del self._sessions[task]
            await _hang_up(writer)


async def _hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    try:
        async with asyncio.timeout(STOP_SECONDS):
            await writer.wait_closed()
    except TimeoutError:
        writer.transport.abort()
    except ConnectionError:
        pass
