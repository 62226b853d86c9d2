"""The streams' part of a view change: what is here when the view is stopped, and what must be.

Idea. A frame is delivered when a quorum of the view has acknowledged it. Each member that is
stopped for a view change says, once and for all, how far it has every stream, and acknowledges
nothing beyond that until the next view is here. Whoever decides about the next view is a quorum,
too, so the most that any of them has said covers all that anybody has delivered. That is the
streams' part of the cut: who accepts or begins the view has it.

Source. Decision 0024; reliability.md, invariants 3 and 14; the flush of `groupcore.layers.flush`.

Invariants.
  I1  From its answer to the flush of a view on a node acknowledges no more in that view.
  I2  What a node says to have is here as frames, or was at all when it joined (it has the state).
  I3  A node that begins with its log says what that has of streams that have not ended, and has
      nothing of a stream that it has not heard of. Of what it is given behind that it says what
      rests on its log's order: who has as much of that, or more, knows every group in it.
  I4  A node that is stopped says as well what of the streams of others rests on what it has
      delivered of the order: it counts where a view is formed from disk, which may lack the rest.
"""

from __future__ import annotations

from groupcore.digest import Digest, covers
from groupcore.events import CutHeld, FetchCut
from groupcore.sequencing.keeper import Keeper
from groupcore.sequencing.knowing import Known
from groupcore.sequencing.plane import Plane
from groupcore.view import Address


class Cut:
    """This node's answers to the stack, and what it still has to get."""

    def __init__(self, plane: Plane, keeper: Keeper) -> None:
        self._plane = plane
        self._keeper = keeper
        self._stopped_in = 0
        self._wanted: Digest | None = None
        self._known = Known(plane)

    def stop(self, view: int) -> Digest:
        """Acknowledge nothing more in the view of this number; how far the streams are (I1).

        Asked again it says the same. The stack may be asked about a view of which the service
        has still to be told in this turn.
        """
        plane = self._plane
        if self._stopped_in < view or plane.frozen is None:
            self._stopped_in = view
            streams = plane.streams.items()
            plane.frozen = {address: one.received for address, one in streams if one.started}
        return dict(plane.frozen)

    def stored(self) -> Digest:
        """How far the streams are that have not ended: what a life brings that has its log (I3)."""
        return {} if self._plane.log is None else self._known.digest()

    def known(self, position: int) -> Digest:
        """Of which streams of others the order up to there knows less than is here, and how much.

        What of the order comes here in the same turn only is not looked at: then it is none (I4).
        """
        plane = self._plane
        if plane.frozen is None or plane.log is None or not plane.ready:
            return {}
        if plane.place[1] != position:
            return {}
        frozen, known = plane.frozen, self._known.digest()
        return {s: n for s, n in known.items() if s != plane.me and n < frozen.get(s, 0)}

    def has(self, streams: Digest) -> bool:
        """Whether all frames up to there are here; of a stream that is over nothing is missing."""
        plane = self._plane
        reached = {address: one.received for address, one in plane.streams.items() if one.started}
        left = {
            address: self._wanted_of(address, number)
            for address, number in streams.items()
            if not self._is_over(address)
        }
        return covers(reached, left)

    def _wanted_of(self, address: Address, number: int) -> int:
        """Of a stream that has ended nothing is wanted behind its end, whatever others have."""
        stream = self._plane.streams.get(address)
        return number if stream is None or stream.end is None else min(number, stream.end)

    def _is_over(self, address: Address) -> bool:
        """Whether nothing is missing of a stream of which there is nothing here.

        It has ended and is stable; or this node is new and does not know where it begins for it.
        """
        plane = self._plane
        stream = plane.streams.get(address)
        is_new = not plane.ready and not plane.has_log_only
        if stream is None:
            return is_new or address in plane.gone
        return is_new and not stream.started

    def fetch(self, event: FetchCut) -> None:
        """Get the frames up to there."""
        self._wanted = event.streams
        for address, number in event.streams.items():
            if not self._is_over(address):
                if self._plane.has_log_only:
                    self._plane.stream(address).start(0)  # its node joined when this one was away
                wanted = self._wanted_of(address, number)
                self._keeper.fetch(address, wanted, event.stream_holders.get(address, ()))

    def end_turn(self) -> None:
        """Tell the stack, once, when the frames that it has asked for are here."""
        if self._wanted is not None and self.has(self._wanted):
            self._wanted = None
            self._plane.control.append(CutHeld())

    def on_view(self, number: int) -> None:
        """A view begins: acknowledge again, unless this one has been stopped already."""
        self._wanted = None
        if self._stopped_in < number:
            self._plane.frozen = None
