"""Objects out of exported logs, many at once: as they were, held against live copies and others."""

from __future__ import annotations

import json
from argparse import Namespace
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyarrow import parquet

from groupcore.sequencing.names import Process
from groupcore.sequencing.record import JOINED
from groupcore.shared.messages import Check, Verify, encode, encode_operate
from groupcore.shared.object import SharedObject
from groupcore.shared.rebuilding import COLUMNS, Logged, rebuild, to_row
from groupcore.shared.types import Counter
from groupcore.view import Address
from pipeline.errors import PipelineError
from pipeline.jobs import rebuild as rebuild_job
from pipeline.store import Store
from pipeline.transforms.rebuilding import STATE, kinds_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WHO = Process(Address("a", 1), 2)
KINDS = f"{__name__}:kind_of"
ARROW = {"bigint": pa.int64(), "int": pa.int32(), "string": pa.string(), "binary": pa.binary()}


def kind_of(name: str) -> type[SharedObject] | None:
    return Counter if name.startswith("visits/") else None


def log_of(gid: int, adds: int, digest: bytes | None = None) -> list[Logged]:
    """A counter to which its number is added, and what a replica says of it then."""
    payloads = [encode_operate(60_000 * n, [("add", [gid])]) for n in range(1, adds + 1)]
    payloads += [encode(Verify(True))]
    entries = [Logged(gid, f"visits/{gid}", 1, 1, WHO, 0, None, JOINED)]
    for payload in payloads:
        at = len(entries) + 1
        entries.append(Logged(gid, f"visits/{gid}", 1, at, WHO, at, payload))
    (made,) = rebuild(entries, kind_of, lambda name: True)
    asked = entries[-1].position
    said = encode(Check(asked, made.hashes[asked] if digest is None else digest))
    return [*entries, Logged(gid, f"visits/{gid}", 1, asked + 1, WHO, asked + 1, said)]


def export(path: Path, logs: list[list[Logged]]) -> None:
    """What `python -m server export-log` writes: all groups' entries, as they came."""
    entries = [one for some in zip(*logs, strict=True) for one in some]
    rows = [to_row(place, one) for place, one in enumerate(entries)]
    schema = pa.schema([(name, ARROW[kind]) for name, kind in COLUMNS])
    named = [dict(zip(schema.names, row, strict=True)) for row in rows]
    parquet.write_table(pa.Table.from_pylist(named, schema), path)


def run(spark: SparkSession, folder: Path, **asked: object) -> tuple[int, list[dict[str, object]]]:
    """The job's exit code, and the rows that it has written."""
    given = {"name": None, "at_seq": None, "at_time": None, "kinds": KINDS, "limit": 10, **asked}
    common = {"master": "", "memory": "", "partitions": 2, "json": True}
    arguments = Namespace(store=str(folder / "store"), **given, **common)
    code = rebuild_job.run(arguments)
    store = Store(str(folder / "store"))
    parts = store.snapshot().parts_since("object_state", 0)
    return code, [row.asDict() for row in store.read(spark, "object_state", STATE, parts).collect()]


def test_many_objects_as_they_were(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(rebuild_job, "spark_session", lambda *given: nullcontext(spark))
    export(tmp_path / "a.parquet", [log_of(gid, 3) for gid in range(1, 21)])
    journals = [str(tmp_path / "a.parquet")]
    code, rows = run(spark, tmp_path, journal=journals)
    assert (code, len(rows)) == (0, 20)
    assert {row["gid"]: json.loads(str(row["fields"])) for row in rows} == {
        gid: {"value": 3 * gid} for gid in range(1, 21)
    }
    assert json.loads(capsys.readouterr().out)["agreed"] == 20
    code, (row,) = run(spark, tmp_path, journal=journals, name=["visits/7"], at_time=120_000)
    assert (code, row["position"], row["fields"]) == (0, 3, '{"value": 14}')

    # Another node's log has another beginning of 3, and a replica that differed in 4.
    other = log_of(3, 3)
    other[1] = other[1]._replace(payload=encode_operate(0, [("add", [100])]))
    export(tmp_path / "b.parquet", [other, log_of(4, 3, bytes(8)), log_of(5, 3)])
    capsys.readouterr()
    code, rows = run(spark, tmp_path, journal=[*journals, str(tmp_path / "b.parquet")])
    assert (code, len(rows)) == (rebuild_job.WRONG, 23)
    *wrong, result = map(json.loads, capsys.readouterr().out.splitlines())
    assert {(one["name"], one.get("hashes") is not None) for one in wrong} == {
        ("visits/3", False),  # what the replica has told is of the other beginning
        ("visits/3", True),
        ("visits/4", False),
    }
    assert result["wrong"] == 3
    with pytest.raises(PipelineError, match="no object"):
        run(spark, tmp_path, journal=journals, name=["doc/*"])


def test_what_names_no_function_is_said() -> None:
    assert kinds_of("server.rebuilding:kind_of")("presence/x") is None
    for said in ("server.rebuilding:none", "nowhere:kind_of", ""):
        with pytest.raises(PipelineError, match="names no function"):
            kinds_of(said)
