"""What nodes tell each other beside the order: small unicasts, msgpack arrays with a kind first.

| message | meaning |
|---|---|
| `["info", url]` | what browsers call the sender |
| `["people", [person, ...]]` | everybody with a document open at the sender, whole list |
| `["carets", [person, ...]]` | these have come or moved |
| `["left", doc, who]` | this one has closed the document |
| `["state?", ask, epoch, position, chain, need]` | give me what follows, as of `need` or later |
| `["state!", ask, url, ticket]` | fetch it there, once |
| `["state-", ask, reason]` | ask another |

A person is `[doc, who, name, block, anchor, head]`. Only members are heard (the transport
authenticates them); what does not decode is dropped and counted all the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgpack import Packer, unpackb
from msgpack.exceptions import UnpackException

_packer = Packer(use_bin_type=True, autoreset=True)

EVERYTHING = -1
"""As the position of a state request: nothing of what the asker has counts."""

PEOPLE_MAX = 10_000
"""Most persons in one message."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who has a document open, and where the caret is."""

    doc: str
    who: str
    name: str
    block: str | None = None
    anchor: int = 0
    head: int = 0

    def row(self) -> list[str | int | None]:
        """As it travels."""
        return [self.doc, self.who, self.name, self.block, self.anchor, self.head]


@dataclass(frozen=True, slots=True)
class Info:
    """See the table."""

    url: str


@dataclass(frozen=True, slots=True)
class People:
    """See the table; `whole` False for `carets`."""

    people: list[Person]
    whole: bool


@dataclass(frozen=True, slots=True)
class PersonLeft:
    """See the table."""

    doc: str
    who: str


@dataclass(frozen=True, slots=True)
class StateRequest:
    """See the table."""

    ask: int
    epoch: int
    position: int
    chain: bytes
    need: int


@dataclass(frozen=True, slots=True)
class StateOffer:
    """See the table."""

    ask: int
    url: str
    ticket: bytes


@dataclass(frozen=True, slots=True)
class StateDenied:
    """See the table."""

    ask: int
    reason: str


PeerMessage = Info | People | PersonLeft | StateRequest | StateOffer | StateDenied


def encode_peer(message: PeerMessage) -> bytes:
    """The bytes of a message between nodes."""
    match message:
        case Info(url):
            fields: list[object] = ["info", url]
        case People(people, whole):
            fields = ["people" if whole else "carets", [person.row() for person in people]]
        case PersonLeft(doc, who):
            fields = ["left", doc, who]
        case StateRequest(ask, epoch, position, chain, need):
            fields = ["state?", ask, epoch, position, chain, need]
        case StateOffer(ask, url, ticket):
            fields = ["state!", ask, url, ticket]
        case StateDenied(ask, reason):
            fields = ["state-", ask, reason]
    packed: bytes = _packer.pack(fields)
    return packed


def decode_peer(payload: bytes) -> PeerMessage | None:
    """The message, or None when the bytes are none that this version knows."""
    try:
        fields = unpackb(payload, raw=False, use_list=True, strict_map_key=True)
    except (UnpackException, ValueError, TypeError, RecursionError):
        return None
    match fields:
        case ["info", str(url)]:
            return Info(url)
        case ["people" | "carets", list(rows)] if len(rows) <= PEOPLE_MAX:
            people = [_person(row) for row in rows]
            found = [person for person in people if person is not None]
            return People(found, fields[0] == "people") if len(found) == len(rows) else None
        case ["left", str(doc), str(who)]:
            return PersonLeft(doc, who)
        case ["state?", int(ask), int(epoch), int(position), bytes(chain), int(need)]:
            return StateRequest(ask, epoch, position, chain, need)
        case ["state!", int(ask), str(url), bytes(ticket)]:
            return StateOffer(ask, url, ticket)
        case ["state-", int(ask), str(reason)]:
            return StateDenied(ask, reason)
        case _:
            return None


def _person(row: object) -> Person | None:
    match row:
        case [str(doc), str(who), str(name), (str() | None) as block, int(anchor), int(head)]:
            return Person(doc, who, name, block, anchor, head)
        case _:
            return None
