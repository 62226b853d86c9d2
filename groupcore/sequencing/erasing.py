"""Erasing: what was sent to a deleted group leaves the node's log, soon and not at each deletion.

Idea. A log keeps what was sent until a checkpoint stands in its place, and a quiet cluster makes
none for long. So whatever puts something into the log that is to be gone asks for a checkpoint: a
group is deleted, a frame comes late with messages of a deleted group, a state that was taken over
names deleted groups, or the program asks for a group's older messages to go (`renew`). One
checkpoint serves all that was asked for before it was begun. It waits a little for more, and keeps
its distance from the one before, the more the larger the state is: who deletes a thousand documents
one by one causes a few checkpoints.

Source. Decision 0171.

Invariants.
  I1  What is said to be erased stood before a checkpoint that was begun behind it, and that is all
      that the log on disk begins with.
  I2  What is asked for is begun `erase_after_s` later, or when the pause behind the last one is
      over; nothing but states that are on their way, or messages that wait for earlier ones of
      their group, holds it up.
"""

from __future__ import annotations

from groupcore.sequencing.log import Log
from groupcore.sequencing.options import ServiceOptions


class Erasing:
    """What of the log's `doomed` is covered by a checkpoint that is begun, dropped, and on disk.

    `done`: up to which number of `Log.doomed` nothing is left in the log that is on disk.
    """

    def __init__(self, options: ServiceOptions) -> None:
        self.done = 0
        self._options = options
        self._begun = 0
        self._dropped: tuple[int, int] | None = None
        self._seen = 0
        self._due_at: float | None = None
        self._not_before = 0.0

    def look(self, log: Log, now: float) -> None:
        """Note what was asked for since the last turn, and what has got to the disk (I1)."""
        if self._dropped is not None and log.stored_mark >= self._dropped[0]:
            self.done, self._dropped = self._dropped[1], None
        if log.doomed == self._seen:
            return
        self._seen = log.doomed
        if self._due_at is None:
            self._due_at = max(now + self._options.erase_after_s, self._not_before)

    def is_due(self, now: float) -> bool:
        """Whether a checkpoint is to be begun now (I2)."""
        return self._due_at is not None and now >= self._due_at

    def begin(self, log: Log) -> None:
        """A checkpoint is begun that covers what was asked for by now."""
        self._begun, self._due_at = log.doomed, None

    def put(self, state_bytes: int, now: float) -> None:
        """It is complete; the next one that is asked for keeps its distance."""
        pause = max(self._options.erase_pause_s, state_bytes / self._options.erase_rate_bytes)
        self._not_before = now + pause
        if self._due_at is not None:
            self._due_at = max(self._due_at, self._not_before)

    def drop(self, log: Log) -> None:
        """All have stored it: what is before it goes with the part that has just been added."""
        self._dropped = (log.mark, self._begun)

    def next_wake(self) -> float | None:
        """When a checkpoint is to be begun."""
        return self._due_at
