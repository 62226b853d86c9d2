"""The pipeline's tables as the console reads them."""

from __future__ import annotations

import importlib.util
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from server.console.parquet import FORMAT, ROWS, overlap_found, views_found, violation, violations
from server.errors import BadMessageError
from tests.server.console.stores import ARTICULATION, COMPONENT, VIEW, VIOLATION, Rows, Tables, keep


def broken(rule: str, number: int) -> dict[str, object]:
    return {"rule": rule, "gid": 7, "seq": number, "message": f"a#1/2:{number}", "segment": "s"}


def cut_short(folder: Path, pattern: str) -> None:
    (file,) = folder.glob(pattern)
    file.write_bytes(file.read_bytes()[:-20])


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
        assert await violation(tmp_path, one["id"]) == one


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


async def test_components_of_the_overlap_job_say_who_holds_them_together(tmp_path: Path) -> None:
    store = tmp_path / "store"
    components: Rows = [{"gid": gid, "component": 1 if gid < 5 else 5} for gid in range(1, 7)]
    held: Rows = [
        {"component": 1, "process": f"a#1/{number}", "parts": 2, "largest": 4 - number}
        for number in range(4)
    ]
    tables: Tables = {
        "overlap_component": (COMPONENT, components),
        "overlap_articulation": (ARTICULATION, held),
    }
    keep(store, 3, tables)
    found = await overlap_found(tmp_path, lambda gid: f"group {gid}")
    assert found is not None
    assert found["components"] == 2
    first, second = found["largest"]
    assert (first["name"], first["groups"]) == ("group 1", 4)
    assert [one["largest"] for one in first["held_by"]] == [1, 2, 3]
    assert (second["groups"], second["held_by"]) == (2, [])
    assert await overlap_found(None, str) is None


async def test_views_of_the_trace_are_those_of_who_has_installed_them_first(
    tmp_path: Path,
) -> None:
    noon = datetime(2026, 11, 1, 12, tzinfo=UTC)
    rows: Rows = [
        {"t": noon + timedelta(seconds=at), "number": 3 + at // 2, "epoch": 1, "primary": True}
        | {"members": ["a#1", "b#2"]}
        for at in range(6)
    ]
    keep(tmp_path, 1, {"view": (VIEW, rows)})
    found = sorted(await views_found(tmp_path), key=lambda one: str(one["id"]))
    assert [(one["id"], one["at_s"] - noon.timestamp()) for one in found] == [
        ("1.3", 0.0),
        ("1.4", 2.0),
        ("1.5", 4.0),
    ]
    assert found[0]["members"] == ["a", "b"]
    assert await views_found(None) == []


async def test_a_table_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    keep(tmp_path, 1, {"audit_violation": (VIOLATION, [broken("gap", 1)])}, {"audit": {}})
    cut_short(tmp_path, "audit_violation/*/*.parquet")
    with pytest.raises(BadMessageError) as refused:
        await violations(tmp_path, "", 1)
    assert refused.value.code == "bad_store"
    cut_short(tmp_path, "manifest/*")
    assert await violations(tmp_path, "", 1) is None


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="the pipeline is not here")
def test_the_store_and_its_rows_are_those_of_the_pipeline() -> None:
    from pipeline import schemas, store

    assert store.FORMAT == FORMAT
    assert set(schemas.names_of(schemas.VIOLATION)) == set(VIOLATION.names)


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="the pipeline is not here")
def test_each_rule_of_the_audit_has_words() -> None:
    from pipeline.audit import RULES

    root = Path(__file__).resolve().parents[3]
    words = (root / "webui/src/words/en/rules.ts").read_text(encoding="utf-8")
    assert set(re.findall(r"^  (\w+):", words, re.MULTILINE)) == set(RULES)
