"""What a person reads of a failure: one line, the smallest schedule, the telling records."""

from __future__ import annotations

from collections.abc import Iterator

from groupcore.sim.checkers import Violation
from groupcore.sim.run import Verdict
from groupcore.sim.trace import Absent, Delivered, Ended, Happened, Lived, Mid, Record, Sent, Viewed
from groupcore.sim.trace_groups import GroupDelivered, GroupMid, GroupSent

LINES_MAX = 80
"""Most records that a report shows; `--trace FILE` has them all."""


def fail_line(seed: int, profile: str, index: int, violation: Violation, rerun: str) -> str:
    """The one line that says what failed, where, and how to see it again."""
    return (
        f"SIM FAIL seed={seed} profile={profile} schedule={index} t={violation.t / 1e9:.6f} "
        f"invariant={violation.number}-{violation.invariant}; rerun: {rerun}"
    )


def explain(verdict: Verdict) -> Iterator[str]:
    """The schedule, what broke, and the records that concern it."""
    yield from verdict.scenario.describe()
    for violation in verdict.violations[:5]:
        yield f"  {violation}"
    messages = {mid for violation in verdict.violations[:5] for mid in violation.messages}
    lines = [_line(record) for record in verdict.trace.records if _concerns(record, messages)]
    if len(lines) > LINES_MAX:
        yield f"  … {len(lines) - LINES_MAX} records before these"
    yield from lines[-LINES_MAX:]


def _concerns(record: Record, messages: set[Mid | GroupMid]) -> bool:
    if isinstance(record, Sent | Delivered | GroupSent | GroupDelivered):
        return record.mid in messages
    return isinstance(record, Viewed | Lived | Happened | Ended | Absent)


def _line(record: Record) -> str:
    fields = record._asdict()
    t = fields.pop("t")
    text = " ".join(f"{name}={_short(value)}" for name, value in fields.items())
    return f"  {t / 1e9:10.6f} {type(record).__name__.lower():9} {text}"


def _short(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + " ".join(_short(item) for item in value) + "]"
    return str(value)
