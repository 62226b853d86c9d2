"""The headers and settings of NAKACK, beside the layer that owns them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from groupcore.batch import Header
from groupcore.headers import travels
from groupcore.repairs import RepairOptions
from groupcore.view import Address


@travels(1)
@dataclass(slots=True)
class Data(Header):
    """Sender to group: my multicast number `seqno` of this view; all hold up to `stable`."""

    kind: ClassVar[str] = "nakack.data"
    view: int
    seqno: int
    stable: int


@travels(2)
@dataclass(slots=True)
class Ack(Header):
    """Receiver to sender: I hold your multicasts up to `received`."""

    kind: ClassVar[str] = "nakack.ack"
    view: int
    received: int


@travels(3)
@dataclass(slots=True)
class Request(Header):
    """Receiver to a holder: send me these multicasts of `origin`; pairs of first and last."""

    kind: ClassVar[str] = "nakack.request"
    view: int
    origin: Address
    ranges: tuple[int, ...]


@travels(4)
@dataclass(slots=True)
class Repair(Header):
    """Holder to requester, or to all when several ask: multicast `seqno` of `origin` as sent."""

    kind: ClassVar[str] = "nakack.repair"
    view: int
    origin: Address
    seqno: int


@travels(5)
@dataclass(slots=True)
class HighWater(Header):
    """Sender to group: my highest multicast is `seqno`; acknowledge it or ask for it."""

    kind: ClassVar[str] = "nakack.high_water"
    view: int
    seqno: int


@dataclass(frozen=True, slots=True)
class NakackOptions:
    """Times in seconds, sizes in bytes.

    `window_bytes` bounds what a sender has sent and not everybody holds: with it, memory and the
    load on receive buffers; it should stay under half of the smallest receive buffer.
    `acknowledge` "none": receivers do not acknowledge; what all hold is told by `Stable` alone,
    which opens the window and ends the high-water marks. After `much_bytes` received the layers
    that agree on stability are told.
    """

    window_bytes: int = 4 << 20
    acknowledge: Literal["all", "none"] = "all"
    much_bytes: int = 8 << 20
    ack_late_s: float = 0.005
    high_water_min_s: float = 0.03
    high_water_max_s: float = 0.5
    future_bytes_max: int = 8 << 20
    repair: RepairOptions = field(default_factory=RepairOptions)

    @property
    def report_bytes(self) -> int:
        """After how many bytes stability is spoken of: early enough to open the window."""
        if self.acknowledge == "all":
            return self.much_bytes
        return min(self.much_bytes, self.window_bytes // 4)
