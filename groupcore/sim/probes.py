"""Probes: situations that a run must have met, or it has proved nothing about them.

Each is read off the trace or the counters of a schedule after it has ended, so it costs the code
under test nothing. A long run in which one of them never came up fails.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from groupcore.sim.probes_groups import GROUP_COUNTER_PROBES, GROUP_TRACE_PROBES
from groupcore.sim.trace import (
    CORE,
    DISK_LOST,
    HALVES,
    Accepted,
    Delivered,
    Happened,
    Lived,
    Took,
    Trace,
    Viewed,
)
from groupcore.sim.trace_groups import GroupCreated

TOGETHER_NS = 500_000_000
"""Two crashes within this time count as one event."""

TraceProbe = Callable[[Trace], bool]


def _happened(what: str) -> TraceProbe:
    return lambda trace: any(record.what == what for record in trace.of(Happened))


def _lived(what: str, detail: str = "") -> TraceProbe:
    return lambda trace: any(
        record.what == what and detail in record.detail for record in trace.lives
    )


def _coordinator_crashes(trace: Trace) -> list[Lived]:
    """Crashes of whoever was coordinator of the newest view."""
    coordinator: tuple[str, int] | None = None
    crashes = []
    for record in trace.records:
        if type(record) is Viewed:
            coordinator = record.members[0]
        elif type(record) is Lived and (record.n, record.inc) == coordinator:
            crashes += [record] if record.what == "crash" else []
    return crashes


def _successor_died_too(trace: Trace) -> bool:
    crashes = [record for record in trace.lives if record.what == "crash"]
    return any(
        first.n != other.n and 0 <= other.t - first.t < TOGETHER_NS
        for first in _coordinator_crashes(trace)
        for other in crashes
    )


def _sequencer_died_with_some_delivered(trace: Trace) -> bool:
    """A message that some had delivered when the coordinator crashed reached others later."""
    for crash in _coordinator_crashes(trace):
        before = {r.mid for r in trace.of(Delivered) if r.t <= crash.t and r.n != crash.n}
        if any(r.t > crash.t and r.mid in before for r in trace.of(Delivered)):
            return True
    return False


def _sender_died_message_lives(trace: Trace) -> bool:
    ended = {(r.n, r.inc): r.t for r in trace.lives if r.what in ("crash", "excluded")}
    return any(r.t > ended.get((r.mid.origin, r.mid.inc), 1 << 62) for r in trace.of(Delivered))


def _message_died_with_sender(trace: Trace) -> bool:
    delivered = {record.mid for record in trace.of(Delivered)}
    return any(sent.to is None and sent.mid not in delivered for sent in trace.sent)


def _changes(trace: Trace) -> list[tuple[int, int]]:
    """How many joined and how many went, for each change of a view that a member lived through."""
    return [
        (
            len(set(view.members) - set(view.previous)),
            len(set(view.previous) - set(view.members)),
        )
        for view in trace.views
        if view.previous is not None
    ]


def _proposal_superseded(trace: Trace) -> bool:
    decided = {(view.number, view.lineage): view.members for view in trace.views}
    return any(
        decided.get((vote.number, vote.lineage), vote.members) != vote.members
        for vote in trace.of(Accepted)
    )


def _proposer_died(trace: Trace) -> bool:
    """Somebody crashed after accepting a view and before anybody had installed it."""
    installed: dict[int, int] = {}
    for view in trace.views:
        installed.setdefault(view.number, view.t)
    votes = {(vote.n, vote.inc): vote for vote in trace.of(Accepted)}
    return any(
        crash.t < installed.get(votes[crash.n, crash.inc].number, 0)
        for crash in trace.lives
        if crash.what == "crash" and (crash.n, crash.inc) in votes
    )


def _rebuilt(trace: Trace) -> bool:
    lost = {record.n for record in trace.lives if record.what == DISK_LOST}
    return any(took.n in lost and took.source != took.n for took in trace.of(Took))


TRACE_PROBES: dict[str, TraceProbe] = {
    "coordinator-crashed": lambda trace: bool(_coordinator_crashes(trace)),
    "coordinator-and-another-crashed-together": _successor_died_too,
    "sequencer-died-when-some-had-delivered": _sequencer_died_with_some_delivered,
    "message-outlived-its-sender": _sender_died_message_lives,
    "message-died-with-its-sender": _message_died_with_sender,
    "several-joined-at-once": lambda trace: any(joined > 1 for joined, _ in _changes(trace)),
    "several-went-at-once": lambda trace: any(went > 1 for _, went in _changes(trace)),
    "joined-and-went-at-once": lambda trace: any(a and b for a, b in _changes(trace)),
    "proposal-superseded": _proposal_superseded,
    "voter-died-in-a-view-change": _proposer_died,
    "epoch-recovered-from-disk": lambda trace: any(
        view.recovered and view.epoch > 1 for view in trace.views
    ),
    "excluded-while-away": _lived("excluded", "gone on without"),
    "left": _lived("left"),
    "disk-error": _lived("disk-error"),
    "record-unreadable": _lived("unreadable"),
    "disk-lost-and-rebuilt": _rebuilt,
    "disk-spared": _happened("spared"),
    "core-healed-first": _happened(CORE),
    "half-parted-while-one-learned": _happened(HALVES),
}
"""Situations by name, read off the trace."""

COUNTER_PROBES: dict[str, tuple[str, ...]] = {
    "repaired": ("NAKACK.repairs_sent", "TOTAL.repairs_sent"),
    "repaired-for-several": ("NAKACK.repairs_to_all", "TOTAL.repairs_to_all"),
    "unicast-repeated": ("UNICAST.repeated", "TOTAL.resent"),
    "forwarded-again": ("SEQUENCER.resent", "TOTAL.resent"),
    "view-change-restarted": ("FLUSH.restarts",),
    "slept-and-noticed": ("FD.late_timers",),
    "replay-refused": ("transport.drops.replayed",),
    "counter-too-old": ("transport.drops.too_old",),
    "forgery-refused": ("transport.drops.forged",),
    "forger-at-work": ("network.smuggled",),
    "bits-turned": ("network.corrupted",),
    "datagram-cut-short": ("network.truncated",),
    "jam-released": ("network.released",),
    "queue-overflowed": ("network.queue-full",),
    "too-large-vanished": ("network.too-large",),
    "lost-at-all": ("network.lost-at-all",),
}
"""Situations by name, with the counters of which one must be above zero."""

GROUP_PROBES = (*GROUP_TRACE_PROBES, *GROUP_COUNTER_PROBES)
"""The names of those of the data plane, which only schedules with groups can meet."""
STACK_PROBES = (*TRACE_PROBES, *COUNTER_PROBES)
"""The names of the others; in schedules with groups hardly any is met."""
PROBES = (*STACK_PROBES, *GROUP_PROBES)
"""The names of all probes."""


def met(trace: Trace, counters: Mapping[str, int]) -> tuple[str, ...]:
    """The probes that this schedule has met."""
    with_groups = any(type(record) is GroupCreated for record in trace.records)
    trace_probes = TRACE_PROBES | (GROUP_TRACE_PROBES if with_groups else {})
    by_trace = [name for name, probe in trace_probes.items() if probe(trace)]
    by_counters = [
        name
        for name, sources in (COUNTER_PROBES | GROUP_COUNTER_PROBES).items()
        if any(counters.get(source, 0) for source in sources)
    ]
    return (*by_trace, *by_counters)
