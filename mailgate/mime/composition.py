"""What a caller asks to be written, valid once built: every field is checked before an octet of a message exists.

Nothing is repaired that could be meant otherwise. Header strings hold no character that ends a line for anybody;
recipients and ids are of the plainest form there is, so that every mail program reads them alike.
Errors name the field, as the tools call it (`message.to.0`), and the rule; never the value.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from mailgate.errors import InvalidArgument, LimitExceeded
from mailgate.limits import (
    CONTENT_TYPE_NAME_MAX,
    FILENAME_CHARS_MAX,
    KIB,
    MESSAGE_ID_BYTES_MAX,
    MIB,
    RECIPIENTS_MAX,
    REFERENCES_BYTES_MAX,
    REFERENCES_MAX,
    SUBJECT_BYTES_MAX,
    TEXT_WRITE_BYTES_MAX,
    UPLOAD_BYTES_MAX,
    UPLOADS_MAX,
)

LOCAL_PART_MAX: Final = 64
DOMAIN_MAX: Final = 253
"""RFC 5321, 4.5.3.1 counts 255 octets on the wire of DNS, which are 253 characters."""

_ATEXT: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]"
_LABEL: Final = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_LOCAL_PART: Final = re.compile(rf"{_ATEXT}++(?:\.{_ATEXT}++)*+")
# RFC 3696, 2: the last label is never all digits, or a bare IPv4 address would pass for a name.
_DOMAIN: Final = re.compile(rf"(?:{_LABEL}\.)*(?![0-9]+\Z){_LABEL}")
# msg-id of RFC 5322, 3.6.4; dots may stand anywhere, as they do in ids of large senders.
_ID_SIDE: Final = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]++"
_MESSAGE_ID: Final = re.compile(rf"<{_ID_SIDE}@(?:{_ID_SIDE}|\[[A-Za-z0-9.:_-]++\])>")
_TOKEN: Final = rf"[A-Za-z0-9!#$%&'*+.^_`{{|}}~-]{{1,{CONTENT_TYPE_NAME_MAX}}}"
_CONTENT_TYPE: Final = re.compile(rf"{_TOKEN}/{_TOKEN}")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]*+={0,2}")

_SURROGATES: Final = "\ud800-\udfff"
_NOT_IN_HEADER: Final = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029{_SURROGATES}]")
# TAB and line ends are text; U+2028 and U+2029 too, for no mail program ends a line of octets there.
_NOT_IN_TEXT: Final = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_SURROGATES}]")
_LINE_END: Final = re.compile("\r\n?")


def is_addr_spec(text: str) -> bool:
    """One bare ASCII address (RFC 5322, 3.4.1): dot-atom, `@`, host name. No quotes, comments or address literals.

    What looks like an encoded word is refused, since some programs decode it wherever it stands.
    """
    local, _, domain = text.partition("@")
    return (
        len(local) <= LOCAL_PART_MAX
        and len(domain) <= DOMAIN_MAX
        and "=?" not in local
        and _LOCAL_PART.fullmatch(local) is not None
        and _DOMAIN.fullmatch(domain) is not None
    )


def is_message_id(text: str) -> bool:
    """One id in angle brackets (RFC 5322, 3.6.4), ASCII, at most `limits.MESSAGE_ID_BYTES_MAX` octets."""
    return len(text) <= MESSAGE_ID_BYTES_MAX and "=?" not in text and _MESSAGE_ID.fullmatch(text) is not None


def decode_upload(data_base64: str, position: int) -> bytes:
    """The octets of `attachments[position].data_base64`, strictly (RFC 4648, 3.3 and 4).

    Raises `InvalidArgument`, and `LimitExceeded` before decoding what cannot fit.
    """
    # Four digits for three octets, and one group more.
    if len(data_base64) > UPLOAD_BYTES_MAX // 3 * 4 + 4:
        raise _attachments_too_large()
    if len(data_base64) % 4 or not _BASE64.fullmatch(data_base64):
        raise _invalid(f"attachments.{position}.data_base64", "must be padded base64 without blanks or line ends")
    return binascii.a2b_base64(data_base64)


@dataclass(frozen=True, slots=True, repr=False)
class AttachmentUpload:
    """A file to attach: a bare name, `token/token` in lower case, and the decoded octets. Checked by `Composition`."""

    filename: str
    content_type: str
    data: bytes


@dataclass(frozen=True, slots=True, repr=False)
class Composition:
    """A message as asked for. Nothing is required: a draft may be empty.

    `to`, `cc`, `bcc`: bare ASCII addresses; one that is named again keeps its first role, and `repeated` is set.
    `text`: plain text with LF line ends, however they were given. `in_reply_to`, `references`: ids with their
    brackets. Raises `InvalidArgument` and `LimitExceeded`.
    """

    to: tuple[str, ...] = ()
    cc: tuple[str, ...] = ()
    bcc: tuple[str, ...] = ()
    subject: str = ""
    text: str = ""
    attachments: tuple[AttachmentUpload, ...] = ()
    in_reply_to: str | None = None
    references: tuple[str, ...] = ()
    repeated: bool = False

    def __post_init__(self) -> None:
        _check_recipients({"to": self.to, "cc": self.cc, "bcc": self.bcc})
        _check_subject(self.subject)
        _check_thread(self.in_reply_to, self.references)
        self._set(text=_checked_text(self.text), references=tuple(self.references))
        self._set(attachments=_checked_attachments(self.attachments))
        self._keep_first_roles()

    def _keep_first_roles(self) -> None:
        seen: set[str] = set()
        given = len(self.to) + len(self.cc) + len(self.bcc)
        self._set(to=_new(self.to, seen), cc=_new(self.cc, seen), bcc=_new(self.bcc, seen))
        self._set(repeated=self.repeated or len(seen) < given)

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)


def _new(addresses: Iterable[str], seen: set[str]) -> tuple[str, ...]:
    """The addresses that were not seen before. A host's case means nothing; a local part's may (RFC 5321, 2.4)."""
    kept = []
    for address in addresses:
        local, _, domain = address.partition("@")
        key = f"{local}@{domain.lower()}"
        if key not in seen:
            seen.add(key)
            kept.append(address)
    return tuple(kept)


# --- the checks ------------------------------------------------------------------------------------------------


def _invalid(field: str, rule: str) -> InvalidArgument:
    return InvalidArgument(f"`message.{field}` {rule}.")


def _check_header(field: str, text: str) -> None:
    if _NOT_IN_HEADER.search(text):
        raise _invalid(field, "must be one line without control characters or lone surrogates")


def _check_recipients(roles: dict[str, Sequence[str]]) -> None:
    if sum(map(len, roles.values())) > RECIPIENTS_MAX:
        raise LimitExceeded(
            f"`message.to`, `message.cc` and `message.bcc` hold more than {RECIPIENTS_MAX} recipients together."
        )
    for role, addresses in roles.items():
        for position, address in enumerate(addresses):
            if not is_addr_spec(address):
                raise _invalid(f"{role}.{position}", "must be one bare ASCII address of the form name@host")


def _check_subject(subject: str) -> None:
    _check_header("subject", subject)
    if len(subject.encode()) > SUBJECT_BYTES_MAX:
        raise LimitExceeded(f"`message.subject` is longer than {SUBJECT_BYTES_MAX} octets of UTF-8.")


def _checked_text(text: str) -> str:
    if _NOT_IN_TEXT.search(text):
        raise _invalid("text", "must not hold control characters other than TAB and line ends, or lone surrogates")
    unified = _LINE_END.sub("\n", text)
    if len(unified.encode()) > TEXT_WRITE_BYTES_MAX:
        raise LimitExceeded(f"`message.text` is longer than {TEXT_WRITE_BYTES_MAX // MIB} MiB of UTF-8.")
    return unified


def _check_thread(in_reply_to: str | None, references: Sequence[str]) -> None:
    rule = f"must be one message id of the form <left@right>, ASCII, at most {MESSAGE_ID_BYTES_MAX} octets"
    if in_reply_to is not None and not is_message_id(in_reply_to):
        raise _invalid("in_reply_to", rule)
    if len(references) > REFERENCES_MAX:
        raise LimitExceeded(f"`message.references` holds more than {REFERENCES_MAX} ids.")
    for position, reference in enumerate(references):
        if not is_message_id(reference):
            raise _invalid(f"references.{position}", rule)
    if sum(map(len, references)) > REFERENCES_BYTES_MAX:
        raise LimitExceeded(f"`message.references` is longer than {REFERENCES_BYTES_MAX // KIB} KiB in all.")


def _attachments_too_large() -> LimitExceeded:
    return LimitExceeded(f"`message.attachments` hold more than {UPLOAD_BYTES_MAX // MIB} MiB decoded, all together.")


def _checked_attachments(attachments: Sequence[AttachmentUpload]) -> tuple[AttachmentUpload, ...]:
    if len(attachments) > UPLOADS_MAX:
        raise LimitExceeded(f"`message.attachments` holds more than {UPLOADS_MAX} attachments.")
    if sum(len(attachment.data) for attachment in attachments) > UPLOAD_BYTES_MAX:
        raise _attachments_too_large()
    return tuple(_checked_attachment(position, one) for position, one in enumerate(attachments))


def _checked_attachment(position: int, attachment: AttachmentUpload) -> AttachmentUpload:
    field = f"attachments.{position}"
    name = attachment.filename
    _check_header(f"{field}.filename", name)
    # A path is of no use to who receives it, and a trap where it is followed.
    if name.strip() in ("", ".", "..") or "/" in name or "\\" in name:
        raise _invalid(f"{field}.filename", "must be a bare file name, not empty and without / or \\")
    if len(name) > FILENAME_CHARS_MAX:
        raise LimitExceeded(f"`message.{field}.filename` is longer than {FILENAME_CHARS_MAX} characters.")
    # Before it is lower-cased: the Kelvin sign becomes a plain k.
    if not _CONTENT_TYPE.fullmatch(attachment.content_type):
        raise _invalid(f"{field}.content_type", "must be of the form type/subtype, without parameters")
    kind = attachment.content_type.lower()
    # RFC 2046, 5: these hold entities of their own and may not be in base64.
    if kind.startswith(("multipart/", "message/")):
        raise _invalid(f"{field}.content_type", "must be neither multipart nor message")
    return AttachmentUpload(name, kind, attachment.data)
