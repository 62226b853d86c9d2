"""The order on this node: applied to the replica, written to the journal, reported as synced.

Idea. One place knows how far this node has got: `position` in `epoch`, the epochs with the
positions at which they began, what is on this disk and what a quorum has. What an operation does
is handed to `publish`; nothing here knows sessions or channels.

Invariants.
  I1  The journal gets every place of the order exactly once, in order; places whose bodies did
      not open are written as empty ones, so that all nodes' journals are alike.
  I2  An epoch is written behind everything up to its beginning: who claims an epoch holds that.
  I3  Nothing is reported as synced that does not reach into the present epoch, nor while the
      state is still coming.
"""

from __future__ import annotations

from collections.abc import Callable

from groupcore.endpoint import Delivery
from server.checkpoint import Checkpointer
from server.journal import Journal
from server.recovery.joiner import Received
from server.replica import Effect, Replica
from server.saved import SavedVersions
from server.settings import Settings
from server.store import Record


class Replication:
    """Replica and journal of one node. `publish(record, effect)` is called in order."""

    def __init__(
        self,
        settings: Settings,
        journal: Journal,
        publish: Callable[[Record, Effect | None], None],
        report: Callable[[int, int], None],
    ) -> None:
        self.journal = journal
        self.replica = Replica()
        self.saved = SavedVersions()
        self.checkpointer = Checkpointer(settings, journal, lambda: self.replica)
        self.epoch = 0
        self.epochs: dict[int, int] = {}
        self.synced_position = self.saved_position = 0
        self.whole = False
        self._publish = publish
        self._report = report
        self._saved_heard = (0, 0)

    @property
    def position(self) -> int:
        """The last place in the order that has been applied."""
        return self.replica.position

    def restore(self) -> None:
        """Begin with what the journal holds."""
        found = self.journal.recovered
        self.replica.restore(found.documents)
        for record in found.records:
            self.replica.apply(record)
        self.replica.position = self.synced_position = found.position
        self.epochs = dict(found.epochs)
        # An epoch whose beginning the log does not reach is one that this node does not hold.
        reached = [epoch for epoch, floor in self.epochs.items() if floor <= found.position]
        self.epoch = max([found.epoch, *reached])
        self.saved.reset(found.position, self.replica.versions())

    # --- what is delivered ----------------------------------------------------------------------

    def apply(self, delivery: Delivery, records: list[Record]) -> None:
        """Apply what is new of a delivery, and note it for the journal (I1)."""
        self.fill_gap(delivery.position - 1, records)
        for position, payload in enumerate(delivery.payloads, delivery.position):
            if position > self.position:
                record = Record(position, self.epoch, payload)
                records.append(record)
                self._publish(record, self.replica.apply(record))

    def fill_gap(self, position: int, records: list[Record]) -> None:
        """Places whose bodies did not open hold nothing, at every member alike."""
        if position > self.position:
            record = Record(position, self.epoch, b"")
            records.append(record)
            self.replica.apply(record)

    def log(self, records: list[Record]) -> None:
        """Hand what was applied to the journal."""
        if records:
            self.journal.append(records)
            self.checkpointer.count(len(records))

    def begin_epoch(self, epoch: int, floor: int) -> None:
        """What follows is of this epoch; everything up to `floor` has been logged (I2)."""
        if epoch not in self.epochs:
            self.epochs[epoch] = floor
            self.journal.put_epoch(epoch, floor)
        self.epoch = epoch

    # --- what came from another node ------------------------------------------------------------

    def take(self, received: Received) -> bool:
        """Apply a transfer; True when it has replaced all documents."""
        if received.full:
            self._replace(received)
        else:
            self._replay(received)
        return received.full

    def _replay(self, received: Received) -> None:
        """The log behind this node's place: apply it as if it had been delivered."""
        for record in received.state.records:
            assert record.position > self.position, "a log goes on where this one ends"
            self._publish(record, self.replica.apply(record))
        self.replica.position = received.state.position
        self.log(received.state.records)
        for epoch, floor in sorted(received.state.epochs.items()):
            self.begin_epoch(epoch, floor)

    def _replace(self, received: Received) -> None:
        """A whole state in place of this node's, in the journal atomically."""
        state = received.state
        replica = Replica()
        replica.restore(state.documents)
        for record in state.records:
            replica.apply(record)
        replica.position = state.position
        state.documents = [replica.dump(doc) for doc in sorted(replica.documents)]
        state.records = []
        self.journal.replace(state)
        self.replica = replica
        self.epochs, self.epoch = dict(state.epochs), state.epoch
        self.synced_position = 0
        self.saved.reset(state.position, replica.versions())
        self.checkpointer.reset()

    # --- how far disks are ----------------------------------------------------------------------

    def set_whole(self, whole: bool) -> dict[str, int]:
        """Whether this node has everything; the documents whose saved version grew by that."""
        self.whole = whole
        if not whole:
            return {}
        self.report_synced()
        return self.on_saved(*self._saved_heard)

    def on_synced(self, position: int) -> None:
        """The journal has committed up to here."""
        self.synced_position = position
        self.report_synced()

    def report_synced(self) -> None:
        """Tell the group what is on disk here (I3)."""
        position = self.synced_position
        if self.whole and position >= self.epochs.get(self.epoch, 0):
            self._report(self.epoch, position)

    def on_saved(self, epoch: int, position: int) -> dict[str, int]:
        """A quorum has synced up to here: the documents whose saved version grew."""
        self._saved_heard = max(self._saved_heard, (epoch, position))
        if epoch != self.epoch or not self.whole:
            return {}
        self.saved_position = max(self.saved_position, position)
        return self.saved.advance(position)
