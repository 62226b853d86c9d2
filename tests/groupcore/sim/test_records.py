"""What simulated nodes trace: what was seen from outside, and enough to find what is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from groupcore.sequencing.trace_lines import Row, gather, rows_of
from groupcore.sim.jobs import Job, judge
from groupcore.sim.run import Verdict
from groupcore.sim.trace_groups import GroupDelivered, GroupStamped
from tests.groupcore.sequencing.trace_audit import violations

SEED = 7


def rows_in(verdict: Verdict) -> list[Row]:
    """What the nodes of a schedule wrote."""
    return [row for gathered in verdict.records for row in rows_of(gathered)]


def named(process: tuple[str, int, int]) -> str:
    name, incarnation, number = process
    return f"{name}#{incarnation:x}/{number}"


def messages(rows: list[Row], kind: str, *columns: str) -> Iterator[tuple[object, ...]]:
    """A tuple for each message of the rows of a kind."""
    for row in rows:
        if row["kind"] == kind and row.get("what", 0) == 0:
            said = tuple(row[name] for name in columns)
            seq, first, count = row["seq"], row["first"], row["count"]
            assert isinstance(seq, int)
            assert isinstance(first, int)
            assert isinstance(count, int)
            for at in range(count):
                yield (*said, seq + at, first + at)


@pytest.mark.parametrize(("profile", "index"), [("sequencing", 3), ("durable", 2)])
def test_what_is_written_is_what_the_checkers_saw(profile: str, index: int) -> None:
    verdict = Job(profile, SEED, index, "").verdict()
    rows = rows_in(verdict)
    stamped = [
        (f"{one.n}#{one.inc:x}", one.group, one.epoch, named(one.process), one.seqno, one.number)
        for one in verdict.trace.of(GroupStamped)
        if one.number > 0
    ]
    assert stamped
    written = messages(rows, "accept", "node", "gid", "epoch", "sender")
    assert sorted(written) == sorted(stamped)
    delivered = [
        (f"{one.n}#{one.inc:x}", one.group, named(one.process), one.seqno, one.number)
        for one in verdict.trace.of(GroupDelivered)
    ]
    written = messages(rows, "delivery", "node", "gid", "sender")
    assert sorted(written) == sorted(delivered)


@pytest.mark.parametrize("profile", ["sequencing", "durable", "access", "documents"])
def test_nothing_is_found_where_nothing_is_wrong(profile: str) -> None:
    for index in range(3):
        assert violations(rows_in(Job(profile, SEED, index, "").verdict())) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("plant", "rule", "lead"),
    [("g-not-waited", "causal", 9), ("g-t2-unheeded", "strict", 2), ("g-slot-skipped", "gap", 0)],
)
def test_an_order_that_is_broken_can_be_seen_in_what_the_nodes_write(
    plant: str, rule: str, lead: int
) -> None:
    for index in (lead, *range(40)):  # where it has been seen, then everywhere
        found = violations(rows_in(Job("sequencing", SEED, index, plant).verdict()))
        if any(one.startswith(rule) for one in found):
            return
    pytest.fail(f"{plant} has left no trace")


def test_a_job_sends_its_records_only_if_it_is_asked_to() -> None:
    job = Job("sequencing", SEED, 0, "")
    assert judge(job).records == ()
    lines = judge(Job("sequencing", SEED, 0, "", records=True)).records
    rows = rows_in(job.verdict())
    assert [json.loads(line) for line in lines] == json.loads(json.dumps(rows))
    again = [row for gathered in gather(rows) for row in rows_of(gathered)]

    def values(row: Row) -> str:
        return repr(sorted(row.items()))

    assert sorted(map(values, again)) == sorted(map(values, rows))
