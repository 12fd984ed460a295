"""What each sending tool takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field

from mailgate.errors import PreparedNotFound
from mailgate.server.arguments import Arguments, BrokenRule, Line, ReferenceArgument
from mailgate.server.write_arguments import CompositionArgument

if TYPE_CHECKING:
    from mailgate.send.record import Digest, PreparedId


def _digest(text: str) -> str:
    from mailgate.send.record import Digest

    try:
        return Digest(text).value
    except ValueError:
        raise BrokenRule("must be a digest as a prepare tool gave it, 64 lower-case hex digits") from None


class PrepareSendArguments(Arguments):
    """mail_prepare_send."""

    message: CompositionArgument


class PrepareAnswerArguments(Arguments):
    """mail_prepare_reply and mail_prepare_forward."""

    reference: ReferenceArgument
    message: CompositionArgument


class SendConfirmedArguments(Arguments):
    """mail_send_confirmed. Nothing has a default: each of the three was decided by somebody."""

    prepared_id: Line
    confirmed_digest: Annotated[str, AfterValidator(_digest)] = Field(description="digest that the owner saw")
    append_sent: bool = Field(description="save a copy in Sent; needs mail.write")

    @property
    def named(self) -> PreparedId:
        """The id. `PreparedNotFound` for what cannot be one: the same answer as for one that is not there."""
        from mailgate.send.record import PreparedId

        try:
            return PreparedId(self.prepared_id)
        except ValueError:
            raise PreparedNotFound from None

    @property
    def digest(self) -> Digest:
        """The digest, whose form has been checked."""
        from mailgate.send.record import Digest

        return Digest(self.confirmed_digest)
