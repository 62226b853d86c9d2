"""Volatile groups: the latest message of each sender, at once, without order or repair.

For positions of pointers and carets, where the next one is on its way. Source. Design, rule 2 of
section 4.

Invariants.
  I1  A message older than one that has been delivered of its process and group is not delivered.
"""

from __future__ import annotations

from groupcore.batch import Batch, pack_messages, unpack_messages
from groupcore.errors import WireError
from groupcore.sequencing.events import Volatile
from groupcore.sequencing.headers import VolatileMessage
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.plane import Plane


class Volatiles:
    """Sending and receiving them."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._sent: dict[tuple[GroupId, Process], int] = {}
        self._seen: dict[tuple[GroupId, Process], int] = {}

    def send(self, process: Process, group: GroupId, payload: bytes) -> None:
        """Send one to all nodes; those with members give it to them."""
        key = (group, process)
        number = self._sent[key] = self._sent.get(key, 0) + 1
        header = VolatileMessage(group, process.number, number)
        body = pack_messages([payload])
        self._plane.sends.append(Batch(self._plane.me, None, (header,), body, 1, reliable=False))
        self._deliver(process, group, payload)

    def receive(self, batch: Batch, header: VolatileMessage) -> None:
        """One has come (I1)."""
        plane = self._plane
        process = Process(batch.sender, header.process)
        key = (header.group, process)
        if not plane.in_view(batch.sender) or header.number <= self._seen.get(key, 0):
            plane.counters["dropped.old_volatile"] += 1
            return
        try:
            (payload,) = unpack_messages(batch.body)
        except (WireError, ValueError):
            plane.counters["dropped.bad_body"] += 1
            return
        record = plane.records.get(header.group)
        if record is not None and record.hold is not None:
            self._seen[key] = header.number
            self._deliver(process, header.group, payload)

    def _deliver(self, process: Process, group: GroupId, payload: bytes) -> None:
        record = self._plane.records.get(group)
        if record is not None and record.hold is not None and record.hold.local:
            self._plane.events.append(Volatile(group, process, payload))

    def forget_gone(self) -> None:
        """Processes of nodes that are gone send nothing any more."""
        for key in [key for key in self._seen if not self._plane.in_view(key[1].node)]:
            del self._seen[key]
