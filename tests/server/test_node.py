"""A node from its start to its end, whatever the cluster does meanwhile."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from groupcore.aio.errors import (
    DamagedLogError,
    FolderInUseError,
    ForeignFolderError,
    FormatError,
    JoinRefusedError,
    StorageError,
)
from groupcore.errors import GroupcoreError, IdInUseError, SettingsError
from groupcore.shared.errors import ClosedError, OutcomeUnknownError, RefusedError
from server.documents.catalogue import Catalogue
from server.making import problem_of
from server.state import State
from tests.server.support import Cluster, create, get, post


@pytest.mark.parametrize(
    "error",
    [
        lambda: RefusedError("left", "the cluster has gone on without this node"),
        lambda: OutcomeUnknownError("gone on"),
        lambda: ClosedError("the node is outside the cluster"),
    ],
)
async def test_what_every_node_has_open_is_opened_again_until_it_is(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, error: Callable[[], GroupcoreError]
) -> None:
    running = await cluster.begin("a")
    objects = running.node.objects
    open_object, attempts = objects.open, []

    async def fails_first(kind: type[Catalogue], name: str) -> Catalogue:
        attempts.append(name)
        if len(attempts) == 1:
            raise error()
        return await open_object(kind, name)

    monkeypatch.setattr(objects, "open", fails_first)
    assert running.node.state is State.REBUILDING
    await running.node._open(Catalogue, "documents")
    assert attempts.count("documents") >= 2


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (IdInUseError("x"), 6),
        (FolderInUseError("x"), 6),
        (ForeignFolderError("x"), 2),
        (SettingsError("x"), 2),
        (FormatError("x"), 5),
        (JoinRefusedError("version", "x"), 5),
        (JoinRefusedError("foreign_cluster", "x"), 2),
        (JoinRefusedError("mixed_logs", "x"), 2),
        (DamagedLogError("x"), 4),
        (StorageError("x"), 4),
        (GroupcoreError("x"), 1),
    ],
)
def test_what_keeps_a_node_out_of_its_cluster_has_its_exit_code(
    error: GroupcoreError, code: int
) -> None:
    assert problem_of(error).exit_code == code


async def test_a_node_that_is_asked_to_leave_does_so(cluster: Cluster) -> None:
    running = await cluster.start("a")
    assert await post(f"{running.admin_url}/admin/leave") == (202, {"leaving": "a"})
    await running.until_over()
    running.node.drain()
    assert (await get(f"{running.url}/readyz?verbose"))[1]["state"] == "draining"


@pytest.mark.parametrize(
    ("task", "body", "status", "code"),
    [
        ("migrate", {"plan": 1, "groups": {"none": "a"}}, 422, "bad_plan"),
        ("migrate", {"plan": 1, "groups": {"documents": "z"}}, 422, "bad_plan"),
        ("migrate", {"plan": 2, "groups": {"documents": "a"}}, 422, "bad_plan"),
        ("migrate", ["no plan"], 422, "bad_plan"),
        ("drain", {"node": "z"}, 404, "unknown_node"),
        ("revive", {"node": 5}, 404, "unknown_node"),
        ("drain", {"colour": "red"}, 400, "bad_request"),
        ("drain", [], 400, "bad_request"),
    ],
)
async def test_what_an_operator_asks_wrongly_is_refused_and_changes_nothing(
    cluster: Cluster, task: str, body: object, status: int, code: str
) -> None:
    async def places() -> dict[str, tuple[str, int]]:
        """Who sequences each group, and its epoch; heads grow by themselves."""
        groups = (await get(f"{running.admin_url}/admin/status"))[1]["groups"]
        return {name: (group["sequencer"], group["epoch"]) for name, group in groups.items()}

    running = await cluster.start("a")
    before = await places()
    answer, problem = await post(f"{running.admin_url}/admin/{task}", body)
    assert (answer, problem["code"]) == (status, code)
    assert await places() == before


async def test_ended_sessions_may_come_back(cluster: Cluster) -> None:
    running = await cluster.start("a")
    await create(running)
    assert await post(f"{running.admin_url}/admin/end-sessions") == (200, {"ended": 0})
