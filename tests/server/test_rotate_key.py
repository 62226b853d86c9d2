"""The cluster's key is changed by one request, while a page is open."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from groupcore.aio import KeyFile, keys
from groupcore.seal import key_epoch
from tests.server.support import Cluster, create, get, post

OLD, NEW = b"o" * 32, b"n" * 32


@pytest_asyncio.fixture
async def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cluster]:
    monkeypatch.setattr(keys, "LINGER_S", 0.05)
    made = Cluster(tmp_path, size=2)
    for name in ("a", "b"):
        KeyFile(tmp_path / f"{name}.key").keep(OLD)
        await made.begin(name, key_file=str(tmp_path / f"{name}.key"))
    yield made
    await made.close()


async def shown_keys(cluster: Cluster, name: str) -> dict[str, object]:
    _, status = await get(f"{cluster.nodes[name].admin_url}/admin/status")
    return dict(status["keys"])


@pytest.mark.asyncio
async def test_the_key_is_changed_by_one_request(cluster: Cluster, tmp_path: Path) -> None:
    for node in ("a", "b"):
        await cluster.until_ready(node)
        (tmp_path / f"{node}.key").write_text(f"{OLD.hex()}\n{NEW.hex()}\n")
    a = cluster.nodes["a"]
    assert await post(f"{a.admin_url}/admin/rotate-key") == (
        200,
        {"finished": True, "key_epoch": key_epoch(NEW)},
    )
    await create(cluster.nodes["b"])
    assert await shown_keys(cluster, "a") == {
        "epoch": key_epoch(NEW),
        "accepted": [key_epoch(NEW)],
        "changing": False,
    }


@pytest.mark.asyncio
async def test_why_the_key_is_kept_is_said(cluster: Cluster, tmp_path: Path) -> None:
    for node in ("a", "b"):
        await cluster.until_ready(node)
    rotate = f"{cluster.nodes['a'].admin_url}/admin/rotate-key"
    status, answer = await post(rotate)
    assert (status, answer["code"]) == (409, "key_kept")
    assert "put a new one on a line behind it" in answer["detail"]
    (tmp_path / "a.key").write_text(f"{OLD.hex()}\n{NEW.hex()}\n")
    status, answer = await post(rotate)
    assert (status, answer["code"]) == (409, "key_kept")
    assert answer["detail"].startswith("b: ")
    assert (await shown_keys(cluster, "b"))["epoch"] == key_epoch(OLD)
