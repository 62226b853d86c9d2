"""The tables of the trace: names and types that both sides rely on, and where segments lie."""

import re
from hashlib import blake2b

import pytest

from groupcore.trace import TABLES, VERSION, Segment, parse_path

TYPES = {
    "string",
    "boolean",
    "int",
    "bigint",
    "double",
    "timestamp",
    "array<string>",
    "array<struct<sequencer:string,frame:bigint>>",
}
SCHEMAS = {1: "2e038d6af817b8c4", 2: "bde45f06ce0b85e4", 3: "3241693bcae81683"}
"""A hash of all tables for each version: who changes a table gives the version another number."""


def test_every_type_is_one_that_writer_and_pipeline_know() -> None:
    found = {column.kind for table in TABLES.values() for column in table.columns}
    assert found <= TYPES


def test_no_column_comes_twice_and_each_says_what_it_means() -> None:
    for table in TABLES.values():
        names = [column.name for column in table.columns]
        assert len(set(names)) == len(names), table.kind
        assert names[:3] == ["node", "off", "t"]
        assert all(re.fullmatch(r"[a-z_]+", name) for name in names)
        assert all(column.says for column in table.columns)


def test_the_tables_are_those_of_the_version() -> None:
    text = "\n".join(f"{table.kind}: {table.ddl}" for table in TABLES.values())
    assert blake2b(text.encode(), digest_size=8).hexdigest() == SCHEMAS[VERSION]


def test_only_what_the_order_does_not_rest_on_may_be_dropped() -> None:
    dropped = {table.kind for table in TABLES.values() if table.telemetry}
    assert dropped == {"delivery", "seq_load", "session"}


@pytest.mark.parametrize("node", ["n1", "a/b c", "..", "100%", "%2F"])
def test_a_path_says_which_segment_it_is(node: str) -> None:
    segment = Segment("2026-01-31", node, "accept", 7, 12)
    assert segment.path.count("/") == 2
    assert parse_path(segment.path) == segment
    assert parse_path(f"/some/where/{segment.path}.open") == segment


def test_names_sort_as_the_log_goes() -> None:
    places = [(1, 2), (1, 10), (2, 0), (10, 0)]
    names = [Segment("2026-01-31", "n1", "view", epoch, n).name for epoch, n in places]
    assert names == sorted(names)


@pytest.mark.parametrize(
    "path",
    [
        "date=2026-01-31/node=n1/accept-00000001-000000000000.parquet",
        "date=2026-01-31/node=n1/nothing-00000001-000000000000.arrows",
        "date=2026-01-31/accept-00000001-000000000000.arrows",
        "accept-00000001-000000000000.arrows",
    ],
)
def test_other_files_are_no_segments(path: str) -> None:
    assert parse_path(path) is None
