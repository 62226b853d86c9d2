"""The unit that passes through a stack: a batch of messages that travel together.

A batch is a stack of headers over a closed body. The body is a msgpack array of binaries, one a
message; layers read headers and never open it. Only the end that consumes the messages does
(hot path, rules 1 and 2: per-message work in the layers costs fourteen times as much).
"""

from __future__ import annotations

from typing import ClassVar

from msgpack import Packer, unpackb
from msgpack.exceptions import UnpackException

from groupcore.errors import WireError
from groupcore.view import Address

MESSAGES_MAX = 65_536
"""Most messages that one batch may hold."""

_BYTES_ONLY = {bytes}
_packer = Packer(use_bin_type=True, autoreset=True)


class Header:
    """Base of what a layer puts on a batch for the same layer at the other end.

    One class a message kind, beside the layer that owns it; `kind` is `layer.verb`. The fields
    and their types are read from the dataclass by `groupcore.wire`, which does the encoding.
    """

    __slots__ = ()
    kind: ClassVar[str]
    ends_with_epoch: ClassVar[bool] = False
    """What carries it and has not gone out is dropped when an epoch begins: it is sent anew."""
    self_limiting: ClassVar[bool] = False
    """Whether the layer itself bounds what is under way with this header, unicast: flow control
    leaves it alone, and no application is waited for."""

    alone: ClassVar[bool] = False
    """Whether it has a datagram of its own, however much else goes to the same node: of a large
    datagram that the network cuts, all is lost with one part."""

    @property
    def continues(self) -> bool:
        """Whether this batch is the rest of the one before it: nothing may come between them."""
        return False


class Batch:
    """Messages of one sender that travel together, with the headers that layers put on them.

    `sender` is who the batch is from: on the way down the member itself, on the way up whom the
    transport authenticated (SEQUENCER puts the original sender back). `destination` None means
    the group. `headers` go from innermost to outermost; the last is the next to be taken off.
    `reliable` False asks NAKACK and UNICAST to let it pass as it is. `position` is the place of
    the first message in the total order, 1 for the first of an epoch; 0 without one. A batch that
    has a body and the `count` 0 is a piece, which a later one completes (FRAG). Treat as
    immutable: layers that change one make a shallow copy (`with_header`, `without_header`,
    `ordered`), so that what is kept for retransmission stays what was sent.
    """

    __slots__ = ("body", "count", "destination", "headers", "position", "reliable", "sender")

    def __init__(
        self,
        sender: Address,
        destination: Address | None,
        headers: tuple[Header, ...] = (),
        body: bytes = b"",
        count: int = 0,
        reliable: bool = True,
        position: int = 0,
    ) -> None:
        self.sender = sender
        self.destination = destination
        self.headers = headers
        self.body = body
        self.count = count
        self.reliable = reliable
        self.position = position

    def with_header(self, header: Header) -> Batch:
        """A shallow copy with one header more, for the way down."""
        return Batch(
            self.sender,
            self.destination,
            (*self.headers, header),
            self.body,
            self.count,
            self.reliable,
        )

    def without_header(self) -> Batch:
        """A shallow copy without its outermost header, for the way up."""
        return Batch(
            self.sender, self.destination, self.headers[:-1], self.body, self.count, self.reliable
        )

    def to(self, destination: Address | None) -> Batch:
        """A shallow copy for another destination."""
        return Batch(self.sender, destination, self.headers, self.body, self.count, self.reliable)

    def ordered(self, sender: Address, position: int) -> Batch:
        """A shallow copy for the layer above: its original sender, its place in the order.

        SEQUENCER, Deliver(M, S): the header comes off and the sender is put back on a copy, so
        that the retransmission copy stays as it was.
        """
        return Batch(
            sender,
            self.destination,
            self.headers[:-1],
            self.body,
            self.count,
            self.reliable,
            position,
        )

    @property
    def ends_with_epoch(self) -> bool:
        """Whether one of its headers has no meaning in the next epoch."""
        return any(header.ends_with_epoch for header in self.headers)

    @property
    def size_bytes(self) -> int:
        """Bytes of the body."""
        return len(self.body)

    @property
    def is_piece(self) -> bool:
        """Whether it is a piece of a body, and not the last one."""
        return self.count == 0 and len(self.body) > 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Batch):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in Batch.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        to = "group" if self.destination is None else str(self.destination)
        return f"Batch({self.sender}->{to} {self.count}x {self.size_bytes}B {list(self.headers)})"


PACKED_BYTES = 3
"""What a message below 64 KiB takes of a body beside its own bytes, at most."""
MESSAGE_COST_BYTES = 64
"""What a message costs beside its bytes: small ones take memory and time, too."""


def cost_of(batch: Batch) -> int:
    """What a batch costs flow control, in bytes."""
    return batch.size_bytes + MESSAGE_COST_BYTES * batch.count


def pack_messages(payloads: list[bytes]) -> bytes:
    """The body that holds these messages."""
    packed: bytes = _packer.pack(payloads)
    return packed


def unpack_messages(body: bytes) -> list[bytes]:
    """The messages of a body; WireError `bad_body` when it is not an array of binaries."""
    if not body:
        return []
    try:
        payloads = unpackb(body, raw=False, use_list=True, max_array_len=MESSAGES_MAX)
    except (UnpackException, ValueError, TypeError, RecursionError) as error:
        raise WireError("bad_body", str(error)[:80]) from None
    if type(payloads) is not list or not set(map(type, payloads)) <= _BYTES_ONLY:
        raise WireError("bad_body", "not an array of binaries")
    return payloads
