"""Invariants 15 and 25: nothing is lost for those who stay, and all becomes well after healing."""

from __future__ import annotations

from groupcore.sim.checkers.base import Checker, Violation, life, message
from groupcore.sim.trace import (
    CORE_STUCK,
    UNWELL,
    Absent,
    Delivered,
    Ended,
    Happened,
    Mid,
    Process,
    Trace,
)

UNREST_AFTER_S = 5
"""Seconds after healing from which views should no longer change much."""
VIEWS_AFTER_UNREST_MAX = 3


class SelfDelivery(Checker):
    """15: a process that stays in the primary to the end delivers all that it sent itself."""

    number, name = 15, "self-delivery"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Multicasts of the processes that are there at the end, less what they delivered."""
        staying = {(end.n, end.inc): end for end in trace.ends if end.primary}
        own: dict[Process, set[Mid]] = {process: set() for process in staying}
        for process in staying:
            for record in trace.histories().get(process, []):
                if type(record) is Delivered:
                    own[process].add(record.mid)
        for sent in trace.sent:
            process = (sent.n, sent.inc)
            if process in own and sent.to is None and sent.mid not in own[process]:
                text = (
                    f"{life(*process)} has not delivered {message(sent.mid)}, sent at "
                    f"{sent.t / 1e9:.6f} s"
                )
                found.append(self.breach(staying[process].t, (sent.n,), text, sent.mid))


class AllIsWell(Checker):
    """25: soon after healing the cluster itself says that all is well, with all its nodes.

    Whoever has nothing yet cannot ask for anything either: nothing is outstanding there, and a node
    that is never given a state would be silent for ever.
    """

    number, name = 25, "all-is-well"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """What the run has noted when it gave up waiting."""
        for unwell in trace.of(Happened):
            if unwell.what == UNWELL:
                text = f"the cluster has not become well: {unwell.detail}"
                found.append(self.breach(unwell.t, (), text))


class LivenessAfterHealing(Checker):
    """25: soon after healing there is one primary view of all nodes, with nothing outstanding.

    The same for a core of the nodes, where the schedule has healed one first.
    """

    number, name = 25, "liveness-after-healing"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Judge the ends; a trace without them or without healing has nothing to judge."""
        for stuck in trace.of(Happened):
            if stuck.what == CORE_STUCK:
                text = f"the core has not become well: {stuck.detail}"
                found.append(self.breach(stuck.t, (), text))
        healed = trace.healed_at
        if healed is None:
            return
        for absent in trace.of(Absent):
            text = f"{life(absent.n, absent.inc)} is in no view: {absent.why}"
            found.append(self.breach(absent.t, (absent.n,), text))
        ends = trace.ends
        if not ends:
            return
        self._check_views(ends, found)
        self.check_states(ends, found)
        self.check_pending(trace, ends, found)
        late = healed + UNREST_AFTER_S * 1_000_000_000
        numbers = {view.number for view in trace.views if view.t > late}
        if len(numbers) > VIEWS_AFTER_UNREST_MAX:
            text = f"{len(numbers)} views later than {UNREST_AFTER_S} s after healing"
            found.append(self.breach(ends[0].t, (), text))

    def _check_views(self, ends: list[Ended], found: list[Violation]) -> None:
        live = sorted((end.n, end.inc) for end in ends)
        for end in ends:
            if not end.primary:
                text = f"{life(end.n, end.inc)} has lost the primary view and not regained it"
                found.append(self.breach(end.t, (end.n,), text))
            if sorted(tuple(member) for member in end.members) != live:
                have = " ".join(life(*member) for member in end.members)
                want = " ".join(life(*process) for process in live)
                text = f"{life(end.n, end.inc)} ends in view {end.number} [{have}], not [{want}]"
                found.append(self.breach(end.t, (end.n,), text))

    def check_states(self, ends: list[Ended], found: list[Violation]) -> None:
        """All are at one place in the order, with one state."""
        first = ends[0]
        for end in ends[1:]:
            if (end.epoch, end.position, end.sh) != (first.epoch, first.position, first.sh):
                text = (
                    f"{life(end.n, end.inc)} ends at {(end.epoch, end.position)} with state "
                    f"{end.sh}, {life(first.n, first.inc)} at {(first.epoch, first.position)} "
                    f"with {first.sh}"
                )
                found.append(self.breach(end.t, (first.n, end.n), text))

    def check_pending(self, trace: Trace, ends: list[Ended], found: list[Violation]) -> None:
        """Everything sent by those who stayed has a place; unicasts among them have arrived."""
        staying = {(end.n, end.inc) for end in ends}
        places = trace.places()
        arrived = {
            (record.n, record.inc, record.mid)
            for record in trace.of(Delivered)
            if not record.position
        }
        for sent in trace.sent:
            if (sent.n, sent.inc) not in staying:
                continue
            if sent.to is None:
                if sent.mid not in places:
                    text = f"{message(sent.mid)} is still without a place in the order"
                    found.append(self.breach(ends[0].t, (sent.n,), text, sent.mid))
            elif sent.to in staying and (*sent.to, sent.mid) not in arrived:
                text = f"unicast {message(sent.mid)} has not arrived at {life(*sent.to)}"
                found.append(self.breach(ends[0].t, (sent.n, sent.to.name), text, sent.mid))


class LivenessWithoutOrder(LivenessAfterHealing):
    """25 in a stack without a total order: the last view's members have delivered the same in it.

    There are no places and no state. What a member that stays has sent is with itself (15), and so
    with all others.
    """

    def check_states(self, ends: list[Ended], found: list[Violation]) -> None:
        """There is no state to compare."""

    def check_pending(self, trace: Trace, ends: list[Ended], found: list[Violation]) -> None:
        """What one has delivered in the last view, each has; unicasts have arrived."""
        arrived: dict[Process, set[Mid]] = {(end.n, end.inc): set() for end in ends}
        for record in trace.of(Delivered):
            if (record.n, record.inc) in arrived:
                arrived[record.n, record.inc].add(record.mid)
        self._check_last_view(trace, ends, found)
        self.check_unicasts(trace, arrived, found)

    def _check_last_view(self, trace: Trace, ends: list[Ended], found: list[Violation]) -> None:
        last = ends[0].number
        delivered: dict[Process, set[Mid]] = {(end.n, end.inc): set() for end in ends}
        multicasts = trace.multicasts()
        for record in trace.of(Delivered):
            process = (record.n, record.inc)
            if process in delivered and record.view == last and record.mid in multicasts:
                delivered[process].add(record.mid)
        for mid in sorted(set[Mid]().union(*delivered.values())):
            for process, have in delivered.items():
                if mid not in have:
                    text = f"{life(*process)} has not delivered {message(mid)} in view {last}"
                    found.append(self.breach(ends[0].t, (process[0],), text, mid))

    def check_unicasts(
        self, trace: Trace, arrived: dict[Process, set[Mid]], found: list[Violation]
    ) -> None:
        """Whatever one that is there at the end has sent to another that is there has arrived."""
        end = max((record.t for record in trace.ends), default=0)
        for sent in trace.sent:
            if (sent.n, sent.inc) not in arrived or sent.to not in arrived:
                continue
            if sent.mid not in arrived[sent.to]:
                text = f"unicast {message(sent.mid)} has not arrived at {life(*sent.to)}"
                found.append(self.breach(end, (sent.n, sent.to.name), text, sent.mid))


class OneViewAfterMerging(LivenessWithoutOrder):
    """25 where components go on alone: one view of all, in which all have delivered the same.

    What was sent to one member that then left the sender's view is lost, though it comes back.
    """

    def check_unicasts(
        self, trace: Trace, arrived: dict[Process, set[Mid]], found: list[Violation]
    ) -> None:
        """Lives outlast views here, and unicasts do not."""
