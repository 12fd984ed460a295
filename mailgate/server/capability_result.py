"""What mail_capabilities answers: what this deployment, this mail server and this caller can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from pydantic import Field

from mailgate import __version__
from mailgate.imap.values import SpecialUse
from mailgate.policy import Gate, Scope
from mailgate.server.shapes import Result, Shape

if TYPE_CHECKING:
    from mailgate.read.capabilities import ImapReport, MailboxReport, RoleReport


class ServerInfo(Shape):
    """This server."""

    name: str
    version: str


class MailboxInfo(Shape):
    """Whose mailbox it is, as far as the settings say."""

    address: str | None = None
    name: str | None = None


class ImapInfo(Shape):
    """The mail server after the login."""

    capabilities: list[str]
    features: dict[str, bool]

    @classmethod
    def of(cls, report: ImapReport) -> Self:
        """As announced."""
        return cls(capabilities=list(report.capabilities), features=dict(report.features))


class RoleInfo(Shape):
    """The one folder with a role, or why there is none."""

    folder: str | None = None
    missing: str | None = None

    @classmethod
    def of(cls, report: RoleReport) -> Self:
        """Exactly one of the two is set."""
        return cls(folder=None if report.folder is None else report.folder.text, missing=report.missing)


class GateInfo(Shape):
    """What the operator has switched on."""

    writes: bool
    delete: bool
    send: bool


class ToolInfo(Shape):
    """Whether this caller may call a tool, and why not."""

    name: str
    callable: bool
    reason: str | None = None


class StoreInfo(Shape):
    """Where prepared messages live."""

    kind: str
    durable: bool


@dataclass(frozen=True, slots=True)
class CapabilityFacts:
    """All that mail_capabilities tells. `report` is None where the mail server was not reached."""

    mailbox: MailboxInfo
    report: MailboxReport | None
    unknown_roles: str
    gates: frozenset[Gate]
    scopes: frozenset[Scope]
    tools: tuple[ToolInfo, ...]
    limits: dict[str, int | float]
    store: StoreInfo | None = None
    missing: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class CapabilitiesResult(Result[CapabilityFacts]):
    """mail_capabilities."""

    server: ServerInfo = Field(description="name, version")
    mailbox: MailboxInfo = Field(description="address, name")
    imap: ImapInfo | None = Field(description="capabilities, features; null: not reached")
    roles: dict[str, RoleInfo] = Field(description="by role: folder, or missing: why")
    gates: GateInfo = Field(description="writes, delete, send: open?")
    scopes: list[str] = Field(description="the caller's")
    tools: list[ToolInfo] = Field(description="name, callable, reason")
    limits: dict[str, int | float] = Field(description="in force")
    store: StoreInfo | None = Field(description="null: none")
    not_configured: list[str] = Field([], description="missing variables")
    warnings: list[str] = Field(description="code: sentence")

    @classmethod
    def of(cls, value: CapabilityFacts) -> Self:
        """The answer; scopes and roles in a fixed order."""
        return cls(
            server=ServerInfo(name="mailgate", version=__version__),
            mailbox=value.mailbox,
            imap=None if value.report is None else ImapInfo.of(value.report.imap),
            roles=_roles(value),
            gates=GateInfo(**{gate.value: gate in value.gates for gate in Gate}),
            scopes=[scope.value for scope in Scope if scope in value.scopes],
            tools=list(value.tools),
            limits=value.limits,
            store=value.store,
            not_configured=list(value.missing),
            warnings=list(value.warnings),
        )


def _roles(facts: CapabilityFacts) -> dict[str, RoleInfo]:
    if facts.report is None:
        return {use.value: RoleInfo(missing=facts.unknown_roles) for use in SpecialUse}
    return {use.value: RoleInfo.of(report) for use, report in facts.report.roles.items()}
