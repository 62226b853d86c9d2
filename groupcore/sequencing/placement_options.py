"""What may be set about placement; all nodes of a cluster go by those of its first node.

The directory's decisions depend on them, so they are a part of its snapshot. Whole numbers only:
every node must come to the same result.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlacementOptions:
    """Bounds and weights; docs/decisions/0019-load-metric.md says where they come from."""

    strict_groups_max: int = 64
    """In how many strict groups one process may be: one that is in everything fuses everything."""
    balance_percent: int = 125
    """A node that carries more of the mean load than this gives groups away."""
    slack_us: int = 3_000
    """So much load above the bound (µs of processor time a second) is not worth a move."""
    count_slack: int = 16
    """So many groups above the bound a node may have of those it created itself."""
    message_ns: int = 1_000
    """Load of one message, whoever gets it."""
    fan_out_ns: int = 500
    """Load of one message for each node that it goes to."""
    kilobyte_ns: int = 400
    """Load of 1,024 bytes."""
    idle_us: int = 1
    """Load of a group that nobody sends to, in µs a second."""
    smoothing: int = 4
    """A report changes a load by one part in so many of the difference."""
    heavy_reports: int = 3
    """A node gives groups away when so many of its reports in turn were above the bound."""
    delay_penalty: int = 10
    """Load (µs a second) that each µs of queue delay counts for."""
    locality_percent: int = 60
    """A group goes to the node that sends at least so much of its messages, again and again."""
    locality_us: int = 25
    """A group with less load than this is not moved for locality: ten messages a second."""
    tied_rate: int = 1_000
    """Two groups are tied when processes write to them in turn that often; thousandths a second."""
    turn_us: int = 300
    """What such a turn costs all nodes when the two have two sequencers: one hop of each."""
    inherited_at_once: int = 500
    """So many groups of a node that is gone get new sequencers in one go, besides busy ones."""
    moves_max: int = 8
    """So many moves may be under way before placement plans another."""
    groups_per_move: int = 32
    """So many groups that need not stay together travel in one move."""
    rest_reports: int = 10
    """After a move for load or locality a group stays for so many reports of its sequencer."""
    plan_rest_reports: int = 300
    """After a move for a plan, which somebody approved, it stays for so many."""
