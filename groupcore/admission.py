"""Admission: how a boot that this receiver does not know yet becomes a peer.

Idea. A datagram that opens proves that its sender holds the cluster key, not that it is alive: it
may be a recording. So the first one of a boot is answered by a challenge with a fresh nonce, and
only the proof, which carries the nonce and the sender's address, makes the boot a peer; its replay
window starts at the proof. Until then its data is dropped.

Place. The transport's door: it comes here with datagrams that are on no fast lane.
Source. docs/threats.md, T3 (freshness by challenge from the receiver), T6, T7.

Invariants.
  A1  A boot becomes a peer only by a proof with the nonce that this receiver drew for it, no
      longer ago than `challenge_lifetime_s`, and a name that its sender id is the hash of.
  A2  Nothing is kept for a boot before one of its datagrams has opened.
  A3  Only what opened is answered, at most one challenge a boot in `challenge_interval_s`, one
      proof a challenge.
  A4  Deriving keys for unknown boots is bounded by a token bucket for each source.
  A5  A peer's source changes only by a proof that comes from the new one, with the nonce that was
      sent there, and only when nothing has come from the known one for `source_quiet_s`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hmac import compare_digest
from random import Random
from typing import Any

from cryptography.exceptions import InvalidTag
from msgpack import Packer

from groupcore.errors import WireError
from groupcore.peers import Control, Moving, Peer, PeerTable, Pending, SocketAddress
from groupcore.seal import (
    BOOT_BYTES,
    CHALLENGE,
    GROUP,
    HEADER,
    HELLO,
    KINDS,
    LANE_BYTES,
    NONCE_PREFIX,
    PAIR,
    PROOF,
    VERSION,
    Cipher,
    Keyring,
    Sealer,
    sender_id,
)
from groupcore.sequencing.names import NAME_MAX
from groupcore.token_bucket import TokenBuckets
from groupcore.transport_options import CONTROL_BYTES_MAX, TransportOptions
from groupcore.view import Address
from groupcore.wire import unpack_packets
from groupcore.wire_fields import INTEGER_MAX

NONCE_BYTES = 16

_packer = Packer(use_bin_type=True, autoreset=True)


@dataclass(slots=True)
class Arrival:
    """A datagram that is on no fast lane, with what its clear header claims.

    `epoch` is the slot under which a peer's cipher is kept (`seal.slot_of`).
    """

    datagram: bytes | memoryview
    source: SocketAddress
    now: float
    kind: int
    epoch: int
    counter: int
    identity: bytes
    version: int = VERSION


class Admission:
    """The door of one transport. `control` are the challenges and proofs still to be sealed.

    Its nodes have the cluster key, and no identities; where they have, `identity.handshake` is the
    door.
    """

    datagram_bytes_max = CONTROL_BYTES_MAX
    group_bytes = 0

    def __init__(
        self,
        address: Address,
        boot: bytes,
        keys: Keyring,
        table: PeerTable,
        options: TransportOptions,
        random: Random,
        drops: Counter[str],
        sealer: Sealer,
    ) -> None:
        self._sealer = sealer
        self.control: list[Control] = []
        self._address = address
        self._boot = boot
        self._keys = keys
        self._table = table
        self._options = options
        self._random = random
        self._drops = drops
        self._buckets = TokenBuckets(
            options.unknown_per_s, options.unknown_burst, options.sources_max
        )

    def open(self, arrival: Arrival, ciphers: dict[int, Cipher]) -> bytes | None:
        """The plaintext, its cipher kept in `ciphers` from the first success on; None: dropped."""
        epoch, identity = arrival.epoch, arrival.identity
        cipher = ciphers.get(epoch)
        if cipher is None:
            if not self._buckets.take(arrival.source, arrival.now):
                self._drops["throttled"] += 1
                return None
            cipher = self._keys.cipher(epoch, identity[:-BOOT_BYTES], identity[-BOOT_BYTES:])
            if cipher is None:
                self._drops["unknown_key_epoch"] += 1
                return None
        view = memoryview(arrival.datagram)
        nonce = NONCE_PREFIX + bytes(view[LANE_BYTES : HEADER.size])
        try:
            plaintext = cipher.decrypt(nonce, view[HEADER.size :], view[: HEADER.size])
        except InvalidTag:
            self._drops["forged"] += 1
            return None
        ciphers[epoch] = cipher
        self._keys.heard(epoch)
        return plaintext

    def receive(self, arrival: Arrival) -> Peer | None:
        """Look at a datagram of a boot that is no peer; the peer, when this made it one."""
        pending = self._table.pending.get(arrival.identity)
        if (
            arrival.kind not in (CHALLENGE, PROOF)
            and pending is not None
            and not self._may_challenge(pending, arrival.now)
        ):
            self._drops["unproven"] += 1
            return None
        ciphers = {} if pending is None else pending.ciphers
        plaintext = self.open(arrival, ciphers)
        if plaintext is None:
            return None
        if pending is None:
            pending = Pending(self._random.randbytes(NONCE_BYTES), arrival.now)
            pending.ciphers = ciphers
            self._table.add_pending(arrival.identity, pending)
        if arrival.kind == PROOF:
            peer = self._on_proof(arrival, pending, plaintext)
            if peer is not None:
                return peer
        elif arrival.kind != CHALLENGE:
            self._drops["unproven"] += 1
        elif arrival.counter > pending.answered:
            pending.answered = arrival.counter
            self.on_challenge(plaintext, arrival.source, arrival.identity, arrival.now)
        else:
            self._drops["replayed"] += 1
        if self._may_challenge(pending, arrival.now):
            self._challenge(arrival, pending)
        return None

    # --- another source of a peer ---------------------------------------------------------------

    def ask_for_source(self, peer: Peer, source: SocketAddress, now: float) -> None:
        """A datagram of a peer came from elsewhere: it is to prove that it is there (A5)."""
        moving = peer.moving
        if moving is not None and now - moving.at < self._options.challenge_interval_s:
            return
        nonce = self._random.randbytes(NONCE_BYTES)
        peer.moving = Moving(source, nonce, now)
        plaintext = _packer.pack([nonce, peer.identity[-BOOT_BYTES:]])
        self.control.append(Control(CHALLENGE, plaintext, source))

    def on_proof_of_source(self, peer: Peer, plaintext: bytes, arrival: Arrival) -> None:
        """A peer has answered a challenge: where it answers from is its source, if asked (A5)."""
        moving = peer.moving
        if moving is None or arrival.source != moving.source:
            return  # a second proof says nothing new
        pending = Pending(moving.nonce, moving.at)
        pending.challenged_at = moving.at
        if self._proven_address(arrival, pending, plaintext) != peer.address:
            self._drops["bad_proof"] += 1
            return
        peer.source, peer.sourced_at, peer.moving = moving.source, arrival.now, None

    # --- challenge and proof --------------------------------------------------------------------

    def _may_challenge(self, pending: Pending, now: float) -> bool:
        since = pending.challenged_at
        return since is None or now - since >= self._options.challenge_interval_s

    def _challenge(self, arrival: Arrival, pending: Pending) -> None:
        """Ask the boot to prove that it lives. One nonce serves until it is too old."""
        if arrival.now - pending.nonce_at >= self._options.challenge_lifetime_s:
            pending.nonce = self._random.randbytes(NONCE_BYTES)
            pending.nonce_at = arrival.now
        pending.challenged_at = arrival.now
        plaintext = _packer.pack([pending.nonce, arrival.identity[-BOOT_BYTES:]])
        self.control.append(Control(CHALLENGE, plaintext, arrival.source))

    def on_challenge(
        self, plaintext: bytes, source: SocketAddress, identity: bytes, now: float
    ) -> None:
        """Answer a challenge that names this boot."""
        match unpack_control(plaintext):
            case [bytes() as nonce, bytes() as boot] if len(nonce) == NONCE_BYTES:
                if boot == self._boot:
                    proof = _packer.pack([nonce, *self._address])
                    self.control.append(Control(PROOF, proof, source))
                else:
                    self._drops["not_for_me"] += 1
            case _:
                self._drops["bad_challenge"] += 1

    def _on_proof(self, arrival: Arrival, pending: Pending, plaintext: bytes) -> Peer | None:
        """The peer that the boot is from now on, when the proof is good (A1)."""
        address = self._proven_address(arrival, pending, plaintext)
        if address is None:
            self._drops["bad_proof"] += 1
            return None
        peer = Peer(
            arrival.identity,
            address,
            arrival.source,
            arrival.counter,
            pending.ciphers,
            arrival.now,
        )
        peer.foreign = address.name != self._address.name
        self._table.add_peer(peer)
        return peer

    def _proven_address(
        self, arrival: Arrival, pending: Pending, plaintext: bytes
    ) -> Address | None:
        match unpack_control(plaintext):
            case [bytes() as nonce, str() as name, int() as incarnation]:
                good = (
                    pending.challenged_at is not None
                    and arrival.now - pending.nonce_at < self._options.challenge_lifetime_s
                    and compare_digest(nonce, pending.nonce)
                    and 0 < len(name) <= NAME_MAX
                    and type(incarnation) is int
                    and 0 <= incarnation <= INTEGER_MAX
                    and sender_id(name) == arrival.identity[:-BOOT_BYTES]
                )
                return Address(name, incarnation) if good else None
            case _:
                return None

    # --- what nodes with identities do otherwise ------------------------------------------------

    def refusal(self, version: int, kind: int) -> str:
        """Why a datagram of this kind is dropped here; nothing when it may come."""
        if version in (GROUP, PAIR) or (version == VERSION and kind == HELLO):
            return "has_certificate"
        return "" if version == VERSION and kind in KINDS else "bad_clear_header"

    def is_of_nobody(self, arrival: Arrival) -> bool:
        """Whoever has the cluster key is believed to be who it says."""
        return False

    def drop_keys(self) -> None:
        """A cluster key was removed: nothing is opened under it any more. Peers stay proven."""
        self._table.drop_ciphers()

    def on_members(self, members: Iterable[Address]) -> None:
        """The key of a boot does not depend on the view."""

    def on_key(self, kind: int, plaintext: bytes, peer: Peer, now: float) -> None:
        """There are no group keys."""

    def tick(self, now: float) -> None:
        """Nothing changes from turn to turn."""

    def counters(self) -> dict[str, int]:
        """Nothing but drops is counted here."""
        return {}

    def hello(self, now: float) -> bytes | None:
        """Each datagram shows that its sender has the cluster key."""
        return None

    def seal_group(self, kind: int, plaintext: bytes, now: float) -> bytes:
        """A datagram for all."""
        return self._sealer.seal(kind, plaintext)

    def seal_for(self, kind: int, plaintext: bytes, peer: Peer) -> bytes:
        """A datagram for one, which all could open."""
        return self._sealer.seal(kind, plaintext)

    def seal_control(self, control: Control, now: float) -> bytes | None:
        """A datagram of the transport itself."""
        return self._sealer.seal(control.kind, control.plaintext)

    def is_own(self, datagram: bytes | memoryview) -> bool:
        """Whether a copy of this very boot has sealed this (transport, X6)."""
        return self._sealer.opens(datagram)


def unpack_control(plaintext: bytes) -> list[Any]:
    """What a challenge or proof holds; empty when it is not an array."""
    try:
        return unpack_packets(plaintext)
    except WireError:
        return []
