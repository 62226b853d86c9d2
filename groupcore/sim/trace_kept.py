"""The trace records of what has outlived a power cut: as nodes say, and as the judge knows."""

from __future__ import annotations

from typing import NamedTuple

from groupcore.sequencing.names import GroupId
from groupcore.sim.trace_groups import GroupProcess
from groupcore.sim.trace_streams import LogRecovered, StreamKept


class GroupKept(NamedTuple):
    """Of the history before a power cut: a message that was saved has kept its number."""

    t: int
    group: GroupId
    process: GroupProcess
    number: int
    seqno: int


KeptRecord = StreamKept | GroupKept | LogRecovered

KEPT_EVENTS: dict[type, str] = {
    StreamKept: "s-kept",
    GroupKept: "g-kept",
    LogRecovered: "l-read",
}
"""What each record is called in the lines of a trace."""
