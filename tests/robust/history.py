"""What clients saw and what nodes' logs say, as a trace that the simulator's checkers judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from groupcore.sequencing.names import Order
from groupcore.sim.checkers import Checker, Violation, check_all
from groupcore.sim.checkers.group_ends import GroupExactlyOnce
from groupcore.sim.checkers.group_order import (
    GroupFifo,
    GroupGapFreedom,
    GroupIntegrity,
    GroupNoDuplication,
    GroupSlotAgreement,
    GroupTotalOrder,
)
from groupcore.sim.checkers.group_real_time import RealTimeOrder
from groupcore.sim.trace import Record, Trace
from groupcore.sim.trace_groups import (
    GroupAccepted,
    GroupCreated,
    GroupDelivered,
    GroupProcess,
    GroupSent,
    GroupState,
)

CHECKERS: tuple[type[Checker], ...] = (
    GroupIntegrity,
    GroupNoDuplication,
    GroupSlotAgreement,
    GroupTotalOrder,
    GroupGapFreedom,
    GroupFifo,
    RealTimeOrder,
    GroupExactlyOnce,
)
"""1 to 6, 19 and 20; what was acknowledged and is in no log breaks 20."""
GROUP = 1
NODES: GroupProcess = ("nodes", 0, 0)
"""Stands for who sent what no client has: comings and goings, what nodes tell each other."""
DECIDED = ("done", "refused")
"""Verdicts of a line that say what became of a call there; `repeated` says it was done before."""

Line = dict[str, Any]


@dataclass
class Calls:
    """The calls of all clients to one object: when each was made and answered, in seconds."""

    submitted: list[tuple[float, str, int]] = field(default_factory=list)
    answered: list[tuple[float, str, int]] = field(default_factory=list)

    def submit(self, at_s: float, client: str, number: int) -> None:
        """A client sends a call for the first time."""
        self.submitted.append((at_s, client, number))

    def answer(self, at_s: float, client: str, number: int) -> None:
        """It hears that the call was done."""
        self.answered.append((at_s, client, number))


def trace_of(calls: Calls, dumps: Mapping[str, Iterable[Line]], group: str) -> Trace:
    """The history of one group: as clients saw it, and of each node as `dump-log` has it.

    Calls that every log has only as part of a state are left out; a run compares its text.
    """
    told: list[Record] = []
    only_in_states = compacted_calls(dumps, group)
    for at_s, client, number in calls.submitted:
        if (client, number) in only_in_states:
            continue
        h = crc32(f"{client}:{number}".encode())
        told.append(GroupSent(int(at_s * 1e9), (client, 0, 0), GROUP, number, h))
    for at_s, client, number in calls.answered:
        if (client, number) in only_in_states:
            continue
        told.append(GroupAccepted(int(at_s * 1e9), (client, 0, 0), GROUP, number, 0))
    told.sort(key=lambda record: record.t)
    end = max((record.t for record in told), default=0)
    first: list[Record] = [GroupCreated(0, "nodes", 0, GROUP, Order.CAUSALLY_TOTAL)]
    logs: list[Record] = []
    known: set[int] = set()
    for node, lines in sorted(dumps.items()):
        begun = False
        for line in lines:
            if line["group"] != group or not line["settled"]:
                continue
            place = int(line["sequence_number"])
            if line["verdict"] == "compacted":
                logs.append(GroupState(end, node, 1, GROUP, place, ""))
                begun = True
                continue
            if not begun:
                logs.append(GroupState(end, node, 1, GROUP, place - 1, ""))
                begun = True
            process, number, h = _content(line, place)
            if process == NODES and place not in known:
                known.add(place)
                first.append(GroupSent(0, NODES, GROUP, place, h))
            logs.append(GroupDelivered(end, node, 1, GROUP, place, process, number, h, ()))
    return Trace([*first, *told, *logs])


def compacted_calls(dumps: Mapping[str, Iterable[Line]], group: str) -> set[tuple[str, int]]:
    """The calls that a `compacted` line covers and no line of any log has as done.

    A call that came again behind that state has a line, which does not say where it was done; and a
    line that is not settled may be of a node that did not hear the end of it.
    """
    shown: set[tuple[str, int]] = set()
    covered: dict[str, int] = {}
    for line in (line for lines in dumps.values() for line in lines if line["group"] == group):
        if line["verdict"] == "compacted":
            for client, last in line.get("calls", {}).items():
                covered[client] = max(covered.get(client, 0), last)
        elif line["settled"] and (call := call_of(line)) is not None:
            shown.add(call)
    return {
        (client, number)
        for client, last in covered.items()
        for number in range(1, last + 1)
        if (client, number) not in shown
    }


def _content(line: Line, place: int) -> tuple[GroupProcess, int, int]:
    """Who sent what stands in a line, their number of it, and a hash of it."""
    if (call := call_of(line)) is not None:
        client, number = call
        return (client, 0, 0), number, crc32(f"{client}:{number}".encode())
    said = f"{line['process']} {line['verdict']} {line.get('client_operation_id')}"
    return NODES, place, crc32(said.encode())


def call_of(line: Line) -> tuple[str, int] | None:
    """Whose call was decided here, and its number; None where none of a client was."""
    operation = line.get("client_operation_id")
    if not operation or line["verdict"] not in DECIDED:
        return None
    client, _, number = operation.rpartition(":")
    return client, int(number)


def is_whole(dumps: Mapping[str, Iterable[Line]], group: str) -> bool:
    """Whether all logs end with the same number of a group, and every line of it is settled.

    Behind a node that records a message come its disk, and the others' word that they have it. So
    there is a moment in which a log does not yet say what it will: it is asked again.
    """
    ends = set()
    for lines in dumps.values():
        own = [line for line in lines if line["group"] == group]
        if not all(line["settled"] for line in own):
            return False
        ends.add(own[-1]["sequence_number"] if own else 0)
    return len(ends) == 1


def judge(calls: Calls, dumps: Mapping[str, Iterable[Line]], group: str) -> list[Violation]:
    """What the checkers have to say of it."""
    return check_all(trace_of(calls, dumps, group), CHECKERS)
