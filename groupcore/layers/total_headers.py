"""The headers and settings of TOTAL, beside the layer that owns them.

The names are those of the paper's appendix. Members are named by their rank in the view that the
header names, so a broadcast carries numbers only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from groupcore.batch import Header
from groupcore.headers import travels
from groupcore.repairs import RepairOptions


@travels(56)
@dataclass(slots=True)
class Request(Header):
    """TOTAL_REQUEST, member to sequencer: broadcast this for me; my message number `seqno`."""

    kind: ClassVar[str] = "total.request"
    self_limiting: ClassVar[bool] = True  # by the request table's window
    view: int
    seqno: int


@travels(57)
@dataclass(slots=True)
class Bcast(Header):
    """TOTAL_BCAST, sequencer to group or holder to asker: message `seqno` of rank `origin`.

    A quorum holds everything up to `held`, all members everything up to `stable`.
    """

    kind: ClassVar[str] = "total.bcast"
    view: int
    sequence_id: int
    origin: int
    seqno: int
    held: int
    stable: int


@travels(58)
@dataclass(slots=True)
class NewView(Header):
    """TOTAL_NEW_VIEW, sequencer to group: the first broadcast of this view has this id."""

    kind: ClassVar[str] = "total.new_view"
    view: int
    first: int


@travels(59)
@dataclass(slots=True)
class NewViewAck(Header):
    """TOTAL_NEW_VIEW_ACK, member to sequencer: I know where the view begins."""

    kind: ClassVar[str] = "total.new_view_ack"
    view: int


@travels(60)
@dataclass(slots=True)
class CumSeqAck(Header):
    """TOTAL_CUM_SEQ_ACK, member to sequencer: I hold everything up to this id.

    `wanted` asks for the sequencer's mark.
    """

    kind: ClassVar[str] = "total.cum_seq_ack"
    view: int
    sequence_id: int
    wanted: bool


@travels(61)
@dataclass(slots=True)
class SeqAck(Header):
    """TOTAL_SEQ_ACK, member to sequencer: I hold this one, beyond a gap."""

    kind: ClassVar[str] = "total.seq_ack"
    view: int
    sequence_id: int


@travels(62)
@dataclass(slots=True)
class Resend(Header):
    """TOTAL_RESEND, member to a holder: send me these; pairs of first and last id."""

    kind: ClassVar[str] = "total.resend"
    view: int
    ranges: tuple[int, ...]


@travels(63)
@dataclass(slots=True)
class Mark(Header):
    """Sequencer to group or member: `last` is my last id, a quorum holds `held`, all `stable`.

    `wanted` asks for an acknowledgement.
    """

    kind: ClassVar[str] = "total.mark"
    view: int
    last: int
    held: int
    stable: int
    wanted: bool


TotalHeader = Request | Bcast | NewView | NewViewAck | CumSeqAck | SeqAck | Resend | Mark


@dataclass(frozen=True, slots=True)
class TotalOptions:
    """Times in seconds, sizes in bytes.

    `order_window_bytes`: own messages that have not come back, before the application is told to
    wait. `window_bytes`: what the sequencer has broadcast and not everybody holds; it should stay
    under half of the smallest receive buffer. `early_bytes_max`: what may wait for its view.
    `stop_s`: how long stop() waits for what has not come back. `wary_s`: how long a member that
    has slept waits for marks.
    """

    order_window_bytes: int = 1 << 20
    window_bytes: int = 4 << 20
    ack_late_s: float = 0.005
    repeat_min_s: float = 0.03
    repeat_max_s: float = 0.5
    early_bytes_max: int = 64 << 20
    stop_s: float = 5.0
    wary_s: float = 0.6
    repair: RepairOptions = field(default_factory=RepairOptions)
