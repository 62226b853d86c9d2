"""What sealing a log costs: CPU and time of a part with a key and without, written and read again.

One `LogStore`, as the writer's thread has it: so many parts a commit, then a folder that is opened
and read. The last case seals a folder that was written without a key.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from groupcore.aio.log_store import LogStorage
from groupcore.aio.rest_key import RestKey
from groupcore.sequencing.log import LogPart

GROUP = 10
"""Parts in a commit."""


def key_in(folder: Path) -> RestKey:
    """A key file that is made there."""
    path = folder / "key"
    path.touch(0o600)
    path.write_text(secrets.token_hex(32), "ascii")
    return RestKey(path)


def storage_in(folder: Path, rest: RestKey | None) -> LogStorage:
    """The log of a node, opened."""
    storage = LogStorage(folder / "n0", "bench", "n0", rest=rest)
    storage.open()
    return storage


def write(storage: LogStorage, parts: int, size_bytes: int) -> dict[str, object]:
    """Append so many parts; microseconds a part, the commits' time left out and not."""
    store, data = storage._running.store, secrets.token_bytes(size_bytes)
    spent = 0.0
    began = time.perf_counter()
    for at in range(0, parts, GROUP):
        store.begin()
        before = time.thread_time()
        store.append([LogPart(at + one, data) for one in range(GROUP)])
        spent += time.thread_time() - before
        store.commit()
    wall_s = time.perf_counter() - began
    return {
        "append_cpu_us": round(1e6 * spent / parts, 2),
        "commit_us": round(1e6 * wall_s * GROUP / parts),
    }


def case(parts: int, size_bytes: int, sealed: bool) -> dict[str, object]:
    """One log, written and read."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        rest = key_in(folder) if sealed else None
        storage = storage_in(folder, rest)
        found = write(storage, parts, size_bytes)
        before = time.thread_time()
        storage.read()
        found["read_cpu_us"] = round(1e6 * (time.thread_time() - before) / parts, 2)
        asyncio.run(storage.close())
        found["bytes_a_part"] = round(storage.disk_bytes() / parts)
    return found


def sealing(parts: int, size_bytes: int) -> dict[str, object]:
    """How much longer the first start with a key takes."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        storage = storage_in(folder, None)
        write(storage, parts, size_bytes)
        asyncio.run(storage.close())
        taken = []
        for rest in (None, key_in(folder)):
            began = time.perf_counter()
            storage = storage_in(folder, rest)
            taken.append(time.perf_counter() - began)
            asyncio.run(storage.close())
    return {
        "mb": round(parts * size_bytes / 1e6, 1),
        "plain_open_s": round(taken[0], 3),
        "first_sealed_open_s": round(taken[1], 3),
    }


def run(quick: bool) -> dict[str, object]:
    """The figures, by case."""
    parts = 2_000 if quick else 20_000
    result: dict[str, object] = {}
    for size_bytes in (100, 1_000, 10_000):
        for sealed in (False, True):
            kind = "sealed" if sealed else "plain"
            result[f"{kind}, {size_bytes} bytes"] = case(parts, size_bytes, sealed)
    result["a folder of before"] = sealing(parts, 1_000)
    return {"figures": result}
