"""Enrolment: JOIN and LEAVE take a number in the group's own sequence.

So every member sees the same members at the same message (virtual synchrony of the group).

Source. Paper, section 3.2 (Amoeba's membership changes are in the order), Table 2.

Invariants.
  I1  A process joins once and leaves once, whatever is sent again.
  I2  The processes of a node that is gone leave every group, and what that node sent before ends.
  I3  A process joins a strict group only where the whole component, with it in, is sequenced (S2).
  I4  A request for a strict group is served behind the place of the order that it names, by a node
      whose group it has been since before: that has heard of all that its node knew, and of every
      earlier request that anybody could still serve. JOIN is let in by the entry that it names.
  I5  Whose node is gone leaves before anybody enters, and before anything else has a number from
      whoever knows of it. So who enters behind a loss of everybody finds nobody there, and knows
      that the group has begun anew; and nobody counts in a strict group's numbers who does not
      count in S2 any more. A view, a takeover, the end of a move and a primary view found again
      are what may bring that about, and no number is given behind any of them before `expel_gone`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from groupcore.batch import Batch
from groupcore.sequencing.headers import Change, Join, Leave, Redirect, Refusal
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.ownership import Owned, Ownership
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.record import GONE, JOINED, LEFT, Record
from groupcore.view import Address

EARLY_MAX = 4_096
"""Requests for one group that wait until it is here; more are sent again by their nodes."""
EARLY_GROUPS_MAX = 4_096
"""Groups for which requests wait."""


class Enrolment:
    """Membership of the groups that this node sequences.

    `next_frame` gives the number of the next frame, and `stamp` multicasts it.
    """

    def __init__(
        self,
        plane: Plane,
        ownership: Ownership,
        next_frame: Callable[[], int],
        stamp: Callable[[Batch], None],
    ) -> None:
        self._plane = plane
        self._ownership = ownership
        self._next_frame = next_frame
        self._stamp = stamp
        self._expelling: dict[GroupId, None] = {}
        self._early: dict[GroupId, list[tuple[Address, Join | Leave]]] = {}
        self._entering: dict[GroupId, None] = {}

    @property
    def expelling(self) -> Iterable[GroupId]:
        """Groups that processes may still have to leave whose nodes are gone."""
        return self._expelling

    @property
    def early(self) -> int:
        """Groups for which requests wait."""
        return len(self._early)

    def began(self, group: GroupId) -> None:
        """The group is this node's: whose node is gone has to leave it."""
        self._expelling[group] = None

    def retry(self, group: GroupId) -> None:
        """What came too early may be done now."""
        for node, header in self._early.pop(group, ()):
            self.request(node, header)

    def retry_entries(self) -> None:
        """The directory, or the records, may have got so far that processes may join."""
        if self._entering:
            entering, self._entering = self._entering, {}
            for group in entering:
                self.retry(group)

    def disowned(self, group: GroupId) -> None:
        """The group is another node's, to which the requests are made again."""
        self._expelling.pop(group, None)
        self._early.pop(group, None)

    def request(self, node: Address, header: Join | Leave) -> None:
        """JOIN-GROUP or LEAVE-GROUP of a process of `node`.

        A node's requests have growing numbers: one that comes late, behind a later one of the
        same process and group, is nothing any more (I1).
        """
        active = self._ownership.active(header.group)
        if active is None:
            self._no_port(node, header)
            return
        owned, record = active
        process = Process(node, header.process)
        sender = self._plane.senders.key(process)
        known = max((owned.requests or {}).get(sender, 0), (record.requests or {}).get(sender, 0))
        if header.request < known or not self._plane.in_view(node):
            self._plane.counters["old_request"] += 1
            return
        joins = type(header) is Join
        if record.order is Order.STRICT:
            if self._is_over(owned, process, header):
                self._plane.counters["old_request"] += 1
                return
            if not self._is_reached(header) or (joins and not self._may_enter(header.group)):
                self._keep(node, header)
                self._entering[header.group] = None
                return
        if owned.requests is None:
            owned.requests = {}
        owned.requests[sender] = header.request
        if self._ownership.is_member(owned, record, process) is not joins:
            what = JOINED if joins else LEFT
            self._change(header.group, owned, process, what, header.request)
        elif type(header) is Leave and not self._may_be_in(owned, record, process, header):
            text = f"{process} is not in group {header.group}"
            self._plane.to(node, Refusal(header.request, "not_a_member", text.encode()))
        else:
            self._plane.counters["repeated"] += 1

    def _may_be_in(self, owned: Owned, record: Record, process: Process, header: Leave) -> bool:
        """Whether the process is in by what is held, or may be, as its LEAVE is not held yet.

        What is only numbered may be lost with this node. Who was told by then that it is not in
        asks nobody again, and would be in for ever.
        """
        if process in record.members or process in (owned.members or {}):
            return True
        return self._is_done(record, self._plane.senders.key(process), header)

    def _is_done(self, record: Record, sender: int, header: Join | Leave) -> bool:
        """Whether this very request is on record: it was sent again before its node knew."""
        return (record.requests or {}).get(sender) == header.request

    def _no_port(self, node: Address, header: Join | Leave) -> None:
        plane, group = self._plane, header.group
        owner = plane.owner(group)
        if group > plane.directory.newest_group:
            # Its node has heard of the group, and this one has not yet.
            if len(self._early) < EARLY_GROUPS_MAX:
                self._keep(node, header)
        elif group not in plane.records or owner is None:
            plane.counters["unknown_group"] += 1
            text = f"there is no group {group}; create it first"
            plane.to(node, Refusal(header.request, "unknown_group", text.encode()))
        elif owner != plane.me:
            plane.to(node, Redirect(group, owner, plane.directory.entries[group].epoch))
        else:
            self._keep(node, header)

    def _keep(self, node: Address, header: Join | Leave) -> None:
        """The request has come too early; its node repeats it, too."""
        early = self._early.setdefault(header.group, [])
        asked = (node, header.process, header.request)
        known = ((one, kept.process, kept.request) for one, kept in early)
        if len(early) < EARLY_MAX and asked not in known:
            early.append((node, header))

    def _is_reached(self, header: Join | Leave) -> bool:
        """Whether this node has got as far in the order as the request's node had (I4)."""
        return header.place <= self._plane.ordered

    def _is_over(self, owned: Owned, process: Process, header: Join | Leave) -> bool:
        """Whether the request is one of before, which nobody waits for any more (I4).

        It was asked of a former sequencer: its node has asked again since. Or the entry of its
        process is another one by now.
        """
        if header.place < owned.since:
            return True
        if type(header) is Leave or not self._is_reached(header):
            return False
        return not self._plane.directory.has_entered(process, header.group, header.request)

    def _may_enter(self, group: GroupId) -> bool:
        """S2 here: this node has begun with the whole component, with the process in it (I3).

        What is numbered with it in is then delivered behind what former sequencers have numbered.
        """
        if not self._ownership.has_component(group):
            return False
        self._ownership.share_carry(group)
        return True

    def _change(
        self, group: GroupId, owned: Owned, process: Process, what: int, request: int
    ) -> None:
        owned.seqno += 1
        if owned.members is None:
            owned.members = {}
        owned.members[process] = what == JOINED
        owned.frame = self._next_frame()
        place = (owned.frame, self._plane.view_number, group, owned.seqno)
        change = Change(*place, process.node, process.number, what, request)
        if self._plane.trace is not None:
            self._plane.trace.enrolled(change)
        self._stamp(Batch(self._plane.me, None, (change,)))

    def close_books(self, node: Address) -> None:
        """A node is gone: its processes leave this node's groups."""
        plane = self._plane
        for group, owned in self._ownership.owned.items():
            record = plane.records.get(group)
            if not owned.members and (record is None or not record.members):
                continue  # most groups, where they are many
            members = [*(owned.members or ()), *(record.members if record is not None else ())]
            if any(process.node == node for process in members):
                self._expelling[group] = None

    def expel_gone(self) -> None:
        """LEAVE in the groups' sequences for the processes of nodes that are gone (I5).

        It has to be called behind whatever lets this node number in a group (again), and before
        anything is numbered there.
        """
        for group in list(self._expelling):
            active = self._ownership.active(group)
            if active is None:
                continue
            del self._expelling[group]
            owned, record = active
            members = {*record.members, *(owned.members or ())}
            for process in sorted(p for p in members if not self._plane.in_view(p.node)):
                if self._ownership.is_member(owned, record, process):
                    self._change(group, owned, process, GONE, 0)
