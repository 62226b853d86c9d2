"""The transport: packets in, sealed datagrams out, and back; it knows who its peers are.

Idea. Packets of one turn travel together: those for one destination are joined into one msgpack
array, in order, up to the datagram's size, and sealed. On the way back a datagram is opened, and
its packets become batches of whoever sealed it. A boot is listened to only once it has answered a
challenge of this receiver, so that a recording of an earlier life is never taken for the living.

Place. Beneath the stack (`endpoint` joins the two), above the sockets; no socket, no clock here.
Source. docs/threats.md, T1 to T8; hot path, rules 1, 2, 7, 8 and 23.

Invariants.
  X1  No bytes make `receive` raise; what does not open changes nothing but the drop counters.
  X2  A batch comes up only from a boot that has proven itself to this receiver, once a counter.
  X3  Nothing is answered that did not open, and what an unproven boot gets for an answer is not
      larger than its cause by more than a node id and a nonce.
  X4  Packets for one destination leave in the order in which they came.
  X5  A peer is answered where it has proven to be: a copy of its datagram that comes from elsewhere
      moves nothing (A5).
  X6  A boot that goes on in two places, because its machine was cloned while it ran, ends in both:
      who hears a counter that it has not used yet seals one far above it, behind which no peer
      takes another one, and which the other of the two hears in turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from msgpack import Packer

from groupcore.admission import Admission, Arrival
from groupcore.batch import Batch
from groupcore.drops import Drops
from groupcore.errors import WireError
from groupcore.identity.card import Credentials
from groupcore.identity.handshake import Handshake
from groupcore.introductions import Introductions
from groupcore.layers.probe import Query
from groupcore.multicast_watch import NOTHING, MulticastWatch
from groupcore.peers import PROBER_PREFIX, Control, Lane, Peer, PeerTable, SocketAddress
from groupcore.seal import (
    CHALLENGE,
    DATA,
    HEADER,
    HELLO,
    IDENTITY,
    INTRODUCTION,
    KEY,
    KEY_TAKEN,
    LANE_BYTES,
    MISSING,
    NONCE_PREFIX,
    PROOF,
    SOUNDING,
    TAG_BYTES,
    Keyring,
    Sealer,
    sender_id,
    slot_of,
)
from groupcore.transport_options import (
    ARRAY_BYTES,
    DATAGRAM_BYTES_MAX,
    PACKET_BYTES_MAX,
    TransportOptions,
)
from groupcore.view import Address
from groupcore.wire import decode_packet, encode_packet, unpack_packets

__all__ = ["Datagram", "SocketAddress", "Transport", "TransportOptions"]

_packer = Packer(use_bin_type=True, autoreset=True)
CLONE_GAP = 1 << 32
"""How far above its own counter a cloned boot seals its last datagram."""
_NIL = b"\xc0"
_HEADER_BYTES = HEADER.size
_DATAGRAM_BYTES_MIN = HEADER.size + TAG_BYTES
_SMALL = (CHALLENGE, PROOF, HELLO, KEY, KEY_TAKEN)


class Datagram(NamedTuple):
    """Sealed bytes and where to send them; destination None: the multicast group."""

    data: bytes
    destination: SocketAddress | None


class Transport:
    """One life of one node on the network, without the network.

    `random` draws the nonces of challenges: give a `random.SystemRandom` outside the simulator.
    `boot` are 16 bytes that no earlier life has used. `credentials`: what it shows of itself where
    nodes have identities; without, the cluster key is all that they need. `drops` counts what was
    thrown away, by reason. `same_id_seen` is the other life of this node's id that has proven
    itself, if any; `is_cloned`: this very life goes on elsewhere, too (X6).
    """

    def __init__(
        self,
        address: Address,
        keys: Keyring,
        boot: bytes,
        options: TransportOptions,
        random: Random,
        credentials: Credentials | None = None,
    ) -> None:
        self.address = address
        self.options = options
        self.drops = Drops()
        self.same_id_seen: Address | None = None
        self.is_cloned = False
        self._keys = keys
        self._generation = keys.generation
        self._boot = boot
        self._named = list(address)
        self._sealer = Sealer(keys, sender_id(address.name), boot, options.first_counter)
        self._table = PeerTable(options.peers_max, options.pending_max)
        self._admission: Admission | Handshake
        place = (address, boot, keys, self._table, options, random, self.drops, self._sealer)
        if credentials is None:
            self._admission = Admission(*place)
        else:
            self._admission = Handshake(*place, credentials)
        self._introductions = Introductions(self._table, options)
        watching = options.multicast and not address.name.startswith(PROBER_PREFIX)
        self._watch = (
            MulticastWatch(self._table, self._introductions, options) if watching else None
        )
        self._heard: set[Address] = set()
        self._queues: dict[Address | None, list[bytes]] = {}
        self._alone: list[tuple[Address, bytes]] = []
        self._datagrams_sent = 0

    @property
    def boot(self) -> bytes:
        """The 16 bytes that name this life in the clear header of its datagrams."""
        return self._boot

    # --- receiving ------------------------------------------------------------------------------

    def receive(
        self, datagram: bytes | memoryview, source: SocketAddress, now: float
    ) -> list[Batch]:
        """The batches of a datagram that came from `source`; none when it is dropped (X1)."""
        if not _DATAGRAM_BYTES_MIN <= len(datagram) <= DATAGRAM_BYTES_MAX:
            self.drops["bad_size"] += 1
            return []
        if self._generation != self._keys.generation:
            self._generation = self._keys.generation
            self._admission.drop_keys()
        lane = self._table.lanes.get(bytes(datagram[:LANE_BYTES]))
        if lane is None:
            return self._receive_without_lane(datagram, source, now)
        return self._receive_on_lane(lane, datagram, source, now)

    def take_heard(self) -> tuple[Address, ...]:
        """The peers heard since the last call, sorted."""
        if not self._heard:
            return ()
        heard = list(self._heard) if len(self._heard) == 1 else sorted(self._heard)
        self._heard.clear()
        for address in heard:
            peer = self._table.by_address.get(address)
            if peer is not None:
                peer.heard = False
        return tuple(heard)

    def _receive_on_lane(
        self, lane: Lane, datagram: bytes | memoryview, source: SocketAddress, now: float
    ) -> list[Batch]:
        peer = lane.peer
        header = bytes(datagram[:_HEADER_BYTES])
        counter_bytes = header[LANE_BYTES:]
        counter = int.from_bytes(counter_bytes, "big")
        refusal = peer.window.refusal(counter)
        if refusal:
            self.drops[refusal] += 1
            return []
        sealed = memoryview(datagram)[_HEADER_BYTES:]
        try:
            plaintext = lane.decrypt(NONCE_PREFIX + counter_bytes, sealed, header)
        except InvalidTag:
            self.drops["forged"] += 1
            return []
        self._heard_from(peer, counter, source, now)
        return self._batches(plaintext, peer)

    def _heard_from(self, peer: Peer, counter: int, source: SocketAddress, now: float) -> None:
        """A datagram of a peer has opened: the only place where its state moves."""
        window = peer.window
        if counter > window.highest:
            if source == peer.source:
                peer.sourced_at = now
            elif now - peer.sourced_at >= self.options.source_quiet_s:
                self._admission.ask_for_source(peer, source, now)
        window.accept(counter)
        peer.heard_at = now
        if not peer.heard and peer.foreign and not peer.prober:
            peer.heard = True
            self._heard.add(peer.address)

    def _batches(self, plaintext: bytes, peer: Peer) -> list[Batch]:
        if not peer.foreign:
            self.drops["same_id"] += 1
            return []
        try:
            packets = unpack_packets(plaintext)
        except WireError as error:
            self.drops[error.reason] += 1
            return []
        if not packets:
            self.drops["malformed"] += 1
            return []
        named = packets[0]
        destination: Address | None = None
        if named is not None:
            if named != self._named:
                self.drops["not_for_me"] += 1
                return []
            destination = self.address
        elif not peer.missed:
            peer.grouped_at = peer.heard_at
        batches = []
        for packet in packets[1:]:
            try:
                batches.append(decode_packet(packet, peer.address, destination))
            except WireError as error:
                self.drops[error.reason] += 1
        return self._questions(batches) if peer.prober else batches

    def _questions(self, batches: list[Batch]) -> list[Batch]:
        """What a prober may say."""
        questions = [batch for batch in batches if type(batch.headers[-1]) is Query]
        if len(questions) < len(batches):
            self.drops["not_a_node"] += len(batches) - len(questions)
        return questions

    # --- datagrams on no lane: control, new keys, unknown boots ---------------------------------

    def _receive_without_lane(
        self, datagram: bytes | memoryview, source: SocketAddress, now: float
    ) -> list[Batch]:
        version, kind, epoch, _, boot, counter = HEADER.unpack_from(datagram)
        if boot == self._boot and counter <= self._sealer.counter:
            return []  # the multicast loop brings back what this node has sent
        refusal = self._admission.refusal(version, kind) if counter else "bad_clear_header"
        if refusal:
            self.drops[refusal] += 1
            return []
        if kind in _SMALL and len(datagram) > self._admission.datagram_bytes_max:
            self.drops["bad_size"] += 1
            return []
        if boot == self._boot:
            self._on_own_boot(datagram)
            return []
        identity = bytes(datagram[IDENTITY])
        slot = slot_of(version, epoch)
        arrival = Arrival(datagram, source, now, kind, slot, counter, identity, version)
        peer = self._table.peers.get(identity)
        if peer is not None and not self._admission.is_of_nobody(arrival):
            return self._receive_from_peer(peer, arrival)
        peer = self._admission.receive(arrival)
        if peer is not None:
            if not peer.foreign:
                self.same_id_seen = peer.address
            self._heard_from(peer, counter, source, now)
        return []

    def _on_own_boot(self, datagram: bytes | memoryview) -> None:
        """A datagram of this boot with a counter above this life's own (X6)."""
        if not self._admission.is_own(datagram):
            self.drops["forged"] += 1
        elif not self.is_cloned:
            self.is_cloned = True
            self._sealer.counter += CLONE_GAP
            places = [None, *(peer.source for peer in self._table.by_address.values())]
            self._admission.control += [Control(SOUNDING, NOTHING, place) for place in places]

    def _receive_from_peer(self, peer: Peer, arrival: Arrival) -> list[Batch]:
        refusal = peer.window.refusal(arrival.counter)
        if refusal:
            self.drops[refusal] += 1
            return []
        plaintext = self._admission.open(arrival, peer.ciphers)
        if plaintext is None:
            return []
        if arrival.kind == DATA:
            lane = bytes(arrival.datagram[:LANE_BYTES])
            self._table.add_lane(lane, peer.ciphers[arrival.epoch], peer)
        self._heard_from(peer, arrival.counter, arrival.source, arrival.now)
        if arrival.kind == DATA:
            return self._batches(plaintext, peer)
        if arrival.kind == CHALLENGE:
            self._admission.on_challenge(plaintext, arrival.source, arrival.identity, arrival.now)
        elif arrival.kind == INTRODUCTION:
            self._on_introduction(plaintext, peer, arrival.now)
        elif arrival.kind in (SOUNDING, MISSING):
            self._on_report(arrival.kind, plaintext, peer, arrival.now)
        elif arrival.kind == PROOF:
            self._admission.on_proof_of_source(peer, plaintext, arrival)
        else:
            self._admission.on_key(arrival.kind, plaintext, peer, arrival.now)
        return []

    def _on_report(self, kind: int, plaintext: bytes, peer: Peer, now: float) -> None:
        """A peer's word on what multicast does between the two."""
        if peer.prober or not peer.foreign:
            self.drops["not_a_node"] += 1
        elif plaintext != NOTHING:
            self.drops["bad_report"] += 1
        elif self._watch is not None and kind == SOUNDING:
            self._watch.on_sounding(peer, now)
        elif self._watch is not None:
            self._watch.on_missing(peer, now)

    def _on_introduction(self, plaintext: bytes, peer: Peer, now: float) -> None:
        if peer.prober:
            self.drops["not_a_node"] += 1
        elif not self._introductions.receive(plaintext, now):
            self.drops["bad_introduction"] += 1

    # --- sending --------------------------------------------------------------------------------

    def send(self, batch: Batch) -> None:
        """Queue a batch for the flush.

        Bodies are FRAG's to cut. Headers of a large view may exceed `datagram_bytes_max` where
        that is small: such a packet gets a datagram of its own, which the network cuts.
        AssertionError above what any datagram holds.
        """
        packet = encode_packet(batch)
        assert len(packet) <= PACKET_BYTES_MAX, (
            f"a packet of {len(packet)} bytes is above {PACKET_BYTES_MAX}: FRAG has to cut it"
        )
        if batch.destination is not None and batch.headers and batch.headers[-1].alone:
            self._alone.append((batch.destination, packet))
        else:
            self._queues.setdefault(batch.destination, []).append(packet)

    def flush(self, now: float) -> list[Datagram]:
        """The datagrams of this turn: challenges and proofs first, then what was queued (X4)."""
        admission = self._admission
        admission.tick(now)
        control = admission.control
        if self._watch is not None and (now >= self._watch.due_at or self._watch.control):
            control += self._watch.take(now)
        if not self._queues and not self._alone and not control and self.options.multicast:
            return []  # most turns only listen
        datagrams = []
        for said in control:
            data = admission.seal_control(said, now)
            if data is not None:
                datagrams.append(Datagram(data, said.target))
        control.clear()
        if not self.options.multicast and not self.address.name.startswith(PROBER_PREFIX):
            datagrams += self._introduce(now)
        queues, self._queues = self._queues, {}
        for destination, packets in queues.items():
            if destination is None:
                datagrams += self._for_all(packets, now)
                continue
            peer = self._table.by_address.get(destination)
            if peer is None:
                self.drops["unknown_destination"] += len(packets)
                continue
            for plaintext in self._bundle(_packer.pack(destination), packets):
                data = admission.seal_for(DATA, plaintext, peer)
                datagrams.append(Datagram(data, peer.source))
        datagrams += self._flush_alone()
        self._datagrams_sent += len(datagrams)
        return datagrams

    def _for_all(self, packets: list[bytes], now: float) -> list[Datagram]:
        """Multicasts, now and then behind the card of this boot."""
        admission, targets = self._admission, self._group(now)
        hello = admission.hello(now)
        datagrams = [] if hello is None else [Datagram(hello, target) for target in targets]
        for plaintext in self._bundle(_NIL, packets, admission.group_bytes):
            data = admission.seal_group(DATA, plaintext, now)
            datagrams += [Datagram(data, target) for target in targets]
        return datagrams

    def _flush_alone(self) -> list[Datagram]:
        """What has a datagram of its own."""
        alone, self._alone = self._alone, []
        datagrams = []
        for destination, packet in alone:
            peer = self._table.by_address.get(destination)
            if peer is None:
                self.drops["unknown_destination"] += 1
                continue
            (plaintext,) = self._bundle(_packer.pack(destination), [packet])
            data = self._admission.seal_for(DATA, plaintext, peer)
            datagrams.append(Datagram(data, peer.source))
        return datagrams

    def _introduce(self, now: float) -> list[Datagram]:
        plaintext = self._introductions.next(now)
        if plaintext is None:
            return []
        data = self._admission.seal_group(INTRODUCTION, plaintext, now)
        return [Datagram(data, peer.source) for peer in self._table.by_address.values()]

    def _bundle(self, named: bytes, packets: list[bytes], beside: int = 0) -> Iterator[bytes]:
        """The packets joined into arrays that fit into a datagram, behind who they are for.

        `beside`: the bytes of codes behind what is sealed.
        """
        room = self.options.datagram_bytes_max - HEADER.size - TAG_BYTES - ARRAY_BYTES - len(named)
        room -= beside
        joined: list[bytes] = []
        size = 0
        for packet in packets:
            if joined and size + len(packet) > room:
                yield b"".join((_packer.pack_array_header(len(joined) + 1), named, *joined))
                joined, size = [], 0
            joined.append(packet)
            size += len(packet)
        yield b"".join((_packer.pack_array_header(len(joined) + 1), named, *joined))

    def _group(self, now: float) -> list[SocketAddress | None]:
        """Where a multicast goes: the group and who misses it there; without multicast, copies.

        They go to every initial host, to every peer, and to whom peers know.
        """
        if self._watch is not None:
            return [None, *(peer.source for peer in self._watch.copied)]
        if self.options.multicast:
            return [None]
        targets: dict[SocketAddress | None, None] = dict.fromkeys(self.options.initial_hosts)
        for peer in self._table.nodes:
            if now - peer.heard_at >= self.options.idle_s:
                if now - peer.fanned_out_at < self.options.idle_probe_s:
                    continue
                peer.fanned_out_at = now
            targets[peer.source] = None
        targets.update(dict.fromkeys(self._introductions.hosts(now)))
        return list(targets)

    # --- for the owner --------------------------------------------------------------------------

    def on_members(self, members: Iterable[Address]) -> None:
        """A view with these members begins."""
        self._admission.on_members(members)

    def forget(self, address: Address) -> None:
        """Forget a peer; when it speaks again it has to prove itself again."""
        peer = self._table.by_address.get(address)
        if peer is not None:
            self._table.remove(peer)

    def peers(self) -> dict[Address, SocketAddress]:
        """The proven peers and where they were last heard from."""
        return {address: peer.source for address, peer in self._table.by_address.items()}

    def counters(self) -> dict[str, int]:
        """Drops by reason as `drops.reason`, and how much was sent and how many are known."""
        result = {f"drops.{reason}": number for reason, number in sorted(self.drops.items())}
        result["datagrams_sent"] = self._datagrams_sent
        result["peers"] = len(self._table.nodes)
        result |= self._admission.counters()
        if self._watch is not None:
            result.update(self._watch.counters())
        return result
