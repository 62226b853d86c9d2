"""Ordered multicast through SEQUENCER: messages delivered a second, and CPU for each."""

from __future__ import annotations

from bench.floor import DATAGRAM_BYTES, measure
from bench.ordering import Load, run_load

NAME = "order"
MEMBERS = 4


def run(quick: bool) -> dict[str, object]:
    """The cases of the table: 100 B and 1 KB, one sender and four, by batch and by message."""
    measure_s = 1.0 if quick else 3.0
    loads = [
        Load(MEMBERS, senders, size_bytes, measure_s=measure_s, as_batch=as_batch)
        for size_bytes in (100, 1024)
        for senders in (1, MEMBERS)
        for as_batch in (True, False)
    ]
    floor_us = measure(measure_s)
    return {
        "floor_us_per_datagram_and_member": round(floor_us, 1),
        "cases": [case(load, floor_us) for load in loads],
    }


def case(load: Load, floor_us: float) -> dict[str, object]:
    """One load, measured at all members together."""
    measured = run_load(load)
    deliveries = sum(one.deliveries for one in measured)
    slowest = min(one.deliveries / one.wall_s for one in measured)
    return {
        "protocol": "SEQUENCER",
        "size_bytes": load.size_bytes,
        "members": load.members,
        "senders": load.senders,
        "handed_over": "500 at once" if load.as_batch else "one by one",
        "deliveries_per_s_per_member": round(slowest),
        "cpu_us_per_delivery": round(1e6 * sum(one.cpu_s for one in measured) / deliveries, 3),
        "floor_us_per_delivery": round(floor_us / (DATAGRAM_BYTES / load.size_bytes), 3),
        "rss_mb": round(max(one.rss_mb for one in measured), 1),
        "repairs": sum(one.counters.get("NAKACK.repairs_sent", 0) for one in measured),
    }
