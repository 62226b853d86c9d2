"""The pipeline's tables as the console reads them."""

from __future__ import annotations

import importlib.util
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from groupcore.trace import TABLES
from server.console.parquet import FORMAT, overlap_found, views_found
from server.console.violations import violations
from server.errors import BadMessageError
from tests.server.console.stores import (
    ARTICULATION,
    COMPONENT,
    DELIVERY,
    VIEW,
    VIOLATION,
    Rows,
    Tables,
    broken,
    keep,
)


def cut_short(folder: Path, pattern: str) -> None:
    (file,) = folder.glob(pattern)
    file.write_bytes(file.read_bytes()[:-20])


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
    delivery = {(field.name, field.type) for field in schemas.arrow_schema(TABLES["delivery"])}
    assert {(field.name, field.type) for field in DELIVERY} <= delivery


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="the pipeline is not here")
def test_each_rule_of_the_audit_has_words() -> None:
    from pipeline.audit import RULES

    root = Path(__file__).resolve().parents[3]
    words = (root / "webui/src/words/en/rules.ts").read_text(encoding="utf-8")
    assert set(re.findall(r"^  (\w+):", words, re.MULTILINE)) == set(RULES)
