"""Multicast with and without order: messages delivered a second, and CPU for each."""

from __future__ import annotations

from bench.floor import DATAGRAM_BYTES, measure
from bench.ordering import Load, run_load
from groupcore.stacks import DEFAULT_STACK, TOTAL_STACK

NAME = "order"
MEMBERS = 4
STACKS = {
    "SEQUENCER": DEFAULT_STACK,
    "TOTAL": TOTAL_STACK,
    "none": "UDP:PROBE:PING:FD:NAKACK:UNICAST:STABLE:GMS:FLUSH:FC:FRAG",
}
"""What is compared: two protocols of order, and reliable FIFO multicast without one."""
REPAIRS = ("NAKACK.repairs_sent", "TOTAL.repairs_sent")


def run(quick: bool) -> dict[str, object]:
    """The cases of the table: each protocol with 100 B and 1 KB, one sender and four.

    What one by one costs instead of by batch is the same for all, so it is measured once.
    """
    measure_s = 1.0 if quick else 3.0
    loads = [
        (protocol, Load(MEMBERS, senders, size_bytes, measure_s=measure_s, stack=stack))
        for size_bytes in (100, 1024)
        for senders in (1, MEMBERS)
        for protocol, stack in STACKS.items()
    ]
    loads += [
        ("SEQUENCER", Load(MEMBERS, senders, size_bytes, measure_s=measure_s, as_batch=False))
        for size_bytes in (100, 1024)
        for senders in (1, MEMBERS)
    ]
    floor_us = measure(measure_s)
    return {
        "floor_us_per_datagram_and_member": round(floor_us, 1),
        "cases": [case(protocol, load, floor_us) for protocol, load in loads],
    }


def case(protocol: str, load: Load, floor_us: float) -> dict[str, object]:
    """One load, measured at all members together."""
    measured = run_load(load)
    deliveries = sum(one.deliveries for one in measured)
    slowest = min(one.deliveries / one.wall_s for one in measured)
    return {
        "protocol": protocol,
        "size_bytes": load.size_bytes,
        "members": load.members,
        "senders": load.senders,
        "handed_over": "500 at once" if load.as_batch else "one by one",
        "deliveries_per_s_per_member": round(slowest),
        "cpu_us_per_delivery": round(1e6 * sum(one.cpu_s for one in measured) / deliveries, 3),
        "floor_us_per_delivery": round(floor_us / (DATAGRAM_BYTES / load.size_bytes), 3),
        "rss_mb": round(max(one.rss_mb for one in measured), 1),
        "repairs": sum(one.counters.get(name, 0) for one in measured for name in REPAIRS),
    }
