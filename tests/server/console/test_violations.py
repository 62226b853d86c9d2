"""What the audit has found, as the console shows it: pages, single rows, what is around them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from server.console import violations as console
from server.console.around import NODES_MAX, REACH
from server.console.violations import ROWS, violation, violations
from server.errors import BadMessageError
from tests.server.console.stores import COMPONENT, DELIVERY, VIOLATION, broken, keep

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)
SEGMENT = "date=2026-11-22/node=b/delivery-1-000000000000.arrows"


async def test_violations_are_paged_and_chosen_by_their_rule(tmp_path: Path) -> None:
    rows = [broken("gap" if number % 4 else "fifo", number) for number in range(4 * ROWS)]
    keep(tmp_path, 1, {"audit_violation": (VIOLATION, rows)}, {"audit": {}})
    found = await violations(tmp_path, "", 1)
    assert found is not None
    assert (found["count"], found["pages"]) == (4 * ROWS, 4)
    assert found["rules"] == {"fifo": ROWS, "gap": 3 * ROWS}
    assert [one["seq"] for one in found["violations"]] == list(range(ROWS))
    gaps = await violations(tmp_path, "gap", 2)
    assert gaps is not None
    wanted = [number for number in range(4 * ROWS) if number % 4][ROWS : 2 * ROWS]
    assert [one["seq"] for one in gaps["violations"]] == wanted
    beyond = await violations(tmp_path, "fifo", 2)
    assert beyond is not None
    assert (beyond["count"], beyond["violations"]) == (ROWS, [])
    for one in gaps["violations"][:2]:
        assert await violation(tmp_path, one["id"]) == {**one, "around": []}


async def test_a_violation_is_named_until_it_is_audited_anew(tmp_path: Path) -> None:
    keep(tmp_path, 1, {"audit_violation": (VIOLATION, [broken("gap", 1)])}, {"audit": {}})
    found = await violations(tmp_path, "", 1)
    assert found is not None
    (one,) = found["violations"]
    keep(tmp_path, 2, {"audit_violation": (VIOLATION, [broken("late", 1)])}, {"audit": {}})
    for wanted in (one["id"], "2-1", "2-x", "nothing", ""):
        with pytest.raises(BadMessageError) as refused:
            await violation(tmp_path, wanted)
        assert refused.value.code == "unknown_violation"
    assert (await violation(tmp_path, "2-0"))["rule"] == "late"


async def test_a_clean_audit_has_no_violations_and_no_audit_has_none_to_say(tmp_path: Path) -> None:
    assert await violations(None, "", 1) is None
    assert await violations(tmp_path, "", 1) is None
    keep(tmp_path, 1, {"overlap_component": (COMPONENT, [])})
    assert await violations(tmp_path, "", 1) is None
    keep(tmp_path / "store", 1, {"audit_violation": (VIOLATION, [])}, {"audit": {}})
    keep(tmp_path, 2, {"audit_violation": (VIOLATION, [])}, {"audit": {}})
    found = await violations(tmp_path, "", 1)
    assert found is not None
    assert (found["count"], found["rules"], found["violations"]) == (0, {}, [])


async def test_a_page_reads_only_the_rows_that_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [broken(rule, number) for rule in ("fifo", "gap", "late") for number in range(5_000)]
    keep(
        tmp_path,
        1,
        {"audit_violation": (VIOLATION, rows)},
        {"audit": {}},
        file_rows=15_000,
        group_rows=100,
    )
    read: list[int] = []
    batches = console._batches

    def counted(path: Path, index: int) -> Iterator[Any]:
        read.append(index)
        return batches(path, index)

    monkeypatch.setattr(console, "_batches", counted)
    found = await violations(tmp_path, "late", 99)
    assert found is not None
    assert [one["seq"] for one in found["violations"]] == list(range(98 * ROWS, 99 * ROWS))
    assert found["rules"] == {"fifo": 5_000, "gap": 5_000, "late": 5_000}
    assert read == [149]
    one = found["violations"][0]
    found = await violations(tmp_path, "", 250)
    assert found is not None
    assert {row["rule"] for row in found["violations"]} == {"late"}
    assert (await violation(tmp_path, one["id"]))["seq"] == one["seq"]
    assert len(read) == 3


# --- what is around -------------------------------------------------------------------------------


def given(node: str, dno: int, seq: int, gid: int = 7, count: int = 1) -> dict[str, Any]:
    """A delivery of messages, of which each has its position as its number."""
    return {
        "t": NOON + timedelta(seconds=dno),
        "node": node,
        "dno": dno,
        "gid": gid,
        "seq": seq,
        "count": count,
        "what": 0,
        "sender": "a#1/3",
        "first": seq,
        "sequencer": "c#1",
    }


async def shown(
    folder: Path, found: dict[str, Any], rows: list[dict[str, Any]], day: str = ""
) -> list[dict[str, Any]]:
    """What is around a violation, in a store of these deliveries."""
    tables = {"audit_violation": (VIOLATION, [found]), "delivery": (DELIVERY, rows)}
    keep(folder, 1, tables, {"audit": {}}, day=day)
    around: list[dict[str, Any]] = (await violation(folder, "1-0"))["around"]
    return around


async def test_around_a_gap_each_node_has_what_it_was_given(tmp_path: Path) -> None:
    rows = [given("a#1", seq, seq) for seq in range(1, 30)]
    rows += [given("b#1", seq, seq) for seq in range(1, 30) if seq not in (14, 15)]
    rows += [given("a#1", 100 + seq, seq, gid=8) for seq in range(1, 30)]
    gap = broken("gap", 16) | {"node": "b#1", "dno": 16, "segment": SEGMENT}
    (one,) = await shown(tmp_path, gap, rows)
    assert (one["gid"], one["first"], one["last"]) == (7, 16 - REACH, 16 + REACH)
    assert [node["node"] for node in one["nodes"]] == ["b#1", "a#1"]
    wrong, right = (node["rows"] for node in one["nodes"])
    assert [row["first"] for row in right] == list(range(11, 22))
    assert [row["first"] for row in wrong] == [11, 12, 13, *range(16, 22)]
    assert [row["dno"] for row in wrong if row["marked"]] == [16]
    assert not any(row["marked"] for row in right)
    assert wrong[3] == {
        "at_s": NOON.timestamp() + 16,
        "dno": 16,
        "first": 16,
        "last": 16,
        "what": "messages",
        "message": "a#1/3:16",
        "sequencer": "c#1",
        "marked": True,
    }


async def test_around_what_came_late_rows_are_in_the_order_of_delivery(tmp_path: Path) -> None:
    rows = [given("b#1", 1, 1, count=4), given("b#1", 2, 6), given("b#1", 3, 5)]
    join = given("b#1", 4, 7) | {"what": 1, "sender": "b#1/2", "first": None, "sequencer": None}
    late = broken("late", 5) | {"node": "b#1", "dno": 3, "gid2": 7, "seq2": 6}
    late |= {"node2": "b#1", "dno2": 2}
    (one,) = await shown(tmp_path, late, [*rows, join])
    (node,) = one["nodes"]
    assert [(row["first"], row["last"]) for row in node["rows"]] == [(1, 4), (6, 6), (5, 5), (7, 7)]
    assert [row["marked"] for row in node["rows"]] == [False, True, True, False]
    assert [row["message"] for row in node["rows"]] == [
        "a#1/3:1-4",
        "a#1/3:6",
        "a#1/3:5",
        "b#1/2",
    ]
    assert node["rows"][3]["what"] == "join"


async def test_what_is_held_against_it_elsewhere_has_its_own_surroundings(tmp_path: Path) -> None:
    rows = [given("a#1", dno, dno) for dno in range(1, 4)]
    rows += [given("a#1", 10 + seq, seq, gid=8) for seq in range(1, 4)]
    causal = broken("causal", 2) | {"node": "a#1", "dno": 2}
    causal |= {"node2": "a#1", "dno2": 12, "gid2": 8, "seq2": 2}
    one, two = await shown(tmp_path, causal, rows)
    assert (one["gid"], two["gid"]) == (7, 8)
    assert [row["dno"] for row in two["nodes"][0]["rows"] if row["marked"]] == [12]


async def test_some_of_many_nodes_are_shown_those_of_the_violation_first(tmp_path: Path) -> None:
    rows = [given(f"n{node}#1", 1, 1) for node in range(9)]
    wrong = broken("content", 1) | {"node": "n8#1", "dno": 1, "node2": "n5#1"}
    (one,) = await shown(tmp_path, wrong, rows)
    assert [node["node"] for node in one["nodes"][:3]] == ["n8#1", "n5#1", "n0#1"]
    assert (len(one["nodes"]), one["more_nodes"]) == (NODES_MAX, 9 - NODES_MAX)


@pytest.mark.parametrize(
    ("day", "is_there"), [("2026-11-21", True), ("2026-11-23", True), ("2026-11-24", False)]
)
async def test_days_beside_that_of_the_violation_are_looked_through(
    tmp_path: Path, day: str, is_there: bool
) -> None:
    gap = broken("gap", 1) | {"node": "b#1", "dno": 1, "segment": SEGMENT}
    found = await shown(tmp_path, gap, [given("b#1", 1, 1)], day)
    assert bool(found) is is_there


async def test_around_what_is_of_no_group_there_is_nothing(tmp_path: Path) -> None:
    missing = {"rule": "missing_records", "node": "b#1", "segment": SEGMENT}
    assert await shown(tmp_path, missing, [given("b#1", 1, 1)]) == []
