"""Where the attachments of messages that were just read lie with the server, so that fetching one takes one round trip.

Numbers and digests only: no name, no word of a message. What is remembered is a guess like any other: the part's own
header comes with its octets and has to be the one expected.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from mailgate.imap.values import MessageRef
from mailgate.limits import PLACES_KNOWN
from mailgate.mime.skeleton import Place
from mailgate.read.ports import Mailbox


@dataclass(frozen=True, slots=True)
class KnownPart:
    """One attachment. `related`: see `AttachedPart`. `unproven`: parts that have to be what the server said they are,
    or the index is not this one's."""

    place: Place
    related: bool
    unproven: tuple[Place, ...]


class KnownPlaces:
    """The parts by index, of the `limits.PLACES_KNOWN` messages that were looked at last."""

    def __init__(self) -> None:
        self._known: OrderedDict[MessageRef, Mapping[int, KnownPart]] = OrderedDict()

    def keep(self, reference: MessageRef, parts: Mapping[int, KnownPart]) -> None:
        """These are the parts of a message that have to be fetched by themselves."""
        self.forget(reference)
        if parts:
            self._known[reference] = parts
        while len(self._known) > PLACES_KNOWN:
            self._known.popitem(last=False)

    def find(self, reference: MessageRef, index: int) -> KnownPart | None:
        """The attachment with this index, if it was seen."""
        if reference not in self._known:
            return None
        self._known.move_to_end(reference)
        return self._known[reference].get(index)

    def forget(self, reference: MessageRef) -> None:
        """It is not as it was remembered."""
        self._known.pop(reference, None)


_BY_MAILBOX: WeakKeyDictionary[Mailbox, KnownPlaces] = WeakKeyDictionary()


def places_in(mailbox: Mailbox) -> KnownPlaces:
    """What is known of this mailbox; it goes when the mailbox goes."""
    return _BY_MAILBOX.setdefault(mailbox, KnownPlaces())
