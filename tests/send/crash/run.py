"""One row on one store: what its story has at hand, what it has seen, and whether that is what the table says."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from mailgate.demo.server import DemoServer
from mailgate.demo.store import DemoMailbox
from mailgate.send.record import PreparedId
from tests.contract.deployment import STORE_KEY, mailbox_with
from tests.peers.fault_proxy import FaultProxy
from tests.peers.processes import PAUSE
from tests.peers.rawlog import parse_raw_log
from tests.peers.redis_server import RedisServer
from tests.send.crash.answers import LOST, Answer, Class, call
from tests.send.crash.places import ALL, Place, Store, place
from tests.send.crash.points import Rule
from tests.send.crash.servers import Server, Servers, until
from tests.send.crash.smtp import CountingSmtp
from tests.server.fakes import OWNER_TOKEN, TOKENS

LONG_SECONDS = 60.0
"""The deadline of an attempt in rows where none is to pass."""
STORY_SECONDS = 180.0
NO_REPEAT = "n/a"
TOO_SLOW = "store_unavailable"
"""What is told when the store took longer than five seconds, which a busy machine can make of any."""
TRIES = 5
LETTER = {
    "to": ["ann@example.com"],
    "cc": ["cid@example.net"],
    "bcc": ["bob@example.org"],
    "subject": "Hello",
    "text": "Hello.\n.\nBye",
}
Story = Callable[["Run"], Awaitable[None]]
Review = Mapping[str, Any]


@dataclass(frozen=True)
class Row:
    """One row of the table.

    `first` and `repeat` are classes; `A/B` allows either, `A>B` is one after the other. `deadline`: of an attempt,
    where it has to pass. `window`, `imap`, `own_redis`: what the story needs besides. `alone`: it needs the whole
    machine. `kill`: SIGKILL is part of it. `beyond`: an assumption is broken here, and the row shows what happens then.
    """

    number: str
    place: str
    story: Story = field(repr=False)
    first: str = Class.NOBODY
    repeat: str = NO_REPEAT
    dots: int = 0
    stores: frozenset[Store] = ALL
    kill: bool = False
    beyond: bool = False
    deadline: float | None = None
    upstream_seconds: float = 30.0
    window: int = 0
    imap: bool = False
    own_redis: bool = False
    alone: bool = False

    @property
    def name(self) -> str:
        """One word."""
        return f"{self.number} {self.place}".replace(",", "").replace(" ", "-")


@dataclass(frozen=True)
class Clock:
    """How an attempt's deadline passes: by waiting for it, or by making every record older."""

    seconds: float = 3.0
    waits: bool = False


@dataclass(frozen=True)
class Outcome:
    """What came of one row on one store."""

    row: Row
    store: Store
    dots: int
    first: str
    repeat: str
    problems: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """One word, or what is wrong."""
        if self.problems:
            return "VIOLATED: " + "; ".join(self.problems)
        return "assumption broken" if self.row.beyond else "holds"


class Run:
    """One row on one store, while it is told."""

    def __init__(self, row: Row, store: Store, servers: Servers, clock: Clock, broken: str) -> None:
        self.row, self.store, self.servers, self.clock, self.broken = row, store, servers, clock, broken
        self.smtp = CountingSmtp(window=row.window)
        self.first = LOST
        self.repeats: list[Answer] = []
        self.problems: list[str] = []
        self.review: Review = {}
        self.place: Place
        self.imap: FaultProxy
        self.mailbox: DemoMailbox
        self._imap_log: list[bytes] = []
        self._own: dict[str, str] = {}
        self._started: list[Server] = []

    # --- servers -----------------------------------------------------------------------------------------------------

    async def start(
        self, *rules: Rule, clock_ahead: float = 0.0, changes: Mapping[str, str] = MappingProxyType({})
    ) -> Server:
        """A server process. `changes`: other settings than usual; an empty value takes a variable away."""
        plan = replace(self.place.rule(rules), clock_ahead=clock_ahead, broken=self.broken)
        merged = {**self._own, **self.place.variables, **changes}
        server = await self.servers.start({name: value for name, value in merged.items() if value}, plan)
        self._started.append(server)
        return server

    @property
    def deadline(self) -> float:
        """Of one attempt, in seconds."""
        if self.row.deadline is not None:
            return self.row.deadline
        return self.clock.seconds if self.clock.waits and ">" in self.row.repeat else LONG_SECONDS

    # --- calls -------------------------------------------------------------------------------------------------------

    async def ask_prepare(self, server: Server, **changes: Any) -> Answer:
        """Prepare a message, whatever comes of it."""
        return await call(server.port, "mail_prepare_send", {"message": {**LETTER, **changes}})

    async def prepare(self, server: Server, **changes: Any) -> Review:
        """Prepare the message of this row."""
        for _ in range(TRIES):
            answer = await self.ask_prepare(server, **changes)
            if answer.code != TOO_SLOW:
                break
        assert answer.kind is Class.ACC, answer.text
        self.review = answer.result
        return self.review

    async def confirm(
        self,
        server: Server,
        *,
        digest: str = "",
        append_sent: bool = False,
        review: Review | None = None,
        token: str = OWNER_TOKEN,
    ) -> Answer:
        """Confirm it, with its own digest unless told otherwise."""
        of = review or self.review
        arguments = {"prepared_id": of["prepared_id"], "confirmed_digest": digest or of["digest"]}
        arguments |= {"append_sent": append_sent}
        answer = await call(server.port, "mail_send_confirmed", arguments, token=token)
        self.problems += _dishonest(answer)
        return answer

    def confirming(self, server: Server, **changes: Any) -> asyncio.Task[Answer]:
        """The same, under way."""
        return asyncio.ensure_future(self.confirm(server, **changes))

    async def repeat(self, server: Server, **changes: Any) -> Answer:
        """Confirm once more; the table has a column for it."""
        answer = await self._confirm_again(server, **changes)
        self.repeats.append(answer)
        return answer

    async def _confirm_again(self, server: Server, **changes: Any) -> Answer:
        """Where nothing can be consumed any more, an answer that the store of a busy machine gave too late is none."""
        inside = self.place.records.inside(self.prepared_id)
        consumed = inside is not None and inside.status != "prepared"
        for _ in range(TRIES if consumed else 1):
            answer = await self.confirm(server, **changes)
            if answer.code != TOO_SLOW:
                break
        return answer

    async def see_out(self, server: Server, **changes: Any) -> None:
        """Repeat, wait until the attempt is stale where the table says so, and see that the answer stays."""
        last = await self.repeat(server, **changes)
        if ">" in self.row.repeat:
            last = await self._once_stale(server, **changes)
        self.expect(
            await self._confirm_again(server, **changes) == last, "the answer changes from one repeat to the next"
        )

    async def _once_stale(self, server: Server, **changes: Any) -> Answer:
        if not self.clock.waits:
            self.place.records.age(self.deadline + 1.0)
            return await self.repeat(server, **changes)
        async with asyncio.timeout(self.deadline + 30.0):
            while (answer := await self.confirm(server, **changes)).kind is Class.RUN:
                await asyncio.sleep(PAUSE * 10)
        self.repeats.append(answer)
        return answer

    async def settled(self, server: Server) -> Answer:
        """Ask until the attempt that nobody waits for has an outcome."""
        async with asyncio.timeout(LONG_SECONDS):
            while (answer := await self.confirm(server)).kind is Class.RUN:
                await asyncio.sleep(PAUSE)
        self.repeats.append(answer)
        return answer

    # --- looking -----------------------------------------------------------------------------------------------------

    @property
    def prepared_id(self) -> PreparedId:
        """Of the message of this row."""
        return PreparedId(self.review["prepared_id"])

    async def recorded(self, status: str) -> None:
        """Wait until the store says so about the message of this row."""

        def so() -> bool:
            inside = self.place.records.inside(self.prepared_id)
            return inside is not None and inside.status == status

        await until(so, seconds=LONG_SECONDS, what=f"the record does not become {status}")

    def appends(self) -> int:
        """How often the mail server was asked to file something."""
        commands = (command for raw in list(self._imap_log) for command in parse_raw_log(raw))
        return sum(command.name == "APPEND" for command in commands)

    def expect(self, so: bool, otherwise: str) -> None:
        """Something the table says besides the classes."""
        if not so:
            self.problems.append(otherwise)

    # --- from outside ------------------------------------------------------------------------------------------------

    async def tell(self, stack: AsyncExitStack, shared: RedisServer | None) -> Outcome:
        """The whole story, and what came of it."""
        await stack.enter_async_context(self.smtp)
        self._own = await self._variables(stack)
        redis = None if self.row.own_redis else shared
        self.place = await place(stack, self.store, self._own, self.servers.folder, shared=redis)
        try:
            async with asyncio.timeout(STORY_SECONDS):
                await self.row.story(self)
        except Exception as error:
            self.problems.append(f"{type(error).__name__}: {error}")
        finally:
            self.place.gate.let_all_go()
            for server in self._started:
                await server.kill()
        return self._outcome(await self.smtp.counted())

    def _outcome(self, dots: int) -> Outcome:
        first, repeat = self.first.kind.value, ">".join(answer.kind for answer in self.repeats) or NO_REPEAT
        for said, wanted, what in ((first, self.row.first, "first answer"), (repeat, self.row.repeat, "repeat")):
            if said not in _alternatives(wanted):
                self.problems.append(f"{what} {said}, expected {wanted}")
        if dots != self.row.dots:
            self.problems.append(f"{dots} final dots, expected {self.row.dots}")
        return Outcome(self.row, self.store, dots, first, repeat, tuple(dict.fromkeys(self.problems)))

    async def _variables(self, stack: AsyncExitStack) -> dict[str, str]:
        username, password = f"owner-{secrets.token_hex(8)}@example.org", "a-password-of-the-tests"
        imap_port = await self._start_imap(stack, username, password) if self.row.imap else 1
        return {
            "MAIL_IMAP_HOST": "127.0.0.1",
            "MAIL_IMAP_PORT": str(imap_port),
            "MAIL_IMAP_SECURITY": "plaintext",
            "MAIL_USERNAME": username,
            "MAIL_PASSWORD": password,
            "MAIL_STORE_KEY": STORE_KEY,
            "MAIL_TOKENS": TOKENS,
            "MAIL_ENABLE_SEND": "1",
            "MAIL_ENABLE_WRITES": "1",
            "MAIL_FROM": "The Owner <owner@example.org>",
            "MAIL_SMTP_HOST": "127.0.0.1",
            "MAIL_SMTP_PORT": str(self.smtp.port),
            "MAIL_SMTP_SECURITY": "plaintext",
            "MAIL_SEND_DEADLINE_SECONDS": str(self.deadline),
            "MAIL_UPSTREAM_TIMEOUT_SECONDS": str(self.row.upstream_seconds),
        }

    async def _start_imap(self, stack: AsyncExitStack, username: str, password: str) -> int:
        self.mailbox = mailbox_with()
        server = DemoServer(self.mailbox, username=username, password=password, on_command=self._imap_log.append)
        _, port = await server.start()
        stack.push_async_callback(server.stop)
        self.imap = await stack.enter_async_context(FaultProxy(port))
        return self.imap.port


def _alternatives(wanted: str) -> set[str]:
    """`A/B>C` allows `A>C` and `B>C`."""
    first, _, rest = wanted.partition(">")
    if wanted == NO_REPEAT:
        return {NO_REPEAT}
    return {each + (f">{rest}" if rest else "") for each in first.split("/")}


def _dishonest(answer: Answer) -> list[str]:
    """What an answer of its class must say, and must not."""
    problems = []
    if answer.kind in (Class.UNK, Class.RUN) and not answer.result.get("message_id"):
        problems.append(f"{answer.kind} without the Message-ID")
    if answer.kind is Class.UNK and "look_first" not in answer.warnings:
        problems.append("UNK without the advice to look first")
    if answer.kind is Class.NF and "not sent" in answer.text:
        problems.append("NF that claims to know that nothing was sent")
    return problems


async def carry_out(
    row: Row,
    store: Store,
    servers: Servers,
    redis: RedisServer | None,
    *,
    clock: Clock = Clock(),
    broken: str = "",
) -> Outcome:
    """Tell one row on one store. `broken` names a fault of `held.py` that every server gets."""
    async with AsyncExitStack() as stack:
        return await Run(row, store, servers, clock, broken).tell(stack, redis)


async def carry_out_all(
    wanted: Sequence[tuple[Row, Store]],
    servers: Servers,
    redis: RedisServer | None,
    *,
    at_once: int,
    clock: Clock = Clock(),
) -> list[Outcome]:
    """Tell all of them, in that order but several at the same time; `redis` is needed for the remote stores."""
    places = asyncio.Semaphore(at_once)

    async def one(row: Row, store: Store) -> Outcome:
        async with places:
            return await carry_out(row, store, servers, redis, clock=clock)

    told = {(row, store): one(row, store) for row, store in wanted if not row.alone}
    outcomes = dict(zip(told, await asyncio.gather(*told.values()), strict=True))
    for row, store in wanted:
        if row.alone:
            outcomes[row, store] = await carry_out(row, store, servers, redis, clock=clock)
    return [outcomes[each] for each in wanted]
