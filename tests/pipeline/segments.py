"""Segments out of rows, as nodes write them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import pyarrow as pa

from groupcore.trace import CHECKSUM_MARK, TABLES, VERSION, Segment
from pipeline.schemas import arrow_schema
from pipeline.segments import RESTING
from tests.pipeline.cluster import Row


def write_segments(
    folder: Path,
    rows: Mapping[str, Sequence[Row]],
    *,
    size: int = 200,
    version: int = VERSION,
    first: int = 0,
) -> list[Segment]:
    """Write the rows of all nodes and kinds; `off` is numbered where a row has none.

    `first`: the number of the first segment of each. As nodes do it, what rests on others is
    complete behind these.
    """
    written = []
    for kind, of_kind in sorted(rows.items(), key=lambda item: item[0] in RESTING):
        by_node: dict[str, list[Row]] = defaultdict(list)
        for row in of_kind:
            by_node[row["node"]].append(row)
        for life, own in by_node.items():
            node, _, incarnation = life.partition("#")
            numbered = [
                {**row, "off": i if row["off"] is None else row["off"]} for i, row in enumerate(own)
            ]
            for n, start in enumerate(range(0, len(numbered), size), first):
                segment = Segment("2026-11-22", node, kind, int(incarnation or "1", 16), n)
                write_segment(folder, segment, numbered[start : start + size], version=version)
                written.append(segment)
    return written


def write_segment(
    folder: Path, segment: Segment, rows: Sequence[Row], *, version: int = VERSION
) -> Path:
    """Write one segment, closed."""
    schema = arrow_schema(TABLES[segment.kind]).with_metadata(
        {
            "groupcore.kind": segment.kind,
            "groupcore.version": str(version),
            "groupcore.node": segment.node,
            "groupcore.epoch": str(segment.epoch),
            "groupcore.every": "1",
            **({"groupcore.checksum": "sha256"} if version >= 3 else {}),
        }
    )
    path = folder / segment.path
    path.parent.mkdir(parents=True, exist_ok=True)
    being_written = path.with_name(f"{path.name}.open")
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with (
        pa.OSFile(str(being_written), "wb") as file,
        pa.ipc.new_stream(file, schema, options=options) as to,
    ):
        for start in range(0, len(rows), 50):
            to.write_batch(pa.RecordBatch.from_pylist(list(rows[start : start + 50]), schema))
    if version >= 3:
        content = being_written.read_bytes()
        being_written.write_bytes(content + CHECKSUM_MARK + sha256(content).digest())
    return being_written.rename(path)
