"""The sequencer: numbers for the messages of the groups that this node owns.

Idea. What arrives is checked against the last message of its sender, given the group's next
numbers and multicast as the next frame of this node's stream, with its body unopened. What comes
out of turn is asked for again; what came before is acknowledged to its sender alone.

Source. Paper, section 4.1 "on DO-MULTICAST", Table 2; section 4.3 (suspend, forward, resume).

Invariants.
  I1  A message gets one number (reliability.md 2, 20): only the one behind its sender's last.
  I2  Numbers are given only while this node owns the group and is primary (10, 11).
  I3  FIFO: messages of one sender to one group get numbers in their order (6).
  I4  Unstable frames are bounded by the window; requests wait in order meanwhile.
  I5  No run gets its numbers before everything has that its context names: no run can come to wait
      for itself (decision 0020; with ids in ACCEPTs it can).
"""

from __future__ import annotations

from bisect import insort
from collections import deque

from groupcore.batch import Batch, pack_messages, unpack_messages
from groupcore.context import Ids, Numbers, decode_context, encode_context, merge_into
from groupcore.errors import WireError
from groupcore.sequencing.asked import Asked
from groupcore.sequencing.balancing import LoadMeter
from groupcore.sequencing.enrolment import Enrolment
from groupcore.sequencing.headers import (
    Accept,
    Forward,
    Join,
    Leave,
    Missing,
    Redirect,
    Repeated,
    Send,
    pack_column,
    unpack_column,
)
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.ownership import Ownership
from groupcore.sequencing.plane import Plane
from groupcore.view import Address

EARLY_MAX = 4_096
"""Runs of one group that wait until it is here; more are sent again by their nodes."""
WAITING_MAX = 1_024
"""Runs of one sender and group that wait for its other messages; more are sent again."""
HANDLED_AT_ONCE = 256
"""Requests that have waited for the window and are handled in one turn."""
REQUESTS_MAX = 65_536
"""Requests that wait for the window; more are dropped and sent again by their nodes."""


class Sequencer:
    """All groups of this node; `meter` counts what it numbers."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self.ownership = Ownership(plane)
        self.enrolment = Enrolment(plane, self.ownership, self._multicast)
        self.meter = LoadMeter()
        self._seen_progress = -1
        self._requests: deque[Batch] = deque()
        self._early: dict[GroupId, list[Asked]] = {}
        self._waiting: dict[tuple[int, GroupId], list[Asked]] = {}

    # --- ownership ------------------------------------------------------------------------------

    def own(self, last: dict[GroupId, int], behind: Numbers) -> None:
        """Sequence these groups from here on; `last` and `behind` as of a `Takeover`."""
        self.ownership.own(last, behind)
        for group in last:
            self.enrolment.began(group)

    def disown(self, groups: tuple[GroupId, ...]) -> None:
        """Sequence them no longer; what waited for them goes to who does."""
        for group in groups:
            self.ownership.disown(group)
            self.enrolment.disowned(group)
            self.meter.groups.pop(group, None)
            for run in self._early.pop(group, ()):
                self._redirect(run, forwarded=False)

    def suspend(self, groups: tuple[GroupId, ...]) -> None:
        """Give no numbers in these groups: they migrate."""
        for group in groups:
            self.ownership.suspend(group, True)

    def unsuspend(self, groups: tuple[GroupId, ...]) -> None:
        """They stay after all."""
        for group in groups:
            self.ownership.suspend(group, False)
            self._retry(group)

    def start(self) -> None:
        """Begin with what is ready by now; cheap when there is nothing."""
        for group in self.ownership.start():
            self._retry(group)
        self.enrolment.expel_gone()
        if self._waiting and self._plane.progress != self._seen_progress:
            self._seen_progress = self._plane.progress
            self._look_again()

    def _retry(self, group: GroupId) -> None:
        """What came too early may be numbered now."""
        self.enrolment.retry(group)
        for run in self._early.pop(group, ()):
            self._on_run(run)

    # --- requests -------------------------------------------------------------------------------

    def request(self, batch: Batch) -> None:
        """A request of a node; it waits while the window is full (I4)."""
        if not self._plane.ready:
            self._plane.counters["requests_dropped"] += 1
            return
        if self._requests or self._full:
            if len(self._requests) < REQUESTS_MAX:
                self._requests.append(batch)
            else:
                self._plane.counters["requests_dropped"] += 1
            return
        self._handle(batch)

    def resume(self) -> None:
        """The window may have opened; a turn does not handle more than it should."""
        for _ in range(min(len(self._requests), HANDLED_AT_ONCE)):
            if self._full:
                break
            self._handle(self._requests.popleft())

    @property
    def _full(self) -> bool:
        return self._plane.own.kept_bytes > self._plane.options.window_bytes

    def _handle(self, batch: Batch) -> None:
        header = batch.headers[-1]
        match header:
            case Send():
                self._on_send(batch, batch.sender, header)
            case Forward():
                self._on_send(batch, header.origin, header)
            case Join() | Leave():
                self.enrolment.request(batch.sender, header)

    def _on_send(self, batch: Batch, origin: Address, header: Send | Forward) -> None:
        plane = self._plane
        count = len(header.groups) // 8
        try:
            groups = unpack_column(header.groups, count)
            firsts = unpack_column(header.firsts, count)
            counts = unpack_column(header.counts, count)
            processes = unpack_column(header.processes, count)
            keys = plane.senders.of_node(origin, processes)
            if count == 1 and self._is_repeated(
                origin, processes[0], keys, groups[0], firsts[0] + counts[0]
            ):
                return  # most of what is sent again: before anything else is looked at
            numbers, ids = decode_context(header.context)
        except WireError as error:
            plane.counters[f"dropped.{error.reason}"] += 1
            return
        if sum(counts) != batch.count or 0 in counts or not plane.in_view(origin):
            plane.counters["dropped.bad_section"] += 1
            return
        known = not ids or self._resolve(origin, numbers, ids)
        seqnos: list[int] = []
        carry: Numbers = {}
        number = plane.own.received + 1
        for index, group in enumerate(groups if known else ()):
            active = self.ownership.active(group)
            if active is None:
                break
            owned, record = active
            sender = keys[processes[index]]
            last = owned.senders.get(sender) or record.senders.get(sender, 0)
            if firsts[index] != last + 1 or (sender, group) in self._waiting:
                break
            size = counts[index]
            seqnos.append(owned.seqno + 1)
            owned.seqno += size
            owned.senders[sender] = last + size
            owned.frame = number
            if owned.carry:
                plane.drop_stable(owned.carry)
                merge_into(carry, owned.carry)
        done = len(seqnos)
        if done == count and count:
            merge_into(numbers, carry)
            accept = Accept(
                number,
                origin,
                encode_context(numbers, {}),
                header.processes,
                header.groups,
                pack_column(seqnos),
                header.firsts,
                header.counts,
            )
            self._multicast(Batch(plane.me, None, (accept,), batch.body, batch.count))
        else:
            columns = (processes, groups, firsts, counts)
            self._one_by_one(batch, origin, header, columns, seqnos, carry)
        each = len(batch.body) // batch.count
        for group, size in zip(groups[:done], counts[:done], strict=True):
            self.meter.count(group, origin, size, size * each)

    def _is_repeated(
        self, origin: Address, process: int, keys: dict[int, int], group: GroupId, end: int
    ) -> bool:
        """Whether a run up to the sender's number `end` (not included) has its numbers already."""
        plane = self._plane
        active = self.ownership.active(group)
        if active is None:
            return False
        sender = keys[process]
        last = active[0].senders.get(sender) or active[1].senders.get(sender, 0)
        if last + 1 < end:
            return False
        plane.counters["repeated"] += 1
        plane.to(origin, Repeated(group, process, last))
        return True

    def _resolve(self, origin: Address, numbers: Numbers, ids: Ids) -> bool:
        """Put numbers in the place of the ids; False when some are not known yet (I5).

        What is known is where the group stands now: that is behind the message in question, and
        it has its number, so nothing can come to wait for itself.
        """
        plane = self._plane
        records, owned_groups = plane.records, self.ownership.owned
        keys = plane.senders.of_node(origin, {process for process, _ in ids})
        mine = 0
        for (process, group), number in ids.items():
            record = records.get(group)
            if record is None:
                continue
            owned = owned_groups.get(group)
            if owned is not None and owned.senders.get(keys[process], 0) >= number:
                mine = max(mine, owned.frame)
            elif record.senders.get(keys[process], 0) < number:
                return False
            elif record.stream is not None and record.frame > numbers.get(record.stream, 0):
                numbers[record.stream] = record.frame
        if mine > numbers.get(plane.me, 0):
            numbers[plane.me] = mine
        ids.clear()
        return True

    def _one_by_one(
        self,
        batch: Batch,
        origin: Address,
        header: Send | Forward,
        columns: tuple[tuple[int, ...], ...],
        seqnos: list[int],
        carry: Numbers,
    ) -> None:
        """Not every run of the section can be numbered: those that can are, in a frame each.

        The later ones of a process depend on its earlier ones, as they do within a section.
        """
        try:
            payloads = unpack_messages(batch.body)
        except WireError:
            payloads = []
        if len(payloads) != batch.count:
            self._plane.counters["dropped.bad_section"] += 1
            payloads = [b""] * batch.count  # what has been numbered is numbered
        numbers, ids = decode_context(header.context)
        done, offset = len(seqnos), 0
        for index, (process, group, first, count) in enumerate(zip(*columns, strict=True)):
            mine = payloads[offset : offset + count]
            offset += count
            before = {
                key: last for key, last in ids.items() if key[0] == process and key[1] != group
            }
            run = Asked(origin, process, dict(numbers), before, group, first, mine)
            if index < done:
                self._resolve(origin, run.numbers, run.ids)
                merge_into(run.numbers, carry)
                self._stamp(run, seqnos[index])
            else:
                self._on_run(run, forwarded=type(header) is Forward)
            ids[process, group] = first + count - 1

    def _on_run(self, run: Asked, forwarded: bool = True) -> None:
        """One run by itself: number what is new of it, or say what is wrong."""
        plane = self._plane
        group = run.group
        if not plane.in_view(run.origin):
            plane.counters["dropped.gone"] += 1  # it waited here while its node went
            return
        active = self.ownership.active(group)
        if active is None:
            self._redirect(run, forwarded)
            return
        owned, record = active
        sender = plane.senders.key(run.sender)
        last = owned.senders.get(sender) or record.senders.get(sender, 0)
        if run.last <= last:
            plane.counters["repeated"] += 1
            plane.to(run.origin, Repeated(group, run.process, last))
            return
        ahead = self._waiting.get((sender, group))
        behind = ahead is not None and ahead[0].first < run.first
        if behind or not self._resolve(run.origin, run.numbers, run.ids):
            self._wait(sender, run)
            return
        if run.first > last + 1:
            plane.counters["out_of_sequence"] += 1
            plane.to(run.origin, Missing(group, run.process, last + 1))
            return
        run.payloads = run.payloads[last + 1 - run.first :]
        run.first = last + 1
        seqno = owned.seqno + 1
        owned.seqno += len(run.payloads)
        owned.senders[sender] = run.last
        if owned.carry:
            plane.drop_stable(owned.carry)
            merge_into(run.numbers, owned.carry)
        self._stamp(run, seqno)

    def _wait(self, sender: int, run: Asked) -> None:
        """The run depends on messages of its own sender that have no number yet (I5)."""
        waiting = self._waiting.setdefault((sender, run.group), [])
        if len(waiting) < WAITING_MAX and all(run.first != one.first for one in waiting):
            self._plane.counters["waited_for_ids"] += 1
            insort(waiting, run, key=lambda one: one.first)

    def _look_again(self) -> None:
        """Something has been numbered: what waits for it goes on, in its order."""
        progress = True
        while progress and self._waiting:
            progress = False
            for key in list(self._waiting):
                head = self._waiting[key][0]
                active = self.ownership.active(head.group) is not None
                if active and not self._resolve(head.origin, head.numbers, head.ids):
                    continue
                progress = True
                for run in self._waiting.pop(key):
                    self._on_run(run)

    def _redirect(self, run: Asked, forwarded: bool) -> None:
        """Not (any more, yet) this node's: forward it, and tell the sender where the port is."""
        plane, group = self._plane, run.group
        owner = plane.owner(group)
        if group not in plane.records or owner is None:
            plane.counters["unknown_group"] += 1
        elif owner == plane.me or forwarded or group in self.ownership.owned:
            # It migrates, or has just come: it waits here, where it is wanted in any case.
            early = self._early.setdefault(group, [])
            if len(early) < EARLY_MAX:
                early.append(run)
            else:
                plane.counters["not_now"] += 1  # its sender sends it again
        else:
            plane.counters["forwarded"] += 1
            plane.to(run.origin, Redirect(group, owner, plane.directory.entries[group].epoch))
            forward = Forward(
                run.origin,
                encode_context(run.numbers, run.ids),
                pack_column([run.process]),
                pack_column([group]),
                pack_column([run.first]),
                pack_column([len(run.payloads)]),
            )
            body = pack_messages(run.payloads)
            plane.sends.append(Batch(plane.me, owner, (forward,), body, len(run.payloads)))

    # --- stamping -------------------------------------------------------------------------------

    def _stamp(self, run: Asked, seqno: int) -> None:
        """A frame of its own for a run that has its numbers."""
        accept = Accept(
            self._plane.own.received + 1,
            run.origin,
            encode_context(run.numbers, {}),
            pack_column([run.process]),
            pack_column([run.group]),
            pack_column([seqno]),
            pack_column([run.first]),
            pack_column([len(run.payloads)]),
        )
        self.ownership.owned[run.group].frame = accept.frame
        body = pack_messages(run.payloads)
        self._multicast(Batch(self._plane.me, None, (accept,), body, len(run.payloads)))

    def _multicast(self, batch: Batch) -> None:
        self._plane.own.append(batch)
        self._plane.sends.append(batch)
