"""The keeper of streams: what arrives is kept, what is missing asked for, what is stable dropped.

Idea. Every node tells how far it is with every stream, and the end of its own (`telling`): that
is the acknowledgement, the resilience and the stability of everything at once, and it shows a
receiver that a last frame is missing (pbcast design, "Last Message dropped"). A gap is asked for in
the turn in which it is seen, of its sequencer, or of another node that has it.

Invariants.
  I1  What is missing is asked for until it is here, at growing intervals, of different holders.
  I2  What is acknowledged in a later view than this node's counts when that view is here.
"""

from __future__ import annotations

from groupcore.batch import Batch
from groupcore.errors import WireError
from groupcore.sequencing.headers import Accept, Change, Digest, Fetch, Repair
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.receiving import Receiving
from groupcore.sequencing.stream import Stream, frame_cost
from groupcore.sequencing.telling import Telling
from groupcore.view import Address
from groupcore.wire import decode_packet, encode_packet, unpack_packets

FETCHED_AT_ONCE = 256
"""Frames that one request may ask for."""
GIVEN_BYTES = 256 << 10
"""What one request is answered with at most."""


EARLY_MAX = 256
"""Digests of later views that are kept; the others come again."""


class Asking:
    """A request for missing frames that is under way."""

    __slots__ = ("at", "first", "tries")

    def __init__(self, first: int, at: float) -> None:
        self.first = first
        self.at = at
        self.tries = 0


class Keeper:
    """All streams of this node's plane. `touched` are those that have moved in this turn."""

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self.touched: dict[Address, Stream] = {}
        self._asking: dict[Address, Asking] = {}
        self._cut: dict[Address, tuple[int, tuple[Address, ...]]] = {}
        self._early: list[tuple[Address, Digest]] = []
        self._seen_news = -1
        self.receiving = Receiving(plane)
        self.telling = Telling(plane)

    def on_view(self) -> None:
        """A view begins: who is new hears everything, and what was said in it counts."""
        self._cut.clear()
        self.telling.on_view()
        self.touched.update(self._plane.streams)
        self._count(self.receiving.look_again())
        early, self._early = self._early, []
        for node, header in early:
            self.on_digest(node, header)

    # --- frames ---------------------------------------------------------------------------------

    def on_frame(self, sequencer: Address, number: int, batch: Batch) -> None:
        """A frame, from its sequencer or as a repair."""
        plane = self._plane
        stream = plane.streams.get(sequencer)
        if stream is None:
            if sequencer in plane.gone or not plane.in_view(sequencer):
                plane.counters["dropped.stranger"] += 1
                return
            stream = plane.stream(sequencer)
        if stream.take(number, batch):
            self.touched[sequencer] = stream
            self.telling.came(frame_cost(batch))
            self._count_its_own(sequencer, number, batch)
            self._count(self.receiving.advance(stream))
        else:
            plane.counters["dropped.old_frame"] += 1

    def _count(self, moved: list[Stream]) -> None:
        """Of these streams more has been received."""
        for stream in moved:
            self.touched[stream.address] = stream
            self.telling.received(stream.address)

    def _count_its_own(self, sequencer: Address, number: int, batch: Batch) -> None:
        """Who has made a frame has it, from the view on in which that was."""
        view, header = self._plane.view, batch.headers[-1]
        if view is not None and isinstance(header, Accept | Change) and header.view <= view.number:
            self._plane.reaches.note(sequencer, sequencer, number, 0)

    def on_repair(self, header: Repair) -> None:
        """A frame of another's stream, given away by who has it."""
        plane = self._plane
        if header.stream not in plane.streams and not plane.in_view(header.stream):
            plane.counters["dropped.stranger"] += 1
            return
        try:
            (packet,) = unpack_packets(b"\x91" + header.packet)
            batch = decode_packet(packet, header.stream, None)
        except WireError as error:
            plane.counters[f"dropped.{error.reason}"] += 1
            return
        inner = batch.headers[-1]
        if isinstance(inner, Accept | Change):
            self.on_frame(header.stream, inner.frame, batch)

    def on_fetch(self, node: Address, header: Fetch) -> None:
        """Give the frames that are here."""
        plane = self._plane
        stream = plane.streams.get(header.stream)
        if stream is None:
            return
        last = min(header.last, header.first + FETCHED_AT_ONCE - 1)
        given = 0
        for _, batch in stream.kept(header.first, last):
            packet = encode_packet(batch)
            given += len(packet)
            plane.to(node, Repair(header.stream, packet))
            plane.counters["repairs"] += 1
            if given > GIVEN_BYTES:
                break

    # --- digests --------------------------------------------------------------------------------

    def on_digest(self, node: Address, header: Digest) -> bool:
        """How far another node is (I2); False when that is no news, as mostly, and is only kept."""
        plane = self._plane
        if plane.view is not None and header.view > plane.view.number:
            if len(self._early) < EARLY_MAX:
                self._early.append((node, header))
            return False
        if not plane.in_view(node):
            return False
        stream, known = plane.stream(node), plane.reaches.news
        is_news = header.last > stream.highest or not stream.started
        if not stream.started:
            stream.start(header.last)
            self.telling.at_once()
            self._count(self.receiving.look_again())
        if header.last > stream.highest:
            stream.note_last(header.last)
            self.touched[node] = stream
        for reach in header.reaches:
            if reach.stream in plane.gone and reach.stream not in plane.streams:
                is_news = self.telling.hear_of_over(node, reach) or is_news
            said = (reach.received, reach.delivered, reach.saved)
            if plane.reaches.note(node, reach.stream, *said):
                is_news = True
                one = plane.streams.get(reach.stream)
                if one is not None:
                    self.touched[reach.stream] = one
                    one.note_last(reach.received)
        return is_news or plane.reaches.news != known

    def on_stored(self, now: float) -> None:
        """More is on disk here: others hear of it soon, with other news or without."""
        if self._plane.view is not None:  # else nobody is there to be told, nothing to wake for
            self.telling.soon(now)

    def settle(self) -> list[Stream]:
        """The streams that may go on: something has been received, or said of them."""
        touched, self.touched = self.touched, {}
        return list(touched.values())

    def collect(self, now: float) -> None:
        """Drop what is stable; looked at when somebody has said so, or a stream ends."""
        plane = self._plane
        news = plane.reaches.news
        if news == self._seen_news and not any(one.fenced for one in plane.streams.values()):
            return
        self._seen_news = news
        for address, stream in list(plane.streams.items()):
            if stream.started:
                stream.drop_stable(plane.reaches.stable(address))
            if stream.end is not None and stream.stable >= stream.end and not stream.undelivered:
                if plane.log is not None:
                    if plane.reaches.saved_by_all(address) < stream.end:
                        continue  # whose disk lacks it may have to fetch it after a power cut
                    plane.log.over(address)
                del plane.streams[address]
                plane.reaches.forget(address)
                self.telling.over(address, stream.end, now)

    # --- repair ---------------------------------------------------------------------------------

    def fetch(self, address: Address, number: int, holders: tuple[Address, ...]) -> None:
        """The view's cut contains this stream up to there, and these members have it: get it."""
        plane = self._plane
        stream = plane.stream(address)
        if stream.received >= number or self._cut.get(address) == (number, holders):
            return
        self._cut[address] = (number, holders)
        stream.want(number)
        self._asking.pop(address, None)

    def ask(self, now: float) -> None:
        """Ask for what is missing (I1)."""
        plane = self._plane
        if self._asking:
            for address in [one for one in self._asking if one not in plane.streams]:
                del self._asking[address]  # the stream is over
        for address, stream in plane.streams.items():
            is_whole = stream.highest <= stream.taken or not stream.started
            missing = None if is_whole else stream.missing
            if missing is None:
                if self._asking:
                    self._asking.pop(address, None)
                continue
            first, last = missing
            asking = self._asking.get(address)
            if asking is None or asking.first != first:
                asking = self._asking[address] = Asking(first, now)
            if now < asking.at:
                continue
            holder = self._holder(stream, first, asking.tries)
            wait_s = min(plane.options.repair_s * 2**asking.tries, plane.options.repair_max_s)
            asking.at = now + wait_s
            asking.tries = min(asking.tries + 1, 8)
            if holder is not None:
                plane.to(holder, Fetch(address, first, min(last, first + FETCHED_AT_ONCE - 1)))
                plane.counters["fetches"] += 1

    def _holder(self, stream: Stream, first: int, tries: int) -> Address | None:
        """Whom to ask: its sequencer first, then by turns everybody who has said to have it.

        Of what a cut contains, first those who have voted with it: the sequencer may be gone.
        """
        plane = self._plane
        holders = [stream.address] if plane.in_view(stream.address) else []
        number, voters = self._cut.get(stream.address, (0, ()))
        if first <= number:
            holders = [*voters, *holders]
        holders += plane.reaches.holders(stream.address, first, plane.me)
        asked = [one for one in dict.fromkeys(holders) if one != plane.me]
        return asked[tries % len(asked)] if asked else None

    def next_wake(self) -> float | None:
        """When something is to be asked for, or said."""
        digest_at = self.telling.next_wake()
        if not self._asking:
            return digest_at
        times = [asking.at for asking in self._asking.values()]
        if digest_at is not None:
            times.append(digest_at)
        return min(times, default=None)
