"""The application on a node: it records what it is given, keeps the state, and journals it.

The state is the list of ordered messages. A fresh member takes the state from a holder
(`groupcore.sim.states`): as of its position or a later one, at once or after a while, and from
another one when the holder dies. Until then what is delivered is queued.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from groupcore.events import Synced, ViewInstalled
from groupcore.sim.disk import Append, Disk, Entry, Journal, Replace
from groupcore.sim.messages import state_hash
from groupcore.sim.trace import Slot, Took, Trace
from groupcore.view import Address, View


class Surroundings(Protocol):
    """What the node does for its application."""

    def notify_synced(self, event: Synced) -> None:
        """The journal is safe up to there."""

    def ask_for_state(self) -> None:
        """Try soon to get the state that the application waits for."""


class Application:
    """One life of the application; `journal` is the state that it has applied."""

    def __init__(
        self, address: Address, journal: Journal, disk: Disk, trace: Trace, node: Surroundings
    ) -> None:
        self.address = address
        self.journal = journal
        self.wanted: ViewInstalled | None = None
        self.installed = False
        self._disk = disk
        self._trace = trace
        self._node = node
        self._queue: list[Append] = []
        self._dirty = False
        self._syncing = False

    @property
    def ready(self) -> bool:
        """Whether the state is here: a view was installed, and nothing has to be taken."""
        return self.wanted is None and self.installed

    def install(self, event: ViewInstalled, t: int) -> None:
        """A view: when fresh, find the state that belongs to its position."""
        epoch = event.view.epoch
        self.installed = True
        if not event.fresh:
            if self.wanted is None and epoch != self.journal.epoch:
                # Where views merge each side keeps its own state, and calls it by the new place.
                place = event.position if event.merged else self.journal.position
                self._replace(epoch, place, tuple(self.journal.entries))
            return
        self._queue.clear()
        own = not event.holders or self.address in event.holders
        if own or (self.journal.epoch, self.journal.position) == (epoch, event.position):
            self.wanted = None
            entries = tuple(self.journal.entries[: event.position])
            self._took(t, (epoch, event.position), self.address.name, entries, must_match=own)
            self._replace(epoch, event.position, entries)
            return
        self.wanted = event
        self._node.ask_for_state()

    def wait_further(self, view: View, position: int) -> None:
        """Wait for the state in another view, or of another place.

        Where an epoch begins, or the state does, it is the state of that place.
        """
        assert self.wanted is not None
        if (view.epoch, position) != (self.wanted.view.epoch, self.wanted.position):
            self._queue.clear()
        self.wanted = replace(self.wanted, view=view, position=position)

    def state(self, epoch: int, position: int) -> tuple[Entry, ...] | None:
        """The state up to a position, for another node; None when it is not here."""
        if not self.ready or self.journal.epoch != epoch or self.journal.position < position:
            return None
        missing = self.journal.position - len(self.journal.entries)  # gaps, where views merge
        return tuple(self.journal.entries[: max(0, position - missing)])

    def take(
        self, source: str, entries: tuple[Entry, ...], t: int, place: Slot | None = None
    ) -> None:
        """The state that was waited for has come; what was queued follows it.

        `place` None: it is of the place where the view has put this member. Else it is of that
        place, contains all that was delivered before, and the stack has queued the rest.
        """
        event = self.wanted
        assert event is not None
        self.wanted = None
        epoch, position = place or (event.view.epoch, event.position)
        self._took(t, (epoch, position), source, entries, must_match=False)
        self._replace(epoch, position, entries)
        queue, self._queue = self._queue, []
        for write in queue if place is None else ():
            self._apply(write)

    def deliver(self, epoch: int, position: int, entry: Entry) -> None:
        """An ordered message."""
        write = Append(epoch, position, entry)
        if self.wanted is None:
            self._apply(write)
        else:
            self._queue.append(write)

    def fingerprint(self) -> str:
        """A hash of the whole state."""
        return state_hash(self.journal.entries)

    def _took(
        self,
        t: int,
        place: Slot,
        source: str,
        entries: tuple[Entry, ...],
        must_match: bool,
    ) -> None:
        have = self.journal
        self._trace.add(
            Took(
                t,
                *self.address,
                *place,
                source,
                have.epoch,
                have.position,
                must_match,
                state_hash(entries),
            )
        )

    def _replace(self, epoch: int, position: int, entries: tuple[Entry, ...]) -> None:
        self.journal = Journal(epoch, position, list(entries))
        self._write(Replace(epoch, position, entries))

    def _apply(self, write: Append) -> None:
        self.journal.epoch, self.journal.position = write.epoch, write.position
        self.journal.entries.append(write.entry)
        self._write(write)

    def _write(self, write: Append | Replace) -> None:
        self._disk.write(write)
        self._dirty = True
        if not self._syncing:
            self._sync()

    def _sync(self) -> None:
        """Group commit: one fsync at a time, for all that was written before it began."""
        self._syncing, self._dirty = True, False
        place = (self.journal.epoch, self.journal.position)

        def done() -> None:
            self._syncing = False
            self._node.notify_synced(Synced(*place))
            if self._dirty:
                self._sync()

        self._disk.sync(done)
