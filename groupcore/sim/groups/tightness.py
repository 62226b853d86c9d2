"""Buggify points of the service: options of the real code, drawn where it hurts.

As `groupcore.sim.tightness` has them for the stack. The section limit stays above a volatile
message of the workload, which is refused otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.placement_options import PlacementOptions

EAGER = PlacementOptions(
    balance_percent=101,
    slack_us=1,
    count_slack=0,
    smoothing=1,
    heavy_reports=1,
    locality_percent=34,
    locality_us=1,
    tied_rate=1,
    rest_reports=1,
    plan_rest_reports=1,
)
"""Placement that moves groups for next to nothing."""
ONE_BY_ONE = PlacementOptions(moves_max=1, groups_per_move=1, inherited_at_once=1)
"""Placement that takes small steps."""

SERVICE_POINTS: dict[str, Callable[[ServiceOptions], ServiceOptions]] = {
    "window": lambda options: replace(options, window_bytes=600),
    "congestion": lambda options: replace(options, outstanding_bytes=600),
    "sections": lambda options: replace(options, section_bytes=256),
    "state-pieces": lambda options: replace(options, state_chunk_bytes=100, archive_part_bytes=200),
    "state-impatient": lambda options: replace(options, state_timeout_s=0.03, state_pause_s=0.01),
    "repair-late": lambda options: replace(options, repair_s=0.1, repair_max_s=0.5),
    "resend-early": lambda options: replace(options, resend_s=0.005, resend_max_s=0.1),
    "digest-late": lambda options: replace(options, digest_s=0.05, digest_max_s=1.0),
    "placement-eager": lambda options: replace(options, report_s=0.1, placement=EAGER),
    "placement-slow": lambda options: replace(options, report_s=0.3, placement=ONE_BY_ONE),
}
"""What can be made tight in the service, by name."""


def draw_points(random: Random) -> tuple[str, ...]:
    """What is tight in a schedule: nothing in half of them, one to three things in the others."""
    if random.random() < 0.5:
        return ()
    return tuple(sorted(random.sample(sorted(SERVICE_POINTS), random.randint(1, 3))))


def tighten_service(options: ServiceOptions, points: tuple[str, ...]) -> ServiceOptions:
    """The options with these limits made tight."""
    for name in points:
        options = SERVICE_POINTS[name](options)
    return options
