"""A node of the server with `--trace`: pages come and go, and a document's edits are in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupcore.sequencing.names import Process
from groupcore.shared.events import OperationDenied
from groupcore.view import Address
from server.errors import ServerError
from server.trace.writer import TraceWriter
from tests.groupcore.sequencing.trace_audit import violations
from tests.server.support import Cluster, Page, create
from tests.server.trace.support import all_rows, read


async def test_what_people_do_is_traced_without_what_they_write(
    cluster: Cluster, tmp_path: Path
) -> None:
    folder = tmp_path / "trace"
    node = await cluster.start("a", trace=str(folder))
    doc = await create(node, markdown="Milk")
    async with Page(node.url) as ann:
        await ann.open("DocumentOutline", f"doc/{doc}")
        name = f"doc/{doc}/b1"
        version = (await ann.open("Block", name))["state"]["version"]
        await ann.call(name, "edit", version, [4, " and a secret"])
        await ann.hear("saved", name=name)
    await cluster.close()
    rows = all_rows(folder)
    assert violations(rows) == []
    opened, closed = read(folder, "session")
    assert [(row["op"], row["user"]) for row in (opened, closed)] == [
        ("open", "guest"),
        ("close", "guest"),
    ]
    assert (opened["bytes_out"], opened["code"]) == (0, None)
    assert closed["bytes_in"] > len(" and a secret")
    assert closed["bytes_out"] > closed["bytes_in"]
    assert closed["code"] in (1000, 1001, 4001)
    assert any(row["name"] == name for row in read(folder, "group"))
    assert "secret" not in str(rows)


async def test_a_refusal_of_a_replica_is_a_row(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path, "a")
    await writer.start()
    writer.recorder()
    process = Process(Address("a", 1), 1)
    writer.note_event(OperationDenied(7, 12, process, "mallory", "edit"))
    await writer.stop()
    (row,) = read(tmp_path, "verdict")
    assert (row["gid"], row["seq"], row["principal"]) == (7, 12, "mallory")
    assert (row["operation"], row["code"]) == ("edit", "forbidden")


async def test_a_trace_that_cannot_be_written_ends_the_program(
    cluster: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    node = await cluster.begin("a", trace=str(tmp_path / "file"))
    with pytest.raises(ServerError, match="--trace"):
        await node.node.ended
