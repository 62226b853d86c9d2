"""The notary: what each life has really sealed, and what others took from the network for it.

The real transport runs; around it stands one that looks at what goes in and what comes out. A
datagram is **forged** when no life has sealed these bytes, **stale** when its receiver did not live
yet when it was sealed (who has proven itself to this life seals later), **replayed** when this life
has taken it before. Such a datagram must leave everything as it was, but for counters of drops and
the budget of those who are unknown. That is written down, and invariant 23 judges it.
"""

from __future__ import annotations

from random import Random

from groupcore.batch import Batch
from groupcore.identity.card import Credentials
from groupcore.identity.pair import CODE_BYTES, NO_CODES
from groupcore.peers import SocketAddress
from groupcore.seal import GROUP, HEADER, IDENTITY, Keyring
from groupcore.sim.clock import Clock
from groupcore.sim.trace import Suspect, Trace
from groupcore.transport import Datagram, Transport, TransportOptions
from groupcore.view import Address

Memory = tuple[object, ...]
"""What a transport knows, to be compared."""


class Notary:
    """Of one cluster: the datagrams that were sealed, by clear header, and when (nanoseconds)."""

    def __init__(self, trace: Trace, clock: Clock) -> None:
        self._trace = trace
        self._clock = clock
        self._sealed: dict[bytes, tuple[bytes, int]] = {}

    @property
    def now_ns(self) -> int:
        """The world's time."""
        return self._clock.now_ns

    def seal(self, life: Address, data: bytes) -> None:
        """This life sends this datagram; the clear header names key and nonce."""
        header, data = data[: HEADER.size], _without_codes(data)
        known, _ = self._sealed.setdefault(header, (data, self._clock.now_ns))
        if known != data:
            self.suspect(life, "resealed", f"key and nonce of {header.hex()} again")

    def sealed_at(self, header: bytes, data: bytes) -> int | None:
        """When exactly these bytes, with this clear header, were sealed; None: never."""
        known = self._sealed.get(header)
        return known[1] if known is not None and known[0] == _without_codes(data) else None

    def suspect(self, life: Address, what: str, harm: str) -> None:
        """Write down what such a datagram did to this life."""
        self._trace.add(Suspect(self.now_ns, *life, what, harm))


class NotarisedTransport(Transport):
    """A transport under the notary's eyes."""

    def __init__(
        self,
        address: Address,
        keys: Keyring,
        boot: bytes,
        options: TransportOptions,
        random: Random,
        notary: Notary,
        credentials: Credentials | None = None,
    ) -> None:
        super().__init__(address, keys, boot, options, random, credentials)
        self._notary = notary
        self._began_ns = notary.now_ns
        self._taken: set[bytes] = set()

    def flush(self, now: float) -> list[Datagram]:
        """See `Transport`; what leaves is known to the notary."""
        datagrams = super().flush(now)
        for datagram in datagrams:
            self._notary.seal(self.address, datagram.data)
        return datagrams

    def receive(
        self, datagram: bytes | memoryview, source: SocketAddress, now: float
    ) -> list[Batch]:
        """See `Transport`; what must not count is compared before and after."""
        data = bytes(datagram)
        header = data[: HEADER.size]
        sealed_ns = self._notary.sealed_at(header, data)
        if sealed_ns is None:
            return self._receive_forged(data, source, now)
        batches = super().receive(datagram, source, now)
        if batches:
            if sealed_ns < self._began_ns:
                self._notary.suspect(self.address, "stale", _passed(batches))
            if header in self._taken:
                self._notary.suspect(self.address, "replayed", _passed(batches))
            self._taken.add(header)
        return batches

    def _receive_forged(self, data: bytes, source: SocketAddress, now: float) -> list[Batch]:
        before = self._memory(data, now)
        batches = super().receive(data, source, now)
        harm = _passed(batches) if batches else ""
        if self._memory(data, now) != before:
            harm = harm or "what the transport knows of its peers has changed"
        self._notary.suspect(self.address, "forged", harm)
        return batches

    def _memory(self, data: bytes, now: float) -> Memory:
        """What the transport knows of others, and would say of the counter in these bytes."""
        table = self._table
        counter = HEADER.unpack_from(data)[-1] if len(data) >= HEADER.size else 0
        claimed = table.peers.get(bytes(data[IDENTITY]))
        return (
            [
                (peer.identity, peer.source, peer.heard_at, peer.heard, peer.window.highest)
                for peer in table.peers.values()
            ],
            [
                (identity, pending.nonce, pending.challenged_at, pending.answered)
                for identity, pending in table.pending.items()
            ],
            None if claimed is None else claimed.window.refusal(counter),
            sorted(self._heard),
            list(self._admission.control),
            self._introductions.hosts(now),
            self.same_id_seen,
        )


def _without_codes(data: bytes) -> bytes:
    """What of a datagram is sealed: the codes of other receivers mean nothing to who opens it."""
    end = len(data) - NO_CODES - CODE_BYTES * data[-1] if data else 0
    return data[:end] if data[:1] == bytes((GROUP,)) and end >= HEADER.size else data


def _passed(batches: list[Batch]) -> str:
    kinds = sorted({header.kind for batch in batches for header in batch.headers[-1:]})
    return f"passed on {len(batches)} of {' '.join(kinds)}"
