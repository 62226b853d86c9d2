"""A backup takes a part again that the cluster has interrupted, and says what came of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupcore.shared import OutcomeUnknownError, RefusedError
from groupcore.shared.documents import Document
from groupcore.shared.documents.keeper import Keeper
from server.backup import resuming
from server.backup.archive import Reader
from server.backup.cli import create
from server.backup.last import LastBackup
from server.errors import BadMessageError, ServerError
from server.management.finding import way_to
from tests.server.support import Cluster, get
from tests.server.support import create as make


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resuming, "AGAIN_S", 0.0)


class Interrupted:
    """Opens documents as a keeper does, but for the first attempts at each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: Exception, times: int) -> None:
        self.asked: dict[str, int] = {}
        hold = Keeper.hold

        async def failing(keeper: Keeper, doc: str) -> Document:
            self.asked[doc] = self.asked.get(doc, 0) + 1
            if self.asked[doc] <= times:
                raise error
            return await hold(keeper, doc)

        monkeypatch.setattr(Keeper, "hold", failing)


@pytest.mark.parametrize(
    "error",
    [
        OutcomeUnknownError("the cluster went on without this node meanwhile"),
        RefusedError("left", "the cluster has gone on without this node"),
        BadMessageError("not_ready", "this node is not in its cluster yet"),
    ],
)
async def test_a_document_is_asked_for_again_behind_a_view(
    cluster: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    soon: None,
    error: Exception,
) -> None:
    node = await cluster.start("a")
    docs = [await make(node, name, "some text") for name in ("One", "Two")]
    interrupted = Interrupted(monkeypatch, error, 2)
    file = tmp_path / "backup.tar"
    assert (await create(way_to(node.admin_url), file))["documents"] == 2
    assert set(Reader(file).manifest.documents) == set(docs)
    assert {interrupted.asked[doc] for doc in docs} == {3}


async def test_what_no_view_explains_ends_it_and_it_is_noted_as_failed(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, soon: None
) -> None:
    node = await cluster.start("a")
    await make(node, "One", "some text")
    with monkeypatch.context() as patched:
        Interrupted(patched, BadMessageError("damaged", "it cannot be read"), 1_000)
        with pytest.raises(ServerError):
            await create(way_to(node.admin_url), tmp_path / "bad.tar")
    assert LastBackup(node.node.settings.data).at_s is None
    await create(way_to(node.admin_url), tmp_path / "good.tar")
    noted = [(one.what, one.about) for one in node.node.files.accounts.notes]
    assert [what for what, _ in noted if what.startswith("backup.")] == [
        *("backup.begun", "backup.failed", "backup.begun", "backup.taken")
    ]
    assert ("backup.failed", "(damaged)") in noted
    _, text = await get(f"{node.admin_url}/metrics")
    assert node.node.last_backup.at_s is not None
    assert "groupcore_backup_last_success_timestamp_seconds 0.0" not in text
    assert "groupcore_backup_last_success_timestamp_seconds" in text
    again = LastBackup(node.node.settings.data)
    assert again.at_s == pytest.approx(node.node.last_backup.at_s, abs=0.01)


async def test_patience_has_an_end(monkeypatch: pytest.MonkeyPatch, soon: None) -> None:
    monkeypatch.setattr(resuming, "PATIENCE_S", 0.0)

    async def never() -> None:
        raise OutcomeUnknownError("the cluster went on")

    with pytest.raises(BadMessageError, match="waited too long for a document"):
        await resuming.outlasting("a document", never)
