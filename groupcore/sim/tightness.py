"""Buggify points that cost nothing in production: options of the real code, drawn where it hurts.

A limit that is never reached hides what happens at it. Each entry makes one kind of limit tiny, or
one time-out early or late; a schedule draws some of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from groupcore.repairs import RepairOptions
from groupcore.stacks import StackOptions
from groupcore.transport import TransportOptions

ONE_BY_ONE = RepairOptions(ranges_max=1, answer_batches_max=2, requests_max=4)


def _windows(options: StackOptions) -> StackOptions:
    return replace(
        options,
        order_window_bytes=2_000,
        nakack=replace(options.nakack, window_bytes=4_000),
        total=replace(options.total, order_window_bytes=2_000, window_bytes=4_000),
    )


def _pairs(options: StackOptions) -> StackOptions:
    return replace(options, unicast=replace(options.unicast, window_batches=2, ahead_max=4))


def _early(options: StackOptions) -> StackOptions:
    return replace(
        options,
        nakack=replace(options.nakack, future_bytes_max=2_000),
        total=replace(options.total, early_bytes_max=2_000),
    )


def _repair(options: StackOptions) -> StackOptions:
    return replace(
        options,
        nakack=replace(options.nakack, repair=ONE_BY_ONE),
        total=replace(options.total, repair=ONE_BY_ONE),
    )


def _fragments(options: StackOptions) -> StackOptions:
    return replace(options, body_bytes_max=min(options.body_bytes_max, FRAGMENT_BYTES))


def _suspicion(options: StackOptions) -> StackOptions:
    detection = replace(options.detection, interval_s=0.05, timeout_s=0.2, pings=1)
    membership = replace(options.membership, grace_s=0.02, vote_s=0.1, attempt_s=0.4, stuck_s=0.3)
    return replace(options, detection=detection, membership=membership)


def _stability_late(options: StackOptions) -> StackOptions:
    return replace(options, stability_interval_s=5.0)


def _stability_early(options: StackOptions) -> StackOptions:
    return replace(options, stability_interval_s=0.03)


def _credits(options: StackOptions) -> StackOptions:
    return replace(options, flow=replace(options.flow, credit_bytes=20_000))


FRAGMENT_BYTES = 600
"""Largest body where fragments are tiny."""

STACK_POINTS: dict[str, Callable[[StackOptions], StackOptions]] = {
    "windows": _windows,
    "pairs": _pairs,
    "early": _early,
    "repair": _repair,
    "fragments": _fragments,
    "suspicion": _suspicion,
    "stability-late": _stability_late,
    "stability-early": _stability_early,
    "credits": _credits,
}
"""What can be made tight in a stack, by name."""

TABLES = "tables"
"""The transport knows as many boots as there are nodes, and few that have not proven themselves."""
COUNTERS = "counters"
"""Datagrams are numbered from just below 2^16, 2^32 or 2^63."""
POINTS = (*STACK_POINTS, TABLES, COUNTERS)
"""Everything that can be made tight."""


def draw_tight(random: Random) -> tuple[str, ...]:
    """What is tight in a schedule: nothing in half of them, one to three things in the others."""
    if random.random() < 0.5:
        return ()
    return tuple(sorted(random.sample(POINTS, random.randint(1, 3))))


def tighten_stack(options: StackOptions, tight: tuple[str, ...]) -> StackOptions:
    """The options with these limits made tight."""
    for name in tight:
        if name in STACK_POINTS:
            options = STACK_POINTS[name](options)
    return options


def tighten_transport(
    options: TransportOptions, tight: tuple[str, ...], nodes: int, random: Random
) -> TransportOptions:
    """The same for a transport among so many nodes; the first counter is drawn for each life."""
    if TABLES in tight:
        options = replace(options, peers_max=nodes + 1, pending_max=2)
    if COUNTERS in tight:
        wrap = random.choice((1 << 16, 1 << 32, 1 << 63))
        options = replace(options, first_counter=wrap - random.randint(1, 50))
    return options
