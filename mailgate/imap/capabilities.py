"""What a server says it can do (RFC 9051, 7.2.2), asked without regard to case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Self

# Feature name, as mail_capabilities shows it -> the capabilities any one of which provides it.
_FEATURES: Final[Mapping[str, tuple[str, ...]]] = {
    "move": ("MOVE",),  # RFC 6851
    "uidplus": ("UIDPLUS",),  # RFC 4315
    "condstore": ("CONDSTORE", "QRESYNC"),  # RFC 7162, 3.2.3: QRESYNC implies CONDSTORE
    "qresync": ("QRESYNC",),  # RFC 7162
    "special_use": ("SPECIAL-USE",),  # RFC 6154
    "esearch": ("ESEARCH",),  # RFC 4731
    "sort": ("SORT",),  # RFC 5256
    "thread": ("THREAD=REFERENCES", "THREAD=REFS", "THREAD=ORDEREDSUBJECT"),  # RFC 5256
    "preview": ("PREVIEW",),  # RFC 8970
    "idle": ("IDLE",),  # RFC 2177
    "id": ("ID",),  # RFC 2971
    "enable": ("ENABLE",),  # RFC 5161
    "literal_plus": ("LITERAL+",),  # RFC 7888
    "literal_minus": ("LITERAL-", "LITERAL+"),  # RFC 7888
    "sasl_ir": ("SASL-IR",),  # RFC 4959
    "utf8_accept": ("UTF8=ACCEPT", "UTF8=ONLY"),  # RFC 6855
    "list_extended": ("LIST-EXTENDED",),  # RFC 5258
    "list_status": ("LIST-STATUS",),  # RFC 5819
    "status_size": ("STATUS=SIZE",),  # RFC 8438
    "namespace": ("NAMESPACE",),  # RFC 2342
    "unselect": ("UNSELECT",),  # RFC 3691
    "children": ("CHILDREN",),  # RFC 3348
    "binary": ("BINARY",),  # RFC 3516
    "object_id": ("OBJECTID",),  # RFC 8474
    "save_date": ("SAVEDATE",),  # RFC 8514
    "quota": ("QUOTA",),  # RFC 9208
    "replace": ("REPLACE",),  # RFC 8508
    "gmail": ("X-GM-EXT-1",),
}

# RFC 9051, Appendix E: what IMAP4rev2 contains without a capability of its own.
_IN_REV2: Final = frozenset(
    "NAMESPACE UNSELECT UIDPLUS ESEARCH SEARCHRES ENABLE IDLE SASL-IR LIST-EXTENDED LIST-STATUS MOVE LITERAL- "
    "STATUS=SIZE CHILDREN".split()
)

# The spelling of the registry where it is not all upper case.
_SPELLING: Final = {"IMAP4REV1": "IMAP4rev1", "IMAP4REV2": "IMAP4rev2"}


@dataclass(frozen=True, slots=True)
class CapabilitySet:
    """The capabilities of one CAPABILITY response, upper case. Iterates in sorted order, in the registry's spelling.

    A set belongs to one moment: servers show MOVE and others only after login, and some proxies rewrite the early
    answer, so it is replaced after authentication and never united with what was known before.
    """

    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, names: Iterable[str | bytes]) -> Self:
        """Collect names in any case; what is not ASCII is no capability and is left out."""
        texts = (name.decode("ascii", "replace") if isinstance(name, bytes) else name for name in names)
        return cls(frozenset(text.upper() for text in texts if text and text.isascii()))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.upper() in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(_SPELLING.get(name, name) for name in self.names))

    def __len__(self) -> int:
        return len(self.names)

    def offers(self, name: str) -> bool:
        """Whether the server has it, named or as part of IMAP4rev2."""
        return name in self or ("IMAP4REV2" in self.names and name.upper() in _IN_REV2)

    def features(self) -> dict[str, bool]:
        """Feature name -> whether the server offers it."""
        return {feature: any(map(self.offers, names)) for feature, names in _FEATURES.items()}

    @property
    def auth_mechanisms(self) -> tuple[str, ...]:
        """SASL mechanism names, sorted: `"AUTH=" auth-type` (RFC 9051, 9)."""
        return tuple(name.removeprefix("AUTH=") for name in self if name.startswith("AUTH="))
