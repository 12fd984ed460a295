"""`mail_capabilities`: it answers whatever is missing, and asks the mail server only where there is one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from mailgate import limits
from mailgate.errors import UpstreamError
from mailgate.policy import permit
from mailgate.server.arguments import NoArguments
from mailgate.server.backend import Call
from mailgate.server.capability_result import CapabilityFacts, MailboxInfo, StoreInfo, ToolInfo
from mailgate.settings import Settings

if TYPE_CHECKING:
    from mailgate.read.capabilities import MailboxReport
    from mailgate.send.desk import SendDesk

_SHARE: Final = 0.7
"""Of the call's deadline: what the mail server may take before the rest is told without it."""
_UNREACHED: Final = "The mail server was not reached, so this is not known."
_UNCONFIGURED: Final = "No mailbox is configured."


async def mail_capabilities(call: Call, _arguments: NoArguments) -> CapabilityFacts:
    """What this deployment, this server and this caller can do."""
    report, warnings = await _report(call)
    settings = call.settings
    return CapabilityFacts(
        mailbox=_mailbox(settings),
        report=report,
        unknown_roles=_UNCONFIGURED if call.backend.connected is None else _UNREACHED,
        gates=settings.gates,
        scopes=call.principal.scopes,
        tools=_tools(call, report),
        limits=effective_limits(settings),
        store=_store(call.backend.desk),
        missing=settings.missing,
        warnings=(*warnings, *(f"configuration: {warning}" for warning in settings.warnings)),
    )


async def _report(call: Call) -> tuple[MailboxReport | None, tuple[str, ...]]:
    if call.backend.connected is None:
        return None, ()
    from mailgate.read.capabilities import describe_mailbox

    try:
        async with asyncio.timeout(call.settings.upstream_timeout_seconds * _SHARE):
            return await describe_mailbox(call.backend.connected.mailbox), ()
    except UpstreamError as error:
        return None, (f"{error.code}: {error.sentence}",)
    except TimeoutError:
        return None, ("upstream_timeout: The mail server did not answer in time.",)


def _mailbox(settings: Settings) -> MailboxInfo:
    """Who the owner is: the sender if there is one, else a login that is an address."""
    if settings.mail_from is not None:
        return MailboxInfo(address=settings.mail_from.address, name=settings.mail_from.name)
    username = settings.username or ""
    return MailboxInfo(address=username if "@" in username else None)


def _tools(call: Call, report: MailboxReport | None) -> tuple[ToolInfo, ...]:
    """Every tool, and for those that would be refused, by the same rule that refuses them, why.

    A needed extension or role that the mail server lacks comes last: authority is decided without asking it.
    """
    rows = []
    for tool in call.tools:
        denial = permit(tool.requirement, call.principal.scopes, call.settings.gates)
        reason = denial.reason if denial else None
        if reason is None and tool.needs_mailbox and call.backend.connected is None:
            reason = "not configured: " + ", ".join(call.settings.missing)
        if reason is None:
            reason = tool.needs.unmet(call.settings, report, has_store=call.backend.desk is not None)
        rows.append(ToolInfo(name=tool.name, callable=reason is None, reason=reason))
    return tuple(rows)


def _store(desk: SendDesk | None) -> StoreInfo | None:
    return None if desk is None else StoreInfo(kind=desk.kind, durable=desk.durable)


def effective_limits(settings: Settings) -> dict[str, int | float]:
    """Every bound that a caller can run into, as it is in force here."""
    per_hour = settings.send_limit_per_hour
    return {
        "search_limit": limits.SEARCH_LIMIT_MAX,
        "search_term_bytes": limits.SEARCH_TERM_MAX,
        "search_scan_uids": settings.search_scan_uids,
        "search_budget_seconds": settings.search_budget_seconds,
        "folders": limits.FOLDERS_MAX,
        "folder_name_bytes": limits.FOLDER_NAME_MAX,
        "status_commands": limits.STATUS_MAX,
        "references": limits.READ_BATCH_MAX,
        "max_chars": limits.READ_CHARS_MAX,
        "quoted_blocks": limits.QUOTED_BLOCKS_MAX,
        "preview_chars": limits.PREVIEW_CHARS,
        "source_bytes": limits.SOURCE_BYTES_MAX,
        "text_bytes": limits.TEXT_BYTES_MAX,
        "mime_depth": limits.MIME_DEPTH_MAX,
        "mime_parts": limits.MIME_PARTS_MAX,
        "header_bytes": limits.HEADER_BYTES_MAX,
        "header_fields": limits.HEADER_FIELDS_MAX,
        "header_value_chars": limits.HEADER_VALUE_CHARS_MAX,
        "addresses": limits.ADDRESSES_MAX,
        "filename_chars": limits.FILENAME_CHARS_MAX,
        "html_bytes": limits.HTML_BYTES_MAX,
        "html_token_bytes": limits.HTML_TOKEN_BYTES_MAX,
        "html_tokens": limits.HTML_TOKENS_MAX,
        "html_open_elements": limits.HTML_OPEN_ELEMENTS_MAX,
        "attachment_bytes": limits.ATTACHMENT_BYTES_MAX,
        "parse_seconds": limits.PARSE_SECONDS,
        "flags": limits.FLAGS_MAX,
        "keyword_chars": limits.KEYWORD_CHARS_MAX,
        "recipients": limits.RECIPIENTS_MAX,
        "subject_bytes": limits.SUBJECT_BYTES_MAX,
        "text_write_bytes": limits.TEXT_WRITE_BYTES_MAX,
        "uploads": limits.UPLOADS_MAX,
        "upload_bytes": limits.UPLOAD_BYTES_MAX,
        "message_bytes": limits.COMPOSED_BYTES_MAX,
        "prepared_seconds": limits.PREPARED_SECONDS,
        "send_deadline_seconds": settings.send_deadline_seconds,
        **({} if per_hour is None else {"send_limit_per_hour": per_hour}),
        "store_seconds": limits.STORE_SECONDS,
        "request_bytes": settings.max_request_bytes,
        "result_bytes": settings.max_result_bytes,
        "json_depth": limits.JSON_DEPTH_MAX,
        "imap_connections": settings.imap_connections,
        "queue_seconds": limits.QUEUE_SECONDS,
        "upstream_timeout_seconds": settings.upstream_timeout_seconds,
    }
