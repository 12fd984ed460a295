"""Every way a call can fail, as one tree.

    MailgateError                      code, effect, sentence, next_step
    ├── CallerError                    the call itself is wrong
    │   ├── InvalidArgument            invalid_argument
    │   ├── UnknownArgument            unknown_argument
    │   ├── LimitExceeded              limit_exceeded
    │   ├── CursorInvalid              cursor_invalid
    │   └── CursorMismatch             cursor_mismatch
    ├── AuthorityError                 nobody asked the mail server
    │   ├── GateClosed                 gate_closed
    │   ├── ScopeMissing               scope_missing
    │   └── NotConfigured              not_configured
    ├── MailboxError                   the mailbox is not as the call supposes
    │   ├── StaleReference             stale_reference
    │   ├── MessageNotFound            message_not_found
    │   ├── FolderNotFound             folder_not_found
    │   ├── FolderExists               folder_exists
    │   ├── FolderNotSelectable        folder_not_selectable
    │   ├── SpecialUseMissing          special_use_missing
    │   ├── SpecialUseAmbiguous        special_use_ambiguous
    │   ├── CapabilityMissing          capability_missing
    │   ├── FlagNotPermitted           flag_not_permitted
    │   ├── ModifiedConflict           modified_conflict
    │   ├── SearchNotSupported         search_not_supported
    │   ├── AttachmentNotFound         attachment_not_found
    │   ├── AttachmentTooLarge         attachment_too_large
    │   └── SourceTruncated            source_truncated
    ├── UpstreamError                  the mail server did not do its part
    │   ├── UpstreamBusy               upstream_busy
    │   ├── UpstreamAuthFailed         upstream_auth_failed
    │   ├── UpstreamUnavailable        upstream_unavailable
    │   ├── UpstreamTimeout            upstream_timeout
    │   ├── UpstreamProtocolError      upstream_protocol_error
    │   ├── UpstreamRefused            upstream_refused
    │   └── OutcomeUnknown             outcome_unknown (effect: unknown)
    ├── SendError                      the two-call send
    │   ├── RecipientNotAllowed        recipient_not_allowed
    │   ├── SendLimitReached           send_limit_reached
    │   ├── PreparedNotFound           prepared_not_found
    │   ├── DigestMismatch             digest_mismatch
    │   └── StoreUnavailable           store_unavailable
    └── InternalError                  internal_error, an incident id and nothing else

A sentence names the argument or the limit, never its value: nothing that came out of the mailbox, and nothing the
caller typed, is ever part of an error. What a server said stays in `UpstreamRefused.server_text`, which is never
rendered and never logged.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Self

from mailgate.faults import Fault


class Effect(StrEnum):
    """What the failed call has done to the mailbox or to the world."""

    REFUSED = "refused"
    """Nothing happened."""
    UNKNOWN = "unknown"
    """It may or may not have happened; nobody can tell from here."""


class MailgateError(Exception):
    """A failure that a caller may see: a fixed code, one sentence, and what to do next."""

    code: ClassVar[str] = "internal_error"
    effect: ClassVar[Effect] = Effect.REFUSED
    default_sentence: ClassVar[str] = "The call failed."
    default_next: ClassVar[str] = "Try again later."
    fault: Fault | None = None
    """What exactly went wrong, where a door knows it: for `mailgate doctor`, never part of an answer."""

    def __init_subclass__(cls, *, code: str | None = None) -> None:
        super().__init_subclass__()
        if code is not None:
            cls.code = code

    def __init__(self, sentence: str | None = None, *, next_step: str | None = None) -> None:
        self.sentence = sentence or self.default_sentence
        self.next_step = next_step or self.default_next
        super().__init__(self.sentence)

    def render(self) -> str:
        """The two lines a caller reads: `error CODE: sentence` and `next: step`."""
        return f"error {self.code}: {self.sentence}\nnext: {self.next_step}"

    def because(self, fault: Fault) -> Self:
        """This error with its fault. The first one told is the nearest to the cause, and stays."""
        self.fault = self.fault or fault
        return self


class CallerError(MailgateError):
    """The call cannot be carried out as written."""

    default_next = "Correct the argument and call again."


class InvalidArgument(CallerError, code="invalid_argument"):
    """An argument has the wrong form, is out of range, or holds control characters."""

    default_sentence = "An argument has the wrong form."


class UnknownArgument(CallerError, code="unknown_argument"):
    """An argument that the tool's schema does not have."""

    default_sentence = "The call has an argument that this tool does not take."
    default_next = "Look at the tool's input schema and call again."


class LimitExceeded(CallerError, code="limit_exceeded"):
    """A documented bound would be passed."""

    default_sentence = "The call passes a documented limit."
    default_next = "See `limits` in mail_capabilities and ask for less."


class CursorInvalid(CallerError, code="cursor_invalid"):
    """A cursor this deployment did not make for this mailbox, or that was altered."""

    default_sentence = "The cursor was not issued by this server for this mailbox."
    default_next = "Start the search again without a cursor."


class CursorMismatch(CallerError, code="cursor_mismatch"):
    """A genuine cursor, used with another folder, order or filters than it was made for."""

    default_sentence = "The cursor belongs to a search with another folder, order or filters."
    default_next = "Repeat the original arguments with the cursor, or start again without it."


class AuthorityError(MailgateError):
    """Refused before anything was asked of the mail server."""


class GateClosed(AuthorityError, code="gate_closed"):
    """The operator has not switched this kind of call on."""

    default_sentence = "This deployment does not allow this kind of call."
    default_next = "Only the operator can change that; do something else."


class ScopeMissing(AuthorityError, code="scope_missing"):
    """The token lacks a scope that the call needs."""

    default_sentence = "The token lacks a scope that this call needs."
    default_next = "Ask the owner to grant the scopes that mail_capabilities names for this tool."


class NotConfigured(AuthorityError, code="not_configured"):
    """Settings without which no mail server can be reached are missing."""

    default_sentence = "No mailbox is configured."
    default_next = "The operator sets the variables that mail_capabilities names under not_configured."

    def __init__(self, variables: tuple[str, ...] = (), sentence: str | None = None) -> None:
        self.variables = variables
        named = "The mailbox is not configured; missing: " + ", ".join(variables) + "." if variables else None
        super().__init__(sentence or named)


class MailboxError(MailgateError):
    """The mailbox is not as the call supposes."""


class StaleReference(MailboxError, code="stale_reference"):
    """UIDVALIDITY differs: the UID may now name another message (RFC 9051, 2.3.1.1)."""

    default_sentence = "The folder was rebuilt since this reference was made; its UIDs name other messages now."
    default_next = "Search again and use the new reference."


class MessageNotFound(MailboxError, code="message_not_found"):
    """The UID names no message in the folder."""

    default_sentence = "The folder has no message with this uid."
    default_next = "Search again; the message was moved or removed."


class FolderNotFound(MailboxError, code="folder_not_found"):
    """No folder of that name, or one that the operator hides."""

    default_sentence = "There is no folder with exactly this name."
    default_next = "Take a name from mail_list_folders, letter for letter."


class FolderExists(MailboxError, code="folder_exists"):
    """A folder of that name is there already."""

    default_sentence = "A folder with this name exists already."
    default_next = "Choose another name."


class FolderNotSelectable(MailboxError, code="folder_not_selectable"):
    """The folder only holds other folders (`\\Noselect`)."""

    default_sentence = "This folder only holds other folders and no messages."
    default_next = "Choose a folder that mail_list_folders shows as selectable."


class SpecialUseMissing(MailboxError, code="special_use_missing"):
    """No folder has the asked role."""

    default_sentence = "The mail server names no folder for this role."
    default_next = "Name the folder itself, or ask the operator to set MAIL_FOLDER_ROLES."


class SpecialUseAmbiguous(MailboxError, code="special_use_ambiguous"):
    """More than one folder has the asked role."""

    default_sentence = "The mail server names more than one folder for this role."
    default_next = "Name the folder itself, or ask the operator to set MAIL_FOLDER_ROLES."


class CapabilityMissing(MailboxError, code="capability_missing"):
    """The server lacks the extension without which the call cannot be done safely."""

    default_sentence = "The mail server lacks an extension that this call needs."
    default_next = "See features in mail_capabilities; there is no substitute for it."


class FlagNotPermitted(MailboxError, code="flag_not_permitted"):
    """The folder does not store that flag permanently."""

    default_sentence = "This folder does not keep this flag."
    default_next = "Use one of the flags that the folder keeps."


class ModifiedConflict(MailboxError, code="modified_conflict"):
    """The message changed between reading and writing (RFC 7162, 3.1.3)."""

    default_sentence = "Another client changed the message in the meantime; nothing was changed."
    default_next = "Read the message again and decide anew."


class SearchNotSupported(MailboxError, code="search_not_supported"):
    """The server cannot search that charset, key or term; this is not "nothing found"."""

    default_sentence = "The mail server cannot carry out this search."
    default_next = "Use fewer or other filters, or plain ASCII terms."


class AttachmentNotFound(MailboxError, code="attachment_not_found"):
    """The message has no attachment with that index."""

    default_sentence = "The message has no attachment with this index."
    default_next = "Take an index from attachments in mail_read."


class AttachmentTooLarge(MailboxError, code="attachment_too_large"):
    """The attachment passes the documented size, or does not lie within the examined part of the message."""

    default_sentence = "The attachment is larger than this server hands out."
    default_next = "The owner can open it in a mail program."


class SourceTruncated(MailboxError, code="source_truncated"):
    """The source message is too large to be whole."""

    default_sentence = "The source message is too large to be taken over whole."
    default_next = "Write a new message instead."


class UpstreamError(MailgateError):
    """The mail server did not do its part."""


class UpstreamBusy(UpstreamError, code="upstream_busy"):
    """Every connection to the mailbox was in use past the queue deadline."""

    default_sentence = "All connections to the mailbox are in use."
    default_next = "Wait a few seconds and call again."


class UpstreamAuthFailed(UpstreamError, code="upstream_auth_failed"):
    """The login was refused; it is never tried twice."""

    default_sentence = "The mail server refused the login."
    default_next = "The operator checks user name and password (some providers need an app password)."


class UpstreamUnavailable(UpstreamError, code="upstream_unavailable"):
    """DNS, connect, TLS, BYE, or a closed connection."""

    default_sentence = "The mail server cannot be reached."
    default_next = "Call again later; if it stays so, the operator checks host, port, security and the network."


class UpstreamTimeout(UpstreamError, code="upstream_timeout"):
    """The deadline passed while waiting for the server."""

    default_sentence = "The mail server did not answer in time."
    default_next = "Call again, with a narrower request if possible."


class UpstreamProtocolError(UpstreamError, code="upstream_protocol_error"):
    """The server broke the protocol or one of our bounds; the connection was dropped."""

    default_sentence = "The mail server sent something that cannot be relied on."
    default_next = "Call again; if it stays so, report the server software to the operator."


class UpstreamRefused(UpstreamError, code="upstream_refused"):
    """A NO (or 5xx) that has no better code.

    `server_status` is `NO` or `BAD`, `response_code` the bracketed code's atom or None, `server_text` what the server
    wrote: untrusted, never rendered and never logged.
    """

    default_sentence = "The mail server refused the request."
    default_next = "Do something else; repeating it will not help."

    def __init__(
        self,
        sentence: str | None = None,
        *,
        next_step: str | None = None,
        server_status: str = "NO",
        response_code: str | None = None,
        server_text: bytes = b"",
    ) -> None:
        super().__init__(sentence, next_step=next_step)
        self.server_status = server_status
        self.response_code = response_code
        self.server_text = server_text


class OutcomeUnknown(UpstreamError, code="outcome_unknown"):
    """The connection ended after a changing command had left."""

    effect = Effect.UNKNOWN
    default_sentence = "The connection ended before the mail server answered; the change may have happened."
    default_next = "Look at the folder before doing anything again."


class SendError(MailgateError):
    """The two-call send refused; nothing was sent by this call."""


class RecipientNotAllowed(SendError, code="recipient_not_allowed"):
    """A recipient outside the operator's list."""

    default_sentence = "A recipient is not on the list that the operator allows."
    default_next = "Only the operator can extend MAIL_ALLOWED_RECIPIENTS."


class SendLimitReached(SendError, code="send_limit_reached"):
    """The operator's hourly cap."""

    default_sentence = "The hourly limit of sends is reached."
    default_next = "Wait; the prepared message stays valid until it expires."


class PreparedNotFound(SendError, code="prepared_not_found"):
    """Unknown, someone else's, expired or forgotten: deliberately one answer."""

    default_sentence = "There is no prepared message with this id for this caller."
    default_next = "Look in Sent for the message before preparing it again."


class DigestMismatch(SendError, code="digest_mismatch"):
    """The confirmed digest is not that of the stored message; nothing was consumed."""

    default_sentence = "The digest is not that of the prepared message."
    default_next = "Show the owner the prepared message again and pass its digest unchanged."


class StoreUnavailable(SendError, code="store_unavailable"):
    """The store did not answer; this call sent no message."""

    default_sentence = "The store for prepared messages did not answer; this call sent no message."
    default_next = "Call again later with the same arguments."


class InternalError(MailgateError, code="internal_error"):
    """A fault of ours: an incident id, which the log carries too, and nothing else."""

    def __init__(self, incident: str) -> None:
        self.incident = incident
        super().__init__(
            f"An internal fault stopped the call (incident {incident}).",
            next_step="Tell the operator the incident id; the log has an entry with it.",
        )
