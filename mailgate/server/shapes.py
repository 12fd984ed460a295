"""The base of every result model: what is required is always there, what is optional and empty is left out."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from mailgate.imap.values import ModSeq
    from mailgate.mime.model import ReadWarning


class Shape(BaseModel):
    """An object in a result. Fields without a default are always shown; the others only when they say something."""

    # Built when first used: a start that only lists the tools needs no result.
    model_config = ConfigDict(
        extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True, defer_build=True
    )

    def plain(self) -> dict[str, Any]:
        """The object as JSON shows it: aliases as keys, optional null and empty fields left out."""
        shown, kept = {}, self.kept()
        for name, alias, required in _fields(type(self)):
            value = _plain(getattr(self, name))
            if required or name in kept or value not in (None, [], ""):
                shown[alias] = value
        return shown

    def kept(self) -> frozenset[str]:
        """Optional fields that this object shows although they are empty."""
        return frozenset()


@cache
def _fields(shape: type[Shape]) -> tuple[tuple[str, str, bool], ...]:
    """Each field's name, its name in JSON, and whether it is always shown; asking pydantic anew is slow."""
    fields = shape.model_fields.items()
    return tuple((name, str(field.validation_alias or name), field.is_required()) for name, field in fields)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Shape):
        return value.plain()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


V = TypeVar("V")


class Result(Shape, Generic[V]):
    """The whole answer of a tool, made from the value of type V that its handler returns."""

    if not TYPE_CHECKING:

        @classmethod
        def __class_getitem__(cls, _value):
            """V is for type checkers: pydantic would make one more model of each, and load what V names."""
            return cls

    @classmethod
    def of(cls, value: V) -> Self:
        """The answer that shows `value`."""
        raise NotImplementedError


# --- conversions that several results share ----------------------------------------------------------------------


def moment(at: datetime | None) -> str | None:
    """ISO 8601 with offset, or None."""
    return None if at is None else at.isoformat(timespec="seconds")


def decimal(mod_seq: ModSeq | None) -> str | None:
    """A MODSEQ as decimal digits: 63 bits do not survive every JSON reader (RFC 8259, 6)."""
    return None if mod_seq is None else str(int(mod_seq))


def sentences(warnings: Iterable[ReadWarning]) -> list[str]:
    """Warnings as `code: sentence`."""
    return [str(warning) for warning in warnings]
