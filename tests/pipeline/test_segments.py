"""What segments say of themselves, and what is said of those that are damaged."""

from pathlib import Path

import pytest

from groupcore.trace import TABLES, VERSION, Segment
from pipeline.errors import PipelineError
from pipeline.schemas import SEGMENT, arrow_schema
from pipeline.segments import (
    DamagedSegment,
    list_segments,
    open_trace,
    read_head,
    read_rows,
    require_version,
)
from tests.pipeline.cluster import Cluster
from tests.pipeline.segments import write_segment, write_segments

VIEW = Segment("2026-11-22", "n0", "view", 1, 0)


def one_segment(folder: Path) -> tuple[Path, int]:
    rows = [row for row in Cluster(1).rows["view"] if row["node"] == "n0#1"] * 100
    return write_segment(folder, VIEW, rows), len(rows)


@pytest.mark.parametrize("kind", TABLES)
def test_every_column_of_the_trace_has_an_arrow_type(kind: str) -> None:
    assert arrow_schema(TABLES[kind]).names == [column.name for column in TABLES[kind].columns]


def test_open_segments_are_not_seen(tmp_path: Path) -> None:
    path, _ = one_segment(tmp_path)
    path.with_name(path.name.replace("0.arrows", "1.arrows.open")).write_bytes(b"")
    assert list_segments(str(tmp_path)) == [VIEW]


def test_rows_come_with_their_segment(tmp_path: Path) -> None:
    _, count = one_segment(tmp_path)
    rows = [
        row for batch in read_rows(*open_trace(str(tmp_path)), VIEW) for row in batch.to_pylist()
    ]
    assert len(rows) == count
    assert rows[0][SEGMENT] == VIEW.path
    assert rows[0]["members"] == ["n0#1", "n1#1", "n2#1"]


def test_a_segment_without_its_end_is_damaged(tmp_path: Path) -> None:
    path, _ = one_segment(tmp_path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DamagedSegment, match="its end is missing") as error:
        read_head(*open_trace(str(tmp_path)), VIEW)
    assert str(error.value).startswith(VIEW.path)


def test_a_segment_with_a_broken_middle_is_damaged(tmp_path: Path) -> None:
    path, _ = one_segment(tmp_path)
    text = bytearray(path.read_bytes())
    start = text.index(b"\x28\xb5\x2f\xfd")  # the first compressed column
    text[start : start + 8] = b"\0" * 8
    path.write_bytes(text)
    with pytest.raises(DamagedSegment):
        list(read_rows(*open_trace(str(tmp_path)), VIEW))


def test_a_flipped_bit_anywhere_is_found_by_the_checksum(tmp_path: Path) -> None:
    path, _ = one_segment(tmp_path)
    data = path.read_bytes()
    for at in range(0, len(data), len(data) // 60):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(DamagedSegment) as error:
            read_all(tmp_path)
        assert str(error.value).startswith(VIEW.path)
    path.write_bytes(data)
    assert read_head(*open_trace(str(tmp_path)), VIEW).has_checksum
    read_all(tmp_path)


def read_all(folder: Path) -> None:
    """As ingest does."""
    read_head(*open_trace(str(folder)), VIEW)
    list(read_rows(*open_trace(str(folder)), VIEW))


@pytest.mark.parametrize("version", range(1, VERSION + 1))
def test_this_version_and_earlier_ones_are_read(tmp_path: Path, version: int) -> None:
    write_segments(tmp_path, Cluster(1).rows, version=version)
    filesystem, folder = open_trace(str(tmp_path))
    segments = list_segments(str(tmp_path))
    heads = [(segment, read_head(filesystem, folder, segment)) for segment in segments]
    require_version(heads)
    assert {head.has_checksum for _, head in heads} == {version >= 3}
    assert all(list(read_rows(filesystem, folder, segment)) for segment in segments)


def test_a_later_version_is_refused_by_name(tmp_path: Path) -> None:
    write_segments(tmp_path, Cluster(1).rows, version=VERSION + 1)
    filesystem, folder = open_trace(str(tmp_path))
    segments = list_segments(str(tmp_path))
    heads = [(segment, read_head(filesystem, folder, segment)) for segment in segments]
    with pytest.raises(
        PipelineError, match=rf"date=2026-11-22/node=n0.*has {VERSION + 1}"
    ) as error:
        require_version(heads)
    assert error.value.code == "mixed_versions"


def test_a_trace_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(PipelineError, match="nowhere"):
        list_segments(str(tmp_path / "nowhere"))
