"""Segments: whole or torn, in order, and with what they say of themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupcore.sequencing.trace_rows import Rows, columns_of
from groupcore.trace import METADATA, TABLES
from server.trace.batches import TYPES, Encoder
from server.trace.disk import Disk
from server.trace.options import TraceOptions
from server.trace.segments import OpenSegment, segments_of
from tests.server.trace.support import T_US, deliveries, metadata, one, read

DAY_US = 86_400_000_000


def disk(folder: Path, **options: object) -> Disk:
    """One whose epoch has begun; nothing was left by a former one."""
    made = Disk(folder, "a", TraceOptions(**options))  # type: ignore[arg-type]
    made.begin()
    return made


def names(folder: Path) -> list[str]:
    return [path.name for path, _, _ in segments_of(folder)]


def test_every_type_of_a_table_has_one_in_arrow() -> None:
    assert {column.kind for table in TABLES.values() for column in table.columns} == set(TYPES)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    written = disk(tmp_path)
    written.write(deliveries(3), 0)
    written.write(deliveries(2, first=4), 3)
    context = [("a#1", 5), ("b#2", 7)]
    written.write(one("frame", frame=1, view=1, runs=1, context=context), 0)
    written.write(one("view", number=1, members=["a#1", "b#2"], primary=True, cut=[]), 0)
    written.write(one("seq_load", seconds=1.5, frames=2), 0)
    written.close()
    rows = read(tmp_path, "delivery")
    assert [row["off"] for row in rows] == [0, 1, 2, 3, 4]
    assert [row["dno"] for row in rows] == [1, 2, 3, 4, 5]
    assert {row["node"] for row in rows} == {"a#1"}
    assert rows[0]["t"].timestamp() == pytest.approx(T_US / 1e6, abs=1)
    (frame,) = read(tmp_path, "frame")
    assert frame["context"] == [
        {"sequencer": "a#1", "frame": 5},
        {"sequencer": "b#2", "frame": 7},
    ]
    assert frame["messages"] is None
    (view,) = read(tmp_path, "view")
    assert (view["members"], view["primary"], view["cut"]) == (["a#1", "b#2"], True, [])
    (load,) = read(tmp_path, "seq_load")
    assert (load["seconds"], load["cpu_us"]) == (1.5, None)


def test_a_segment_is_open_until_it_is_complete(tmp_path: Path) -> None:
    written = disk(tmp_path)
    written.write(deliveries(3), 0)
    assert names(tmp_path) == ["delivery-00000001-000000000000.arrows.open"]
    written.close()
    assert names(tmp_path) == ["delivery-00000001-000000000000.arrows"]
    (path,) = [path for path, _, _ in segments_of(tmp_path)]
    said = metadata(path)
    assert set(said) == set(METADATA)
    assert said["groupcore.kind"] == "delivery"
    assert (said["groupcore.recovered"], said["groupcore.epoch"]) == ("false", "1")


def test_large_and_old_segments_are_completed(tmp_path: Path) -> None:
    written = disk(tmp_path, segment_bytes=1)
    written.write(deliveries(3), 0)
    written.write(deliveries(3, first=4), 3)
    assert [name.rpartition("-")[2] for name in names(tmp_path)] == [
        "000000000000.arrows",
        "000000000001.arrows",
    ]
    aged = disk(tmp_path / "aged", segment_s=0.0)
    aged.write(deliveries(3), 0)
    assert aged.next_seal_s() == 0.0
    aged.seal_due()
    assert names(tmp_path / "aged") == ["delivery-00000001-000000000000.arrows"]
    assert aged.next_seal_s() is None


def test_a_day_has_segments_of_its_own(tmp_path: Path) -> None:
    written = disk(tmp_path)
    written.write(deliveries(1), 0)
    written.write(deliveries(1, first=2, t_us=T_US + DAY_US), 1)
    written.close()
    found = [(one.date, one.n) for _, one, _ in segments_of(tmp_path)]
    assert found == [("2027-01-15", 0), ("2027-01-16", 1)]


def test_epochs_grow_even_when_the_segments_are_gone(tmp_path: Path) -> None:
    for epoch in (1, 2, 3):
        written = disk(tmp_path)
        assert written.epoch == epoch
        written.write(deliveries(1), 0)
        written.close()
        for path, _, _ in segments_of(tmp_path):
            path.unlink()


def test_what_the_disk_refuses_is_tried_again_behind_what_was_torn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = disk(tmp_path)
    written.write(deliveries(3), 0)
    segment = written._open["delivery"]
    refusing = deliveries(2, first=4)

    def refuse() -> None:
        segment._file.write(segment._batch.getvalue()[:100])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(segment, "_pass_on", refuse)
    with pytest.raises(OSError, match="No space"):
        written.write(refusing, 3)
    written.give_up()
    written.write(refusing, 3)
    written.close()
    assert [row["off"] for row in read(tmp_path, "delivery")] == [0, 1, 2, 3, 4]
    said = [metadata(path)["groupcore.recovered"] for path, _, _ in segments_of(tmp_path)]
    assert said == ["true", "false"]


def test_names_of_people_are_hashed_under_a_key() -> None:
    rows = Rows("verdict")
    for principal in ("Ada", "Bob", "Ada", None):
        rows.add({"t": T_US, "gid": 1, "principal": principal, "operation": "write"})
    gathered = one("verdict")._replace(rows=4, columns=columns_of(rows))
    plain = Encoder().batch(gathered, 0).column("principal").to_pylist()
    assert plain == ["Ada", "Bob", "Ada", None]
    hashed = Encoder(b"k" * 32).batch(gathered, 0)
    ada, bob, again, nobody = hashed.column("principal").to_pylist()
    assert ada == again != bob
    assert nobody is None
    assert "Ada" not in ada
    assert len(ada) == 32
    assert hashed.column("operation").to_pylist() == ["write"] * 4
    other = Encoder(b"other key" * 3).batch(gathered, 0).column("principal").to_pylist()
    assert other[0] != ada


def test_what_rows_rest_on_is_complete_before_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    seal = OpenSegment.seal

    def sealed(segment: OpenSegment) -> None:
        order.append(segment.segment.kind)
        seal(segment)

    monkeypatch.setattr(OpenSegment, "seal", sealed)
    written = disk(tmp_path)
    for kind in ("delivery", "frame", "accept", "view", "membership"):
        written.write(one(kind), 0)
    written.close()
    assert order[-3:] == ["accept", "frame", "delivery"]
    assert set(order[:2]) == {"view", "membership"}
    assert all(name.endswith(".arrows") for name in names(tmp_path))
