"""Workers: bounded in number, time and memory, fair to people, replaced when they are ended."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio

from server.errors import BadMessageError, TooFastError
from server.work import pool as pools
from server.work.kinds import MIB, Kind
from server.work.pool import LARGE_BYTES, Pool
from server.work.process import KEPT_BYTES, NICE
from tests.server.support import eventually
from tests.server.work import deeds

LIMIT_BYTES = 512 * MIB


def deed(name: str, cpu_s: float = 10.0, wall_s: float = 60.0) -> Kind:
    return Kind(name, f"{deeds.__name__}:{name}", cpu_s, wall_s, LIMIT_BYTES)


ECHO, PID, WAIT = deed("echo"), deed("pid"), deed("wait")


@pytest_asyncio.fixture
async def pool() -> AsyncIterator[Pool]:
    made = Pool(2)
    yield made
    await made.close()


async def code_of(pool: Pool, kind: Kind, *arguments: object, by: str = "ann") -> str:
    with pytest.raises(BadMessageError) as caught:
        await pool.run(kind, by, 1, *arguments)
    return caught.value.code


async def works(pool: Pool) -> bool:
    return await pool.run(ECHO, "ann", 1, "x") == "x"


async def test_a_worker_is_kept_for_the_next_piece(pool: Pool) -> None:
    value = [None, True, 7, "ä", b"\0\xff", ["x", []]]
    assert await pool.run(ECHO, "ann", 1, value) == (None, True, 7, "ä", b"\0\xff", ("x", ()))
    first = await pool.run(PID, "ann", 1)
    assert first != os.getpid()
    assert await pool.run(PID, "bob", 1) == first
    alone = replace(PID, is_alone=True)
    assert len({first, await pool.run(alone, "ann", 1), await pool.run(alone, "ann", 1)}) == 3


async def test_a_node_that_has_much_memory_keeps_its_workers(pool: Pool) -> None:
    """What a process had resident when it forked counts in its child's `ru_maxrss`."""
    node = b"x" * (KEPT_BYTES + MIB)
    first = await pool.run(PID, "ann", 1)
    assert await pool.run(PID, "ann", 1) == first
    assert len(node) > KEPT_BYTES


async def test_a_worker_has_no_secret_no_file_and_little_right_to_the_core(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUPCORE_OIDC_SECRET", "hush")
    found = await pool.run(deed("about"), "ann", 1)
    nice, environment, files = cast("tuple[int, list[str], list[str]]", found)
    assert nice == min(19, os.nice(0) + NICE)
    assert set(environment) <= {"PATH", "LANG", "LC_CTYPE"}
    assert len(files) == 4, "input, output, errors, and the list itself"
    assert await pool.run(deed("memory"), "ann", 1) == LIMIT_BYTES
    assert await code_of(pool, deed("write"), str(tmp_path / "x")) in ("internal", "too_complex")
    assert not (tmp_path / "x").exists() or not (tmp_path / "x").stat().st_size


async def test_what_overruns_its_time_is_refused_and_the_worker_goes_on(pool: Pool) -> None:
    worker = await pool.run(PID, "ann", 1)
    assert await code_of(pool, deed("spin", cpu_s=0.2)) == "too_complex"
    assert await pool.run(PID, "ann", 1) == worker
    assert pool.figures.done["spin", "refused"] == 1
    assert not pool.figures.killed


@pytest.mark.parametrize(
    ("name", "reason"), [("wait", "time"), ("fall", "gone"), ("lie", "gone"), ("grow", "")]
)
async def test_a_worker_that_cannot_go_on_is_replaced(
    pool: Pool, tmp_path: Path, name: str, reason: str
) -> None:
    worker = await pool.run(PID, "ann", 1)
    given = [str(tmp_path / "never")] if name == "wait" else []
    wall_s = 0.3 if name == "wait" else 60.0
    assert await code_of(pool, deed(name, wall_s=wall_s), *given) == "too_complex"
    assert await pool.run(PID, "ann", 1) != worker
    assert dict(pool.figures.killed) == ({reason: 1} if reason else {})
    assert (pool.running, pool.queued) == (0, 0)


async def test_what_is_refused_says_why_and_our_own_bug_says_nothing(
    pool: Pool, caplog: pytest.LogCaptureFixture
) -> None:
    assert await code_of(pool, deed("refuse")) == "too_large"
    with pytest.raises(BadMessageError) as caught:
        await pool.run(deed("fail"), "ann", 1)
    assert caught.value.code == "internal"
    assert "ZeroDivision" not in caught.value.message
    assert "ZeroDivision" in caplog.text
    assert await works(pool)


class Crowd:
    """Pieces that wait for a file, by whom they are."""

    def __init__(self, pool: Pool, folder: Path) -> None:
        self.pool = pool
        self.folder = folder
        self.order: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []

    def ask(self, name: str, size_bytes: int = 1) -> None:
        """`name`: the person, and a number."""
        self.tasks.append(asyncio.create_task(self._ask(name, size_bytes)))

    async def _ask(self, name: str, size_bytes: int) -> None:
        await self.pool.run(WAIT, name.rstrip("0123456789"), size_bytes, str(self.folder / name))
        self.order.append(name)

    async def finish(self, *names: str) -> None:
        """Let these come to their end, one after the other."""
        for name in names:
            (self.folder / name).touch()
            await eventually(lambda name=name: name in self.order, name)  # type: ignore[misc]

    async def over(self) -> None:
        """Break off what has not come to its end."""
        for task in self.tasks:
            task.cancel()
        await asyncio.wait(self.tasks)


async def test_one_person_never_has_all_workers(pool: Pool, tmp_path: Path) -> None:
    """W1, W2: eve sends much, and ann, who comes last, is served beside her."""
    crowd = Crowd(pool, tmp_path)
    for number in range(4):
        crowd.ask(f"eve{number}")
    await eventually(lambda: pool.queued == 3, "all of eve's wait but one")
    assert pool.running == 1
    crowd.ask("ann0")
    await crowd.finish("ann0")
    crowd.ask("bob0")
    crowd.ask("ann1")
    await eventually(lambda: (pool.running, pool.queued) == (2, 4), "bob has the other one")
    await crowd.finish("eve0", "eve1", "bob0", "ann1")
    await crowd.over()
    assert (pool.running, pool.queued) == (0, 0)
    assert await works(pool)


async def test_large_pieces_leave_a_worker_to_the_small(pool: Pool, tmp_path: Path) -> None:
    crowd = Crowd(pool, tmp_path)
    for name in ("eve0", "dan0", "cid0"):
        crowd.ask(name, LARGE_BYTES)
    crowd.ask("ann0")
    await eventually(lambda: (pool.running, pool.queued) == (2, 2), "two wait")
    await crowd.finish("ann0", "eve0", "dan0", "cid0")


async def test_lines_take_turns(pool: Pool, tmp_path: Path) -> None:
    single = Pool(1)
    crowd = Crowd(single, tmp_path)
    for name in ("eve0", "eve1", "eve2", "ann0", "bob0"):
        crowd.ask(name)
        (tmp_path / name).touch()
    await asyncio.wait(crowd.tasks)
    assert crowd.order == ["eve0", "eve1", "ann0", "bob0", "eve2"]
    await single.close()


async def test_what_waits_is_bounded(
    pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W3: in number for each person, in number and bytes for all."""
    crowd = Crowd(pool, tmp_path)
    for number in range(pools.WAITING_EACH + 1):
        crowd.ask(f"eve{number}")
    await eventually(lambda: pool.queued == pools.WAITING_EACH, "eve's line is full")
    with pytest.raises(TooFastError) as caught:
        await pool.run(ECHO, "eve", 1, "x")
    assert (caught.value.code, caught.value.wait_s) == ("too_fast", pools.RETRY_S)
    assert await works(pool), "others are served"
    assert await code_of(pool, replace(ECHO), by="bob") == "internal"  # no argument: our own bug
    with pytest.raises(BadMessageError) as refused:
        await pool.run(ECHO, "bob", pools.WAITING_BYTES + 1, "x")
    assert refused.value.code == "busy"
    monkeypatch.setattr(pools, "WAITING_MAX", pools.WAITING_EACH)
    assert await code_of(pool, ECHO, "x", by="bob") == "busy"
    assert dict(pool.figures.refused) == {"too_fast": 1, "busy": 2}
    await crowd.over()


async def test_what_is_broken_off_frees_its_worker(pool: Pool, tmp_path: Path) -> None:
    task = asyncio.create_task(pool.run(WAIT, "ann", 1, str(tmp_path / "never")))
    await eventually(lambda: pool.running == 1, "it is worked on")
    task.cancel()
    await asyncio.wait([task])
    assert pool.running == 0
    assert await works(pool)


async def test_a_pool_that_is_closed_ends_what_works_and_refuses_what_waits(
    tmp_path: Path,
) -> None:
    pool = Pool(1)
    asked = [
        asyncio.create_task(code_of(pool, WAIT, str(tmp_path / "never"), by=by))
        for by in ("ann", "bob")
    ]
    await eventually(lambda: (pool.running, pool.queued) == (1, 1), "one works, one waits")
    await eventually(lambda: bool(pool._busy), "its process has begun")
    await pool.close()
    assert await asyncio.gather(*asked) == ["busy", "busy"]
    assert await code_of(pool, ECHO, "x") == "busy"


async def test_an_idle_worker_ends(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "IDLE_S", 0.05)
    worker = await pool.run(PID, "ann", 1)
    await eventually(lambda: not Path(f"/proc/{worker}").exists(), "it has ended")
    assert await works(pool)
