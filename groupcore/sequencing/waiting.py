"""Stretches that wait at a sequencer until what is before them in their chains has its place.

Invariants.
  I1  The stretches of one process are looked at in the order of its chain.
  I2  Was something before a stretch sent to this node and has not come, it is asked for at once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from operator import attrgetter

from groupcore.sequencing.asked import Asked
from groupcore.sequencing.headers import Missing
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.plane import Plane

WAITING_MAX = 1_024
"""Stretches of one process that wait for its other messages; more are sent again."""

_chain = attrgetter("chain")


class Waiting:
    """What waits, by the `Senders` keys of the processes."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._stretches: dict[int, list[Asked]] = {}

    def add(self, asked: Asked) -> None:
        """The stretch is behind messages of its own process that have no places yet."""
        plane = self._plane
        waiting = self._stretches.setdefault(asked.key, [])
        plane.chains.watched.add(asked.key)
        at = bisect_left(waiting, asked.chain, key=_chain)
        if at < len(waiting) and waiting[at].chain == asked.chain:
            if waiting[at].end >= asked.end:
                waiting[at].after = min(waiting[at].after, asked.after)  # the former is no more
                waiting[at].place = max(waiting[at].place, asked.place)
                plane.chains.moved[asked.key] = None
                return
        elif asked.before > plane.chains.reached(asked.key):
            known = bisect_right(waiting, asked.before, key=_chain)
            if not known or waiting[known - 1].end < asked.before:
                plane.counters["out_of_sequence"] += 1
                plane.to(asked.origin, Missing(asked.process, asked.before))
        if len(waiting) < WAITING_MAX:
            plane.counters["waited_for_places"] += 1
            waiting.insert(at, asked)

    def take_ready(self) -> list[Asked]:
        """Of each process that has got further the first stretch, where it waits no more."""
        chains = self._plane.chains
        moved, chains.moved = chains.moved, {}
        ready: list[Asked] = []
        for key in moved:
            waiting = self._stretches.get(key)
            if waiting and waiting[0].after <= chains.reached(key):
                ready.append(waiting.pop(0))
                chains.moved[key] = None  # the next one may be ready, too
            if not waiting:
                self._stop(key)
        ready.sort(key=lambda asked: asked.origin)
        return ready

    def take_of(self, groups: tuple[GroupId, ...]) -> list[Asked]:
        """The stretches that begin in one of these groups, each process's in its order."""
        taken: list[Asked] = []
        for key, waiting in list(self._stretches.items()):
            mine = [asked for asked in waiting if asked.runs[0][0] in groups]
            if mine:
                taken += mine
                waiting[:] = [asked for asked in waiting if asked not in mine]
                if not waiting:
                    self._stop(key)
        return taken

    def forget_gone(self) -> None:
        """What waits here goes with its node (decision 0020)."""
        plane = self._plane
        for key, waiting in list(self._stretches.items()):
            if not plane.in_view(plane.senders.process(key).node):
                plane.counters["dropped.gone"] += len(waiting)
                self._stop(key)

    def _stop(self, key: int) -> None:
        chains = self._plane.chains
        self._stretches.pop(key, None)
        chains.watched.discard(key)
        chains.moved.pop(key, None)
