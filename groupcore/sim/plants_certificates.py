"""Bugs to plant in what nodes with certificates do: handshakes and the change of group keys."""

from __future__ import annotations

from groupcore.admission import Arrival
from groupcore.batch import Batch
from groupcore.identity.handshake import Handshake
from groupcore.peers import Peer
from groupcore.seal import GROUP, KEY_BYTES
from groupcore.sim.clock import SECOND
from groupcore.sim.fault import Fault, Send
from groupcore.sim.planting import Patch, Plant
from groupcore.sim.scenario import Scenario
from groupcore.transport import Transport

APART = Scenario(
    seed=3,
    nodes=3,
    starts_ns=(0, 0, 0),
    safety_ns=9 * SECOND,
    certificates=True,
    faults=(
        Fault(2 * SECOND, "isolate", (2,), 3 * SECOND),
        Fault(6 * SECOND, "isolate", (0,), 2 * SECOND),
    ),
    sends=tuple(Send(n * SECOND // 10, n % 3, (40,)) for n in range(10, 85)),
)
"""The views on both sides of a cut have keys of their own, which the other side has never had."""

FORGED = Scenario(
    seed=3,
    nodes=3,
    starts_ns=(0, 0, 0),
    safety_ns=6 * SECOND,
    certificates=True,
    faults=(Fault(SECOND, "forger", (), 4 * SECOND, 2),),
    sends=tuple(Send(n * SECOND // 10, n % 3, (40,)) for n in range(10, 55)),
)
"""Somebody without a key sends a thousand datagrams that are nearly those that it has heard."""


def _nobody_is_reminded() -> list[Patch]:
    def remind(self: Handshake, arrival: Arrival, peer: Peer) -> None:
        """Who was not there when a group key was given never gets it."""

    return [(Handshake, "_remind", remind)]


def _unopened_is_answered() -> list[Patch]:
    original = Transport._receive_from_peer

    def receive(self: Transport, peer: Peer, arrival: Arrival) -> list[Batch]:
        door = self._admission
        if arrival.version == GROUP and arrival.epoch not in peer.ciphers:
            assert isinstance(door, Handshake)
            door._give(peer, 0, bytes(KEY_BYTES))
        return original(self, peer, arrival)

    return [(Transport, "_receive_from_peer", receive)]


CERTIFICATE_PLANTS = (
    Plant(
        "nobody-is-reminded",
        "who may lack a group key is not given it again",
        (15, 25),
        _nobody_is_reminded,
        schedule=APART,
    ),
    Plant(
        "unopened-is-answered",
        "a datagram under a group key that nobody has is answered",
        (23,),
        _unopened_is_answered,
        schedule=FORGED,
    ),
)
"""Those of certificates; `plants.PLANTS` has all."""
