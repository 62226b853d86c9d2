"""Bugs to plant in what is safe on disk, and in what the transport lets in."""

from __future__ import annotations

from random import Random

from groupcore.batch import Batch
from groupcore.effects import Effect, Notify
from groupcore.endpoint import Endpoint
from groupcore.events import Saved
from groupcore.layers.discovery import Discover, Present
from groupcore.layers.durability import Durability
from groupcore.membership.ballots import Record
from groupcore.membership.headers import (
    JoinRefused,
    JoinRequest,
    MergeInstall,
    MergeRequest,
    MergeResponse,
)
from groupcore.peers import Lane, SocketAddress
from groupcore.replay_window import ReplayWindow
from groupcore.seal import HEADER, LANE_BYTES, NONCE_PREFIX, TAG_BYTES, Sealer
from groupcore.sim.clock import SECOND
from groupcore.sim.cluster import Cluster
from groupcore.sim.fault import Fault, Send
from groupcore.sim.planting import Patch, Plant
from groupcore.sim.scenario import Scenario
from groupcore.transport import Transport
from groupcore.view import Address, View

EXEMPT = (Discover, Present, JoinRequest, JoinRefused, MergeRequest, MergeResponse, MergeInstall)
"""Headers that say who is there, who wants to join and who wants to merge."""


def _own_disk_suffices() -> list[Patch]:
    def maybe_saved(self: Durability) -> list[Effect]:
        mine = self.synced.get(self.me, (0, 0))
        if self.view is None or mine <= self.saved or mine[0] != self.view.epoch:
            return []
        self.saved = mine
        return [Notify(Saved(*mine))]

    return [(Durability, "maybe_saved", maybe_saved)]


def _too_few_disks() -> list[Patch]:
    original = Durability.maybe_saved

    def maybe_saved(self: Durability) -> list[Effect]:
        whole, wanted = self.view, View.is_quorum
        if whole is None:
            return []
        View.is_quorum = lambda self, names: True  # type: ignore[method-assign]
        try:
            return original(self)
        finally:
            View.is_quorum = wanted  # type: ignore[method-assign]

    return [(Durability, "maybe_saved", maybe_saved)]


def _wiped_votes() -> list[Patch]:
    with_view = Record.with_view

    def complete(self: Record, view: View, rebuilding: bool) -> Record:
        return with_view(self, view, False)

    return [(Record, "with_view", complete)]


def _sixteen_bits() -> list[Patch]:
    begin, refusal = Sealer.__init__, ReplayWindow.refusal

    def near_the_end(self: Sealer, *arguments: object) -> None:
        begin(self, *arguments)  # type: ignore[arg-type]
        self.counter = 0xFFFF - 200

    def compare(self: ReplayWindow, counter: int) -> str:
        if counter & 0xFFFF <= self.highest & 0xFFFF and counter > self.highest:
            return "too_old"
        return refusal(self, counter)

    return [(Sealer, "__init__", near_the_end), (ReplayWindow, "refusal", compare)]


def _window_before_seal() -> list[Patch]:
    original = ReplayWindow.refusal

    def refusal(self: ReplayWindow, counter: int) -> str:
        found = original(self, counter)
        if not found:
            self.accept(counter)
        return found

    return [(ReplayWindow, "refusal", refusal)]


def _joins_unsealed() -> list[Patch]:
    """What looks for a group, joins one or merges two is taken as it comes, sealed or not."""
    on_lane = Transport._receive_on_lane

    def receive(
        self: Transport, lane: Lane, datagram: bytes, source: SocketAddress, now: float
    ) -> list[Batch]:
        forged = self.drops["forged"]
        batches = on_lane(self, lane, datagram, source, now)
        if self.drops["forged"] == forged:
            return batches
        cipher = lane.decrypt.__self__  # type: ignore[attr-defined]
        nonce = NONCE_PREFIX + datagram[LANE_BYTES : HEADER.size]
        # A stream cipher: sealing the ciphertext once more opens it, whatever its tag says.
        opened = cipher.encrypt(nonce, datagram[HEADER.size : -TAG_BYTES], None)[:-TAG_BYTES]
        found = self._batches(opened, lane.peer)
        return [batch for batch in found if isinstance(batch.headers[-1], EXEMPT)]

    return [(Transport, "_receive_on_lane", receive)]


def _nonces_again() -> list[Patch]:
    original = Cluster._make_endpoint

    def same_boot(
        self: Cluster, address: Address, boot: bytes, random: Random, lineage: bytes | None
    ) -> Endpoint:
        boot = address.name.encode() * 16
        return original(self, address, boot, random, lineage)

    return [(Cluster, "_make_endpoint", same_boot)]


SAFETY_PLANTS = (
    Plant(
        "own-disk-suffices",
        "saved is what the own disk holds",
        (18,),
        _own_disk_suffices,
    ),
    Plant(
        "too-few-disks",
        "saved is what k + 1 disks hold, though they are no majority",
        (18,),
        _too_few_disks,
    ),
    Plant(
        "wiped-votes",
        "a node votes before it has got back the state that it lost",
        (12, 18, 3, 2, 4, 5, 6, 7, 13, 14, 15, 16, 17, 24, 25),
        _wiped_votes,
        schedule=Scenario(
            seed=3,
            nodes=3,
            starts_ns=(0, 0, 0),
            safety_ns=9 * SECOND,
            # a and c go on without b; then c, whose disk is lost, meets b, and a is cut off.
            faults=(
                Fault(3 * SECOND, "isolate", (1,), 2 * SECOND),
                Fault(5 * SECOND, "isolate", (0,), 4 * SECOND),
                Fault(5 * SECOND, "wipe", (2,), SECOND // 10),
            ),
            sends=tuple(Send(n * SECOND // 10, n % 3, (40,)) for n in range(10, 85)),
        ),
    ),
    Plant(
        "sixteen-bits",
        "counters of datagrams are compared by their last 16 bits",
        (25, 15),
        _sixteen_bits,
    ),
    Plant(
        "window-before-seal",
        "the replay window moves before the seal is opened",
        (25, 15, 23),
        _window_before_seal,
    ),
    Plant(
        "joins-unsealed",
        "discovery, joins and merges are exempt from authentication",
        (23, 0, 12, 25, 15),
        _joins_unsealed,
    ),
    Plant(
        "nonces-again",
        "a restarted process counts its datagrams anew under the same key",
        (23, 25, 15),
        _nonces_again,
    ),
)
"""Those of disks and transport; `plants.PLANTS` has all."""
