"""Peers: the boots of other nodes that this receiver knows, proven alive or not yet.

No time of its own and no messages: tables with limits. A boot enters the table of pending boots
when its first datagram has opened, and the table of peers when it has answered this receiver's
challenge. Both tables are bounded; what is thrown out is challenged again when it speaks again,
which costs a round trip and never safety: its window then starts at its new proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from groupcore.replay_window import ReplayWindow
from groupcore.seal import LANE_BYTES, Cipher
from groupcore.view import Address

if TYPE_CHECKING:
    from groupcore.identity.pair import Pair

SocketAddress = tuple[str, int]
"""Host and port."""


class Control(NamedTuple):
    """A datagram of the transport itself.

    `target`: where it goes, None: to the group. `to`: the boot that it is for, by identity, where
    nodes have identities; None: whoever hears it.
    """

    kind: int
    plaintext: bytes
    target: SocketAddress | None
    to: bytes | None = None


PROBER_PREFIX = "probe:"
"""The node ids of probers begin with it, and no node's does: they ask, and take no part."""


class Pending:
    """A boot whose datagrams open, but which has not proven that it lives now.

    Where nodes have identities, `pair` are the keys with it, and `asked` says when it was
    challenged at which source.
    """

    __slots__ = ("answered", "asked", "challenged_at", "ciphers", "nonce", "nonce_at", "pair")

    def __init__(self, nonce: bytes, now: float) -> None:
        self.ciphers: dict[int, Cipher] = {}
        self.nonce = nonce
        self.nonce_at = now
        self.challenged_at: float | None = None
        self.answered = 0
        """Counter of its newest challenge that was answered: older ones are replays."""
        self.asked: dict[SocketAddress, float] = {}
        self.pair: Pair | None = None


@dataclass(slots=True)
class Moving:
    """Where datagrams of a peer come from now, and the challenge that went there."""

    source: SocketAddress
    nonce: bytes
    at: float


class Peer:
    """A boot that has proven itself to this receiver.

    `source` is where it has shown to be, by its proof or by one that was asked for from there;
    `sourced_at`: when its newest datagram last came from there; `moving`: where it may have gone.
    `foreign` is False for the other life of this node's own id, which is not listened to. A
    `prober` is answered, and counts for nothing else. `grouped_at`: when a multicast of it came
    that was no copy; `missed`: none does, and it is told. `missing_at`: when it said the same of
    this node, `copied_until`: so it gets copies, `lasting`: it has once got them. `pair`: the keys
    with it, where nodes have identities.
    """

    __slots__ = (
        "address",
        "ciphers",
        "copied_until",
        "fanned_out_at",
        "foreign",
        "grouped_at",
        "heard",
        "heard_at",
        "identity",
        "lanes",
        "lasting",
        "missed",
        "missing_at",
        "moving",
        "pair",
        "prober",
        "source",
        "sourced_at",
        "window",
    )

    def __init__(
        self,
        identity: bytes,
        address: Address,
        source: SocketAddress,
        floor: int,
        ciphers: dict[int, Cipher],
        now: float,
    ) -> None:
        self.identity = identity
        self.address = address
        self.source = source
        self.sourced_at = now
        self.moving: Moving | None = None
        self.pair: Pair | None = None
        self.window = ReplayWindow(floor)
        self.ciphers = ciphers
        self.lanes: list[bytes] = []
        self.foreign = True
        self.prober = address.name.startswith(PROBER_PREFIX)
        self.heard = False
        self.heard_at = now
        self.fanned_out_at = now
        self.grouped_at = now
        self.missed = False
        self.missing_at = float("-inf")
        self.copied_until = float("-inf")
        self.lasting = False


class Lane:
    """What the fast path needs for one clear header without its counter."""

    __slots__ = ("decrypt", "peer")

    def __init__(self, cipher: Cipher, peer: Peer) -> None:
        self.decrypt = cipher.decrypt
        self.peer = peer


class PeerTable:
    """Pending boots and peers by identity (sender id and boot id), peers also by address."""

    def __init__(self, peers_max: int, pending_max: int) -> None:
        self._peers_max = peers_max
        self._pending_max = pending_max
        self.pending: dict[bytes, Pending] = {}
        self.peers: dict[bytes, Peer] = {}
        self.by_address: dict[Address, Peer] = {}
        self.lanes: dict[bytes, Lane] = {}

    def add_pending(self, identity: bytes, pending: Pending) -> None:
        """Keep a boot whose datagram has opened; the oldest makes room."""
        if len(self.pending) >= self._pending_max:
            del self.pending[next(iter(self.pending))]
        self.pending[identity] = pending

    def add_peer(self, peer: Peer) -> None:
        """Keep a boot that has proven itself.

        It takes the place of the earlier lives of its node; when the table is full, the peer that
        was silent longest makes room.
        """
        self.pending.pop(peer.identity, None)
        name, incarnation = peer.address
        for other in list(self.peers.values()):
            if other.address.name == name and other.address.incarnation <= incarnation:
                self.remove(other)
        if len(self.peers) >= self._peers_max:
            self.remove(min(self.peers.values(), key=lambda other: other.heard_at))
        self.peers[peer.identity] = peer
        if peer.foreign:
            self.by_address[peer.address] = peer

    @property
    def nodes(self) -> list[Peer]:
        """The peers that are nodes."""
        return [peer for peer in self.by_address.values() if not peer.prober]

    def add_lane(self, lane: bytes, cipher: Cipher, peer: Peer) -> None:
        """Put a peer's data under this key on the fast path."""
        assert len(lane) == LANE_BYTES
        self.lanes[lane] = Lane(cipher, peer)
        peer.lanes.append(lane)

    def remove(self, peer: Peer) -> None:
        """Forget a peer: its next datagram is challenged again."""
        for lane in peer.lanes:
            self.lanes.pop(lane, None)
        self.peers.pop(peer.identity, None)
        if self.by_address.get(peer.address) is peer:
            del self.by_address[peer.address]

    def drop_cipher(self, peer: Peer, slot: int, version: int, epoch: int) -> None:
        """Open nothing more of this peer under one of its keys."""
        peer.ciphers.pop(slot, None)
        for lane in [lane for lane in peer.lanes if lane[0] == version and lane[2] == epoch]:
            peer.lanes.remove(lane)
            self.lanes.pop(lane, None)

    def drop_ciphers(self) -> None:
        """Forget every cipher and lane: a key was removed. Peers stay proven."""
        self.lanes.clear()
        for peer in self.peers.values():
            peer.ciphers.clear()
            peer.lanes.clear()
        for pending in self.pending.values():
            pending.ciphers.clear()
