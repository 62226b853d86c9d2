"""Telling how far this node is with every stream: at once where somebody waits for it, else soon.

Idea. A digest is acknowledgement, resilience and stability of everything at once. It costs each
node that gets it about as much as a frame does, and most frames are held without it: who gets a
frame knows of its sequencer, which says in it in which view it has made it, and of itself. So only
those speak in the turn whose word completes a quorum with the sequencer, and to the sequencer alone
where nobody else lacks it. The rest, and what only frees memory, is told a little later, for many
frames together (decision 0029).

Source. Design, 4.7; decision 0006, "Later"; hot path, rule 16.

Invariants.
  I1  Whose word completes a quorum says it in the turn in which the frame has been received.
  I2  What is new is told to all within `digest_s`, or when a quarter of the window has come; what
      was told is repeated after `digest_again_s`, and more and more rarely.
  I3  A frame counts as its sequencer's in the view in which it was made and in later ones.
  I4  Who has dropped a stream says that it was here to its end once more to each life that still
      speaks of it: that one waits for the word of all, and may have heard only of former lives.
"""

from __future__ import annotations

from groupcore.sequencing.headers import Digest, Reach
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.stream import Stream
from groupcore.view import Address

OVER_S = 30.0
"""How long it is repeated that a stream is here to its end."""


class Telling:
    """What this node has told of the streams, and when it tells again."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._for_all: frozenset[Address] = frozenset()
        self._for_one: frozenset[Address] = frozenset()
        self._at_once = False
        self._soon = False
        self._owed_bytes = 0
        self._to: dict[Address, None] = {}
        self._at: float | None = None
        self._wait_s = plane.options.digest_again_s
        self._told: dict[Address, tuple[int, int, int]] = {}
        self._told_last = -1
        self._over: dict[Address, tuple[int, float]] = {}
        self._unanswered: dict[Address, int] = {}
        self._answered: set[tuple[Address, Address]] = set()

    def on_view(self) -> None:
        """A view begins: who is new hears everything, and whose word counts is another matter."""
        self._told.clear()
        self._at_once = True
        plane = self._plane
        assert plane.view is not None
        members, reaches = plane.view.members, plane.reaches
        self._answered = {one for one in self._answered if one[0] in members}
        urgent = [one for one in members if plane.me in reaches.first_to_tell(one)]
        alone = {one for one in urgent if reaches.suffices_itself(one)}
        self._for_one = frozenset(alone)
        self._for_all = frozenset(urgent) - alone

    # --- news -----------------------------------------------------------------------------------

    def at_once(self) -> None:
        """Something is to be told in this turn."""
        self._at_once = True

    def came(self, size_bytes: int) -> None:
        """A frame has come: all hear of it soon (I2)."""
        self._soon = True
        self._owed_bytes += size_bytes

    def received(self, stream: Address) -> None:
        """More of this stream has been received (I1)."""
        self._soon = True
        if stream in self._for_all:
            self._at_once = True
        elif stream in self._for_one:
            self._to[stream] = None

    def over(self, stream: Address, end: int, now: float) -> None:
        """The stream is over and dropped; others may not have heard the last of it."""
        self._told.pop(stream, None)
        self._over[stream] = (end, now + OVER_S)

    def hear_of_over(self, node: Address, reach: Reach) -> bool:
        """A node still speaks of a stream that is over and dropped here; whether for the first
        time (I4)."""
        if not self._plane.ready or (node, reach.stream) in self._answered:
            return False
        self._answered.add((node, reach.stream))
        known = max(reach.received, self._unanswered.get(reach.stream, 0))
        self._unanswered[reach.stream] = known
        self._soon = True
        return True

    def _answer(self, now: float) -> None:
        """Tell what was heard of for as long as what ends here (I4)."""
        for stream, upto in self._unanswered.items():
            before, _ = self._over.get(stream, (0, 0.0))
            self._over[stream] = (max(upto, before), now + OVER_S)
        self._unanswered.clear()

    def soon(self, now: float) -> None:
        """All are to hear of something within `digest_s`."""
        soon = now + self._plane.options.digest_s
        self._at = soon if self._at is None else min(soon, self._at)

    # --- telling --------------------------------------------------------------------------------

    def tell(self, now: float, at_once: bool) -> None:
        """The turn ends: say what somebody waits for, and everything when it is time."""
        plane = self._plane
        if plane.view is None:
            return
        if self._unanswered:
            self._answer(now)
        reaches = self._news()
        last = plane.own.received
        if reaches or last != self._told_last or self._soon:
            self._soon = False
            self._wait_s = plane.options.digest_again_s
            self.soon(now)
        due = self._at is not None and now >= self._at
        much = 4 * self._owed_bytes >= plane.options.window_bytes
        if not (self._at_once or due or at_once or much):
            self._tell_sequencers(last)
            return
        if due and not reaches:
            self._wait_s = min(self._wait_s * 2, plane.options.digest_max_s)
        if due or at_once:
            # A repetition says everything: what was lost of the former ones, too.
            reaches = [
                Reach(address, *self._reached(stream))
                for address, stream in plane.streams.items()
                if stream.started
            ]
            self._over = {one: over for one, over in self._over.items() if now < over[1]}
            reaches += [Reach(one, end, end, end) for one, (end, _) in self._over.items()]
        self._told.update((one.stream, (one.received, one.delivered, one.saved)) for one in reaches)
        self._told_last = last
        self._at_once = False
        self._owed_bytes = 0
        self._to.clear()
        self._at = now + self._wait_s
        plane.to(None, Digest(plane.view.number, last, tuple(reaches)))

    def _tell_sequencers(self, last: int) -> None:
        """Those that lack nothing but this node's word get it alone (I1)."""
        plane = self._plane
        assert plane.view is not None
        for address in self._to:
            stream = plane.streams.get(address)
            if stream is not None:
                reach = Reach(address, *self._reached(stream))
                plane.to(address, Digest(plane.view.number, last, (reach,)))
        self._to.clear()

    def _news(self) -> list[Reach]:
        """How far this node is with the streams of which not all have been told so much."""
        plane, told = self._plane, self._told
        news = []
        for address, stream in plane.streams.items():
            if not stream.started:
                continue
            reached = self._reached(stream)
            if told.get(address) != reached:
                plane.reaches.note(plane.me, address, *reached)
                news.append(Reach(address, *reached))
        return news

    def _reached(self, stream: Stream) -> tuple[int, int, int]:
        """What this node says of a stream: received, delivered, saved.

        Delivered is all that it has, while it hosts nothing yet. Others may drop that: a new node
        has delivered what its state contains, and gets the frames.
        """
        plane = self._plane
        received = delivered = stream.received
        if plane.ready and stream.delivered < received:
            delivered = stream.delivered
        if plane.frozen is not None:
            return plane.acknowledged(stream), delivered, plane.saved_here(stream)
        log = plane.log
        saved = received if log is None else log.saved.get(stream.address, 0)
        return received, delivered, saved

    def next_wake(self) -> float | None:
        """When something is to be said."""
        return self._at
