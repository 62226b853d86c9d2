"""What can be set in the service, with its defaults."""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.sequencing.placement_options import PlacementOptions

DEFAULT_PLACEMENT = PlacementOptions()


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """`k` is the resilience: how many nodes besides the sequencer hold what is delivered.

    `window_bytes`: what a sequencer has stamped and not all have delivered. `outstanding_bytes`:
    what a node has sent and not seen accepted before its processes are told to wait.
    `repair_s`: pause before what is missing is asked for again. `resend_s`: pause before a sender
    sends again what was not accepted, doubled up to `resend_max_s`. `digest_s`: how soon a node
    says how far it is where nobody waits for it; it is repeated after `digest_again_s`, doubled
    while nothing changes up to `digest_max_s`. `state_chunk_bytes`, `state_timeout_s` (a giver's
    silence), `state_pause_s` (when nobody could give it) and `state_rate_bytes` (a second, as a
    node takes states) are of the late join. `section_bytes`: largest section or frame, its
    messages as they are packed and what stands there of its runs (decision 0062);
    `volatile_bytes_max`: largest volatile message.
    `report_s`: how often a sequencer reports its load, and the coordinator looks at the loads;
    `placement`: what it does then; that of the cluster's first node counts.
    `catch_up_s`: how long a join waits for a group that this node has not heard of.
    `durable`: the node puts out a log, which its driver stores; the same at all nodes of a cluster.
    `archive_bytes`: the messages that a group's archive may have behind its state, which may be
    twice the state if that is more; `archive_total_bytes`: the same of all groups together.
    `archive_part_bytes`: a part of the archive in a node's state with so much in it gets no more
    groups. `checkpoint_bytes`: of the log and the node's state. `erase_after_s`: so long behind a
    deletion a checkpoint is begun that takes what was deleted out of the log; `erase_pause_s`: the
    least between two of these, which is longer where the state has more than that many times
    `erase_rate_bytes`.
    """

    k: int = 1
    window_bytes: int = 1 << 20
    outstanding_bytes: int = 1 << 20
    message_bytes_max: int = 60_000
    section_bytes: int = 56_000
    volatile_bytes_max: int = 7_000
    report_s: float = 1.0
    repair_s: float = 0.01
    repair_max_s: float = 0.2
    resend_s: float = 0.05
    resend_max_s: float = 0.5
    digest_s: float = 0.005
    digest_again_s: float = 0.06
    digest_max_s: float = 0.25
    state_chunk_bytes: int = 2_600
    state_rate_bytes: int = 4_000_000
    state_timeout_s: float = 0.5
    state_pause_s: float = 0.05
    catch_up_s: float = 1.0
    durable: bool = False
    archive_bytes: int = 64 << 10
    archive_total_bytes: int = 16 << 20
    archive_part_bytes: int = 256 << 10
    checkpoint_bytes: int = 16 << 20
    erase_after_s: float = 5.0
    erase_pause_s: float = 30.0
    erase_rate_bytes: int = 2_000_000
    placement: PlacementOptions = DEFAULT_PLACEMENT
