"""Where the group's datagrams do not arrive, copies go to each who misses them.

Idea. A switch may filter multicast while unicast works, between all nodes or some, in one direction
or both. Who hears a peer, but for a while none of its multicasts, tells it so. The peer answers
with a **sounding**: a datagram to the group that is never copied. If the report comes again all
the same, the peer sends the reporter a copy of each multicast from then on, until no report has
come for a while. A reporter takes nothing but a sounding as a sign that multicast works, because
everything else may be a copy. Peers that have vanished and hosts that were named but never heard
are knocked at once a second, by an introduction, so that they are found without multicast.

Place. Inside the transport, which asks when a turn ends; in multicast mode only.
Source. Fault matrix row 9 (a switch that snoops); design, section 4, transport.

Invariants.
  C1  While nobody misses anything and all initial hosts are heard, nothing is sent for this.
  C2  Copies go only to peers that have reported twice within `REPORTS_S`, `copied_s` at most after
      their last report.
  C3  A silent peer is not reported to: that nothing comes of it says nothing about multicast.
"""

from __future__ import annotations

from groupcore.introductions import Introductions
from groupcore.peers import Control, Peer, PeerTable
from groupcore.seal import INTRODUCTION, MISSING, SOUNDING
from groupcore.transport_options import TransportOptions

LOOK_S = 0.25
"""How often the peers are looked at; a report is repeated as often."""
REPORTS_S = 0.7
"""Two reports within this time are believed: a sounding in between would have ended them."""
KNOCK_S = 1.0
NOTHING = b"\x90"
"""What reports and soundings say: an empty msgpack array."""


class MulticastWatch:
    """One transport's. `control` is what is to be sealed; `copied` gets a copy of multicasts."""

    def __init__(
        self, table: PeerTable, introductions: Introductions, options: TransportOptions
    ) -> None:
        self.control: list[Control] = []
        self.copied: list[Peer] = []
        self.due_at = float("-inf")
        self._table = table
        self._introductions = introductions
        self._options = options
        self._sounded_at = float("-inf")
        self._knock_at: float | None = None

    def counters(self) -> dict[str, int]:
        """How many peers get copies now, and of how many the multicasts are missed."""
        missed = sum(peer.missed for peer in self._table.nodes)
        return {"copied_to": len(self.copied), "multicast_missed": missed}

    def take(self, now: float) -> list[Control]:
        """What is to be sealed now; the peers are looked at when it is time."""
        if now >= self.due_at:
            self.look(now)
        taken, self.control = self.control, []
        return taken

    def look(self, now: float) -> None:
        """Report to those whose multicasts are missed, knock, and end copies nobody asks for."""
        self.due_at = now + LOOK_S
        options = self._options
        nodes = self._table.nodes
        for peer in nodes:
            awake = now - peer.heard_at < options.quiet_s  # C3
            peer.missed = awake and now - peer.grouped_at >= options.missed_s
            if peer.missed:
                self.control.append(Control(MISSING, NOTHING, peer.source, peer.identity))
        self.copied = [peer for peer in nodes if now < peer.copied_until]
        if self.copied:
            known = self._introductions.next(now)
            if known is not None:
                self.control += [
                    Control(INTRODUCTION, known, peer.source, peer.identity) for peer in self.copied
                ]
        self._knock(nodes, now)

    def on_missing(self, peer: Peer, now: float) -> None:
        """The peer says that none of my multicasts reach it (C2)."""
        if now - self._sounded_at >= LOOK_S:
            self._sounded_at = now
            self.control.append(Control(SOUNDING, NOTHING, None))
        if now - peer.missing_at <= REPORTS_S:
            peer.copied_until = now + self._options.copied_s
            peer.lasting = True
            if peer not in self.copied:
                self.copied.append(peer)
        peer.missing_at = now

    def on_sounding(self, peer: Peer, now: float) -> None:
        """A multicast of the peer has come that was no copy."""
        peer.grouped_at = now
        peer.missed = False

    def _knock(self, nodes: list[Peer], now: float) -> None:
        """Let those hear of this node to whom its multicasts may not get."""
        if self._knock_at is None:  # multicast has the first chance to find them
            self._knock_at = now + self._options.missed_s
        if now < self._knock_at:
            return
        self._knock_at = now + KNOCK_S
        awake = {peer.source for peer in nodes if now - peer.heard_at < self._options.quiet_s}
        doors = dict.fromkeys(self._options.initial_hosts)
        doors.update(dict.fromkeys(self._introductions.hosts(now)))
        doors.update(dict.fromkeys(peer.source for peer in nodes if peer.lasting or peer.missed))
        self.control += [
            Control(INTRODUCTION, NOTHING, door) for door in doors if door not in awake
        ]
