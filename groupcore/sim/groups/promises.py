"""What nodes have said to have saved of streams, and which frames were told to be saved.

A node that has counted towards what a sender was told must have it when it starts again with the
same disk: whoever forms a view from disk relies on that.
"""

from __future__ import annotations

from groupcore.sequencing.names import GroupId, MessageId, Process
from groupcore.sequencing.plane import Plane
from groupcore.view import Address

ENDLESS = 1 << 62
"""As far as a stream goes that has ended and was dropped, as all had stored it to its end."""
Frames = dict[Address, int]
"""Up to which frame of each stream."""
Awaited = dict[tuple[GroupId, Process], list[tuple[int, Address, int]]]
"""Of messages that are accepted: the process's own number, and the frame that says so."""


class Promises:
    """Those of all nodes, each with its disk."""

    def __init__(self) -> None:
        self._told: Frames = {}
        self._stored: dict[tuple[str, int], Frames] = {}

    def of(self, name: str, disk: int) -> Promise:
        """Those of a node with this disk: the number grows when it is lost."""
        return Promise(self._stored.setdefault((name, disk), {}), self._told)


class Promise:
    """What all lives of a node with one disk have said, and what senders were told everywhere."""

    def __init__(self, stored: Frames, told: Frames) -> None:
        self._stored = stored
        self._told = told

    def say(self, stream: Address, frame: int) -> None:
        """This node says to have saved the stream up to there."""
        if frame > self._stored.get(stream, -1):
            self._stored[stream] = frame

    def tell(self, stream: Address, frame: int) -> None:
        """A sender is told that what it has sent is saved, with this frame and all before it."""
        self._told[stream] = max(frame, self._told.get(stream, 0))

    def given(self) -> Frames:
        """What this node must have as long as it has its disk."""
        stored = self._stored.items()
        both = {one: min(frame, self._told.get(one, 0)) for one, frame in stored}
        return {one: frame for one, frame in sorted(both.items()) if frame}


class Teller:
    """Sees in one life what is accepted, what is said to be saved, and what is told."""

    def __init__(self, plane: Plane, promise: Promise) -> None:
        self._plane = plane
        self._promise = promise
        self._awaited: Awaited = {}
        self._await_saved = plane.await_saved
        plane.await_saved = self._await  # type: ignore[method-assign]

    def _await(self, stream: Address, frame: int, group: GroupId, message: MessageId) -> None:
        entry = (message.number, stream, frame)
        self._awaited.setdefault((group, message.process), []).append(entry)
        self._await_saved(stream, frame, group, message)

    def say(self) -> None:
        """A turn has ended: what this node says now."""
        for address, stream in self._plane.streams.items():
            self._promise.say(address, self._plane.saved_here(stream))

    def tell(self, group: GroupId, message: MessageId) -> None:
        """A process of this node is told that its messages up to this one are saved."""
        left = []
        for entry in self._awaited.get((group, message.process), ()):
            if entry[0] <= message.number:
                self._promise.tell(*entry[1:])
            else:
                left.append(entry)
        self._awaited[group, message.process] = left

    def kept(self) -> dict[Address, tuple[int, int]]:
        """Of each stream what it must have, and what it has as it begins with its log."""
        plane = self._plane
        found = {}
        for address, promised in self._promise.given().items():
            stream = plane.streams.get(address)
            if stream is not None:
                here = stream.last_of(max(stream.received, stream.recorded))
            else:
                here = ENDLESS if address in plane.gone else 0
            found[address] = (promised, here)
        return found
