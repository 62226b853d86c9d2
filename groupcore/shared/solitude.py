"""An object that is not open at any node: its operations are done at once, for nobody else.

So a class can be tried out, and its operations tested, as an ordinary class.
"""

from __future__ import annotations

from collections.abc import Sequence

from groupcore.sequencing.names import Process
from groupcore.shared.changes import Change
from groupcore.shared.handle import Call
from groupcore.shared.machine import Entry, Machine, Stateful, detached
from groupcore.shared.messages import encode_operate
from groupcore.shared.pending import Pending, Wait, wait_never
from groupcore.shared.streams import Stream
from groupcore.shared.watching import Watchers
from groupcore.view import Address

NOBODY = Process(Address("nobody", 0), 0)
"""The process that calls the operations of an object that is not open."""


class Solitary:
    """The caller of an object that is its own only replica; its time stands at 0."""

    process = NOBODY
    members = (NOBODY,)
    time_s = 0.0
    is_in = True
    wait: Wait = staticmethod(wait_never)

    def __init__(self, target: Stateful) -> None:
        self._machine = Machine(target, group=0)
        self._machine.let_in(NOBODY)
        self._watchers = Watchers()

    def changes(self, waiting_max: int) -> Stream[Change]:
        """A new stream of what happens to the object."""
        return self._watchers.open(self.wait, waiting_max)

    def close(self) -> Pending[None]:
        """Nothing is open, so it is done."""
        pending: Pending[None] = Pending()
        pending.resolve(None)
        return pending

    def order(self, calls: Sequence[Call], pendings: Sequence[Pending[object]]) -> None:
        """Do them now."""
        number = self._machine.position + 1
        payload = encode_operate(0, [(spec.name, wire) for spec, wire in calls], NOBODY.node.name)
        done = self._machine.apply(Entry(number, NOBODY, number, payload))
        self._watchers.operated(number, NOBODY, done)
        for place, pending in enumerate(pendings):
            if done.error is not None:
                pending.fail(done.error)
            else:
                results = detached(done.results)
                pending.resolve(results[place] if results else None)
