"""What is in the packets of a network in memory."""

from __future__ import annotations

from collections.abc import Callable

from groupcore.sequencing.headers import Accept, Change, Repair
from groupcore.wire import decode_packet, unpack_packets
from tests.groupcore.sequencing.world import Packet, World


def header_of(packet: Packet) -> object:
    (raw,) = unpack_packets(b"\x91" + packet[2])
    return decode_packet(raw, packet[0], None).headers[-1]


def frames_of(world: World, sequencer: str, to: str) -> Callable[[Packet], bool]:
    """The frames of a sequencer on their way to a node, repairs included."""
    source, destination = world[sequencer].address, world[to].address

    def is_one(packet: Packet) -> bool:
        header = header_of(packet)
        own = packet[0] == source and isinstance(header, Accept | Change)
        repair = isinstance(header, Repair) and header.stream == source
        return packet[1] == destination and (own or repair)

    return is_one
