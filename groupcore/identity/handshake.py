"""Handshake: how a boot that this receiver does not know becomes a peer that speaks for itself.

Idea. A boot shows its card (`card`) with its multicasts: a hello, sealed under the cluster key,
which keeps strangers out and proves nothing else. Who does not know the boot looks at the card and
answers with a challenge that has its own card and a fresh nonce. Now both can make the keys of the
pair, and the proof, sealed under these, carries the nonce and the group key of who sends it. That
is one round trip each way, as without identities (`admission`).

Place. The transport's door, where nodes have identities; it comes here with datagrams that are on
no fast lane, and to have datagrams sealed.
Source. docs/threats.md, T1 to T7; decision 174. SIGMA with a signed half for each boot.

Invariants.
  H1  A boot becomes a peer only by a proof under the keys of the pair, with a nonce that this
      receiver drew no longer ago than `challenge_lifetime_s`, and with a good card.
  H2  What is sealed under the cluster key alone moves no window, no source and no state of a peer.
  H3  Nothing is answered that does not open, nor by more than came but for a proof of 150 bytes;
      signatures are looked at within buckets for each source, and for all sources together.
  H4  A group key is given to good cards only, sealed for their boot, and never to a prober.
  H5  Who is revoked is no peer any more at once, and the group key changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from hmac import compare_digest
from random import Random

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from msgpack import Packer

from groupcore.admission import NONCE_BYTES, Arrival, unpack_control
from groupcore.errors import WireError
from groupcore.identity.card import Credentials, OwnCard, check_card, read_card
from groupcore.identity.group_key import NUMBERS, GroupKey
from groupcore.identity.pair import CODE_BYTES, CODES_MAX, NO_CODES, Pair, coded_body
from groupcore.peers import PROBER_PREFIX, Control, Moving, Peer, PeerTable, Pending, SocketAddress
from groupcore.seal import (
    ALL_KINDS,
    BOOT_BYTES,
    CHALLENGE,
    GROUP,
    HEADER,
    HELLO,
    INTRODUCTION,
    KEY,
    KEY_BYTES,
    KEY_TAKEN,
    KINDS,
    LANE_BYTES,
    NONCE_PREFIX,
    PAIR,
    PROOF,
    SOUNDING,
    VERSION,
    Cipher,
    Keyring,
    Sealer,
    sender_id,
    slot_of,
)
from groupcore.token_bucket import TokenBuckets
from groupcore.transport_options import CARD_DATAGRAM_BYTES_MAX, TransportOptions
from groupcore.view import Address

LETTERS = (HELLO, CHALLENGE)
"""What may be sealed under the cluster key alone."""
SEALED = tuple(kind for kind in ALL_KINDS if kind != HELLO)
"""What is sealed under keys that the cluster key does not give."""
PADDING = bytes(2 * NONCE_BYTES + 8)
"""A hello is not smaller than the challenge that answers it."""
ALL_SOURCES = 4
"""So many times what one source may have looked at, all together may."""
LOOK_S = 0.2
DOORS_MAX = 8
"""Sources of one unproven boot that are challenged beside each other."""

_packer = Packer(use_bin_type=True, autoreset=True)


class Handshake:
    """The door of one transport. `control` is what is still to be sealed."""

    datagram_bytes_max = CARD_DATAGRAM_BYTES_MAX

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
        credentials: Credentials,
    ) -> None:
        self.control: list[Control] = []
        self._address = address
        self._is_prober = address.name.startswith(PROBER_PREFIX)
        self._boot = boot
        self._lane = sender_id(address.name) + boot
        self._keys = keys
        self._table = table
        self._options = options
        self._random = random
        self._drops = drops
        self._sealer = sealer
        self._trust = credentials.trust
        self._generation = self._trust.generation
        self._own = OwnCard(credentials, address, boot, random)
        self._group = GroupKey(random, options)
        self._to_itself = AESGCM(random.randbytes(KEY_BYTES))
        self._members: frozenset[Address] = frozenset()
        self._coding: list[AESGCM] = []
        self._looked_at = self._helloed_at = float("-inf")
        sources = options.sources_max
        rate, burst = options.verify_per_s, options.verify_burst
        self._buckets = TokenBuckets(options.unknown_per_s, options.unknown_burst, sources)
        self._verifying = TokenBuckets(rate, burst, sources)
        self._all_verifying = TokenBuckets(ALL_SOURCES * rate, ALL_SOURCES * burst, 1)
        self._answering = TokenBuckets(rate, burst, sources)

    # --- receiving ------------------------------------------------------------------------------

    def refusal(self, version: int, kind: int) -> str:
        """Why a datagram of this kind is dropped here; nothing when it may come."""
        if version == VERSION and kind in KINDS and kind not in LETTERS:
            return "no_certificate"
        kinds = LETTERS if version == VERSION else SEALED if version in (GROUP, PAIR) else ()
        return "" if kind in kinds else "bad_clear_header"

    def is_of_nobody(self, arrival: Arrival) -> bool:
        """Whether whoever has the cluster key may have sealed it (H2)."""
        return arrival.version == VERSION

    def open(self, arrival: Arrival, ciphers: dict[int, Cipher]) -> bytes | None:
        """The plaintext of what a known boot has sealed; None: dropped."""
        cipher = ciphers.get(arrival.epoch)
        if cipher is None:
            self._drops["not_for_me" if self._is_prober else "unknown_group_key"] += 1
            return None
        return self._decrypted(arrival, cipher)

    def _decrypted(self, arrival: Arrival, cipher: Cipher) -> bytes | None:
        view = memoryview(arrival.datagram)
        nonce = NONCE_PREFIX + bytes(view[LANE_BYTES : HEADER.size])
        try:
            return cipher.decrypt(nonce, view[HEADER.size :], view[: HEADER.size])
        except InvalidTag:
            self._drops["forged"] += 1
            return None

    def receive(self, arrival: Arrival) -> Peer | None:
        """Look at a datagram of a boot that is no peer; the peer, when this made it one."""
        if arrival.version == VERSION:
            self._on_letter(arrival)
            return None
        pending = self._table.pending.get(arrival.identity)
        if pending is None or arrival.version != PAIR:
            self._drops["unproven"] += 1
            return None
        plaintext = self.open(arrival, pending.ciphers)
        if plaintext is None:
            return None
        if arrival.kind == PROOF:
            peer = self._on_proof(arrival, pending, plaintext)
            if peer is not None:
                return peer
        else:
            self._drops["unproven"] += 1
        self._challenge(pending, arrival)
        return None

    def _on_letter(self, arrival: Arrival) -> None:
        """A hello or a challenge: sealed under the cluster key, with a card in it."""
        known = self._table.peers.get(arrival.identity)
        pending = self._table.pending.get(arrival.identity)
        if arrival.kind == HELLO:
            if known is not None:
                self._remind(arrival, known)
                return
            if pending is not None and not self._may_challenge(pending, arrival):
                self._drops["unproven"] += 1
                return
        plaintext = self._opened_letter(arrival, pending)
        if plaintext is None:
            return
        match arrival.kind, unpack_control(plaintext):
            case (_, [bytes() as card, bytes()]) if arrival.kind == HELLO:
                self._acquaint(arrival, card, known, pending)
            case (_, [bytes() as nonce, bytes() as boot, bytes() as card]) if (
                arrival.kind == CHALLENGE and len(nonce) == NONCE_BYTES
            ):
                if boot != self._boot:
                    self._drops["not_for_me"] += 1
                elif not self._answering.take(arrival.source, arrival.now):
                    self._drops["throttled"] += 1
                else:
                    pair = self._acquaint(arrival, card, known, pending)
                    if pair is not None:
                        self._prove(pair, nonce, arrival.source, arrival.now)
            case _:
                self._drops["bad_card" if arrival.kind == HELLO else "bad_challenge"] += 1

    def _opened_letter(self, arrival: Arrival, pending: Pending | None) -> bytes | None:
        ciphers = {} if pending is None else pending.ciphers
        cipher = ciphers.get(arrival.epoch)
        if cipher is None:
            if not self._buckets.take(arrival.source, arrival.now):
                self._drops["throttled"] += 1
                return None
            identity = arrival.identity
            cipher = self._keys.cipher(
                arrival.epoch, identity[:-BOOT_BYTES], identity[-BOOT_BYTES:]
            )
            if cipher is None:
                self._drops["unknown_key_epoch"] += 1
                return None
        plaintext = self._decrypted(arrival, cipher)
        if plaintext is not None:
            ciphers[arrival.epoch] = cipher
            self._keys.heard(arrival.epoch)
        return plaintext

    def _acquaint(
        self, arrival: Arrival, packed: bytes, known: Peer | None, pending: Pending | None
    ) -> Pair | None:
        """The pair with the boot that has this card; None when the card is not good.

        A boot that is no peer is challenged.
        """
        pair = known.pair if known is not None else pending.pair if pending is not None else None
        if pair is not None and pair.card.packed != packed:
            self._drops["bad_card"] += 1
            return None
        if pair is None:
            pair = self._judged(arrival, packed)
            if pair is None:
                return None
            pending = Pending(self._random.randbytes(NONCE_BYTES), arrival.now)
            pending.pair = pair
            pending.ciphers[slot_of(PAIR, 0)] = pair.opening
            self._table.add_pending(arrival.identity, pending)
        if known is None and pending is not None:
            self._challenge(pending, arrival)
        return pair

    def _judged(self, arrival: Arrival, packed: bytes) -> Pair | None:
        """The pair with a boot of which nothing is known yet (H3)."""
        takes = self._verifying.take(arrival.source, arrival.now)
        if not takes or not self._all_verifying.take(None, arrival.now):
            self._drops["throttled"] += 1
            return None
        try:
            card = read_card(packed)
            if card.identity != arrival.identity:
                raise WireError("bad_card", "it is another boot's")
            check_card(card, self._trust)
            return Pair(self._own, card)
        except WireError as error:
            self._drops[error.reason] += 1
            return None

    # --- challenge and proof --------------------------------------------------------------------

    def _may_challenge(self, pending: Pending, arrival: Arrival) -> bool:
        since = pending.asked.get(arrival.source)
        return since is None or arrival.now - since >= self._options.challenge_interval_s

    def _challenge(self, pending: Pending, arrival: Arrival) -> None:
        """Ask the boot to prove that it lives. One nonce serves until it is too old."""
        if not self._may_challenge(pending, arrival):
            return
        if arrival.now - pending.nonce_at >= self._options.challenge_lifetime_s:
            pending.nonce = self._random.randbytes(NONCE_BYTES)
            pending.nonce_at = arrival.now
        pending.challenged_at = arrival.now
        pending.asked.pop(arrival.source, None)
        if len(pending.asked) >= DOORS_MAX:
            del pending.asked[next(iter(pending.asked))]
        pending.asked[arrival.source] = arrival.now
        plaintext = _packer.pack(
            [pending.nonce, arrival.identity[-BOOT_BYTES:], self._own.card.packed]
        )
        self.control.append(Control(CHALLENGE, plaintext, arrival.source))

    def on_challenge(
        self, plaintext: bytes, source: SocketAddress, identity: bytes, now: float
    ) -> None:
        """Answer a peer that asks whether this boot has moved."""
        peer = self._table.peers.get(identity)
        match unpack_control(plaintext):
            case [bytes() as nonce, bytes() as boot] if len(nonce) == NONCE_BYTES:
                if boot != self._boot or peer is None or peer.pair is None:
                    self._drops["not_for_me"] += 1
                else:
                    self._prove(peer.pair, nonce, source, now)
            case _:
                self._drops["bad_challenge"] += 1

    def _prove(self, pair: Pair, nonce: bytes, source: SocketAddress, now: float) -> None:
        """Answer a challenge, with the group key (H4)."""
        number, key = self._group.number, self._group.key
        if pair.card.address.name.startswith(PROBER_PREFIX):
            number, key = 0, b""
        else:
            pair.given_at = now
            self._looked_at = float("-inf")
        plaintext = _packer.pack([nonce, number, key])
        self.control.append(Control(PROOF, plaintext, source, pair.card.identity))

    def _on_proof(self, arrival: Arrival, pending: Pending, plaintext: bytes) -> Peer | None:
        """The peer that the boot is from now on, when the proof is good (H1)."""
        given = self._proven(arrival, pending, plaintext)
        if given is None:
            self._drops["bad_proof"] += 1
            return None
        pair = pending.pair
        assert pair is not None, "it has opened under the pair's key"
        address = pair.card.address
        ciphers = {slot_of(PAIR, 0): pair.opening}
        peer = Peer(
            arrival.identity, address, arrival.source, arrival.counter, ciphers, arrival.now
        )
        peer.pair = pair
        peer.foreign = address.name != self._address.name
        self._take_key(peer, *given, arrival.now)
        self._table.add_peer(peer)
        self._looked_at = float("-inf")
        return peer

    def _proven(
        self, arrival: Arrival, pending: Pending, plaintext: bytes
    ) -> tuple[int, bytes] | None:
        """The group key that a good proof has with it, none of a node that gives none."""
        match unpack_control(plaintext):
            case [bytes() as nonce, int() as number, bytes() as key]:
                good = (
                    pending.challenged_at is not None
                    and arrival.now - pending.nonce_at < self._options.challenge_lifetime_s
                    and compare_digest(nonce, pending.nonce)
                    and _is_key(number, key or bytes(KEY_BYTES))
                )
                return (number, key) if good else None
        return None

    # --- another source of a peer ---------------------------------------------------------------

    def ask_for_source(self, peer: Peer, source: SocketAddress, now: float) -> None:
        """A datagram of a peer came from elsewhere: it is to prove that it is there."""
        moving = peer.moving
        if moving is not None and now - moving.at < self._options.challenge_interval_s:
            return
        nonce = self._random.randbytes(NONCE_BYTES)
        peer.moving = Moving(source, nonce, now)
        plaintext = _packer.pack([nonce, peer.identity[-BOOT_BYTES:]])
        self.control.append(Control(CHALLENGE, plaintext, source, peer.identity))

    def on_proof_of_source(self, peer: Peer, plaintext: bytes, arrival: Arrival) -> None:
        """A peer has answered a challenge: where it answers from is its source, if asked."""
        moving = peer.moving
        if moving is None or arrival.source != moving.source:
            return  # a second proof says nothing new
        pending = Pending(moving.nonce, moving.at)
        pending.challenged_at = moving.at
        if self._proven(arrival, pending, plaintext) is None:
            self._drops["bad_proof"] += 1
            return
        peer.source, peer.sourced_at, peer.moving = moving.source, arrival.now, None

    # --- group keys -----------------------------------------------------------------------------

    def on_members(self, members: Iterable[Address]) -> None:
        """A view begins: with other members there is another group key."""
        fresh = frozenset(members)
        if fresh != self._members:
            self._members = fresh
            if self._table.nodes:
                self._group.change()

    def on_key(self, kind: int, plaintext: bytes, peer: Peer, now: float) -> None:
        """What a peer says of group keys."""
        fields = unpack_control(plaintext)
        match kind, fields:
            case (_, [int() as number, bytes() as key]) if kind == KEY and _is_key(number, key):
                self._take_key(peer, number, key, now)
                taken = _packer.pack([number])
                self.control.append(Control(KEY_TAKEN, taken, peer.source, peer.identity))
            case (_, [int() as number]) if kind == KEY_TAKEN and peer.pair is not None:
                peer.pair.taken = number
                self._group.on_taken(peer.identity, number)
            case _:
                self._drops["bad_key"] += 1

    def _take_key(self, peer: Peer, number: int, key: bytes, now: float) -> None:
        if not key or peer.pair is None:
            return
        over = peer.pair.take_group_key(number, key, now + self._options.former_key_s)
        peer.ciphers[slot_of(GROUP, number)] = peer.pair.group[number]
        self._end_keys(peer, over)

    def _end_keys(self, peer: Peer, numbers: list[int]) -> None:
        for number in numbers:
            self._table.drop_cipher(peer, slot_of(GROUP, number), GROUP, number)

    def _give(self, peer: Peer, number: int, key: bytes) -> None:
        self.control.append(Control(KEY, _packer.pack([number, key]), peer.source, peer.identity))

    def _remind(self, arrival: Arrival, peer: Peer) -> None:
        """A peer shows that it is there: if it may lack the group key, it is given it (G2)."""
        pair, now = peer.pair, arrival.now
        if pair is None or peer.prober or not peer.foreign or pair.taken == self._group.number:
            return
        if now - pair.reminded_at >= LOOK_S and self._opened_letter(arrival, None) is not None:
            pair.reminded_at = now
            self._give(peer, self._group.number, self._group.key)

    # --- from turn to turn ----------------------------------------------------------------------

    def tick(self, now: float) -> None:
        """Look after keys, codes and the revoked; before something is sealed."""
        if self._trust.generation != self._generation:
            self._generation = self._trust.generation
            self._expel()
        if self._group.changes_now:
            members = {peer.identity for peer in self._table.nodes if peer.address in self._members}
            for identity in sorted(self._group.due(now, members)):
                assert self._group.next_ is not None, "there is one to give"
                self._give(self._table.peers[identity], *self._group.next_)
        if now - self._looked_at >= LOOK_S:
            self._look(self._table.nodes, now)

    def _look(self, nodes: list[Peer], now: float) -> None:
        self._looked_at = now
        options = self._options
        coded = [peer.pair for peer in nodes if now - peer.heard_at < options.coded_s]
        lately = now - options.challenge_lifetime_s
        coded += [
            pending.pair
            for pending in self._table.pending.values()
            if pending.pair is not None and pending.pair.given_at > lately
        ]
        self._coding = [pair.coding for pair in coded if pair is not None][: CODES_MAX - 1]
        for peer in self._table.peers.values():
            if peer.pair is not None:
                self._end_keys(peer, peer.pair.end_former(now))

    def _expel(self) -> None:
        """Whoever is revoked is no peer any more (H5)."""
        trust, table = self._trust, self._table
        for peer in list(table.peers.values()):
            if peer.pair is not None and trust.is_revoked(peer.pair.card.certificate):
                table.remove(peer)
                self._drops["revoked_certificate"] += 1
        for identity, pending in list(table.pending.items()):
            if pending.pair is not None and trust.is_revoked(pending.pair.card.certificate):
                del table.pending[identity]
        self._looked_at = float("-inf")
        self._group.change()

    def drop_keys(self) -> None:
        """A cluster key was removed: nothing is opened under it any more. Peers stay proven."""
        for pending in self._table.pending.values():
            pending.ciphers = {
                slot: cipher for slot, cipher in pending.ciphers.items() if slot >= NUMBERS
            }

    def counters(self) -> dict[str, int]:
        """How often the group key has changed, and for how many there are codes."""
        return {"group_keys": self._group.changes, "coded_for": len(self._coding)}

    # --- sealing --------------------------------------------------------------------------------

    @property
    def group_bytes(self) -> int:
        """What a datagram for all has beside its tag."""
        return NO_CODES + CODE_BYTES * (len(self._coding) + 1)

    def hello(self, now: float) -> bytes | None:
        """This boot's card, to go ahead of a multicast; None when it was shown not long ago."""
        if now - self._helloed_at < self._options.hello_every_s:
            return None
        self._helloed_at = now
        return self._letter(HELLO, _packer.pack([self._own.card.packed, PADDING]))

    def seal_group(self, kind: int, plaintext: bytes, now: float) -> bytes:
        """A datagram that all to whom this boot has proven itself can open (`pair`, C1).

        Now and then this boot itself can, too: that shows it a copy of its own machine.
        """
        group, sealer = self._group, self._sealer
        sealer.counter += 1
        counter = sealer.counter.to_bytes(8, "big")
        header = bytes((GROUP, kind, group.number)) + self._lane + counter
        nonce = NONCE_PREFIX + counter
        body = group.cipher.encrypt(nonce, plaintext, header)
        coding = self._coding
        if now == self._helloed_at or kind == SOUNDING:
            coding = [*coding, self._to_itself]
        codes = [code.encrypt(nonce, b"", body) for code in coding]
        return b"".join((header, body, *codes, bytes((len(codes),))))

    def seal_for(self, kind: int, plaintext: bytes, peer: Peer) -> bytes:
        """A datagram that this peer alone can open."""
        assert peer.pair is not None, "every peer has shown its card"
        return self._for_pair(kind, plaintext, peer.pair)

    def _for_pair(self, kind: int, plaintext: bytes, pair: Pair) -> bytes:
        sealer = self._sealer
        sealer.counter += 1
        counter = sealer.counter.to_bytes(8, "big")
        header = bytes((PAIR, kind, 0)) + self._lane + counter
        return header + pair.sealing.encrypt(NONCE_PREFIX + counter, plaintext, header)

    def seal_control(self, control: Control, now: float) -> bytes | None:
        """A datagram of the transport itself; None when its receiver is known no more."""
        kind, plaintext, _, to = control
        if to is None:
            if kind == INTRODUCTION:  # a knock at the door of who is not known
                return self._letter(HELLO, _packer.pack([self._own.card.packed, PADDING]))
            if kind in LETTERS:
                return self._letter(kind, plaintext)
            return self.seal_group(kind, plaintext, now)
        known = self._table.peers.get(to) or self._table.pending.get(to)
        if known is None or known.pair is None:
            return None
        return self._for_pair(kind, plaintext, known.pair)

    def _letter(self, kind: int, plaintext: bytes) -> bytes:
        return self._sealer.seal(kind, plaintext)

    def is_own(self, datagram: bytes | memoryview) -> bool:
        """Whether a copy of this very boot has sealed this (transport, X6)."""
        view = memoryview(datagram)
        if view[0] != GROUP:
            return False  # whoever has the cluster key can seal the rest
        nonce = NONCE_PREFIX + bytes(view[LANE_BYTES : HEADER.size])
        try:
            coded_body(view[HEADER.size :], self._to_itself, nonce)
        except InvalidTag:
            return False
        return True


def _is_key(number: int, key: bytes) -> bool:
    return type(number) is int and 0 <= number < NUMBERS and len(key) == KEY_BYTES
