"""The pipeline's jobs in a process of their own, one after the other, as a shell would start them.

One process and so one Java machine for all of them: to start one takes longer than most jobs.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from pipeline.__main__ import main

ROOT = Path(__file__).resolve().parent.parent.parent
JOB_S = 300.0
LINE_BYTES_MAX = 16 << 20


class Jobs:
    """Runs jobs over a trace and a store."""

    def __init__(
        self, process: asyncio.subprocess.Process, trace: Path, store: Path, log: Path
    ) -> None:
        self._process = process
        self._trace = str(trace)
        self._common = ["--out", str(store), "--master", "local[2]"]
        self._common += ["--memory", "1g", "--partitions", "2", "--json"]
        self._log = log

    async def ingest(self) -> None:
        """Take in what is complete of the trace by now."""
        await self.run("ingest", "--trace", self._trace)

    async def run(self, job: str, *words: str, code: int = 0) -> dict[str, Any]:
        """What a job says last; AssertionError where its exit code is another one."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{json.dumps([job, *self._common, *words])}\n".encode())
        async with asyncio.timeout(JOB_S):
            line = await self._process.stdout.readline()
        assert line, self._log.read_text(encoding="utf-8", errors="replace")[-3000:]
        found, said = json.loads(line)
        tail = self._log.read_text(encoding="utf-8", errors="replace")[-3000:]
        assert found == code, f"{job} {words}: exit code {found}, {said}\n{tail}"
        last: dict[str, Any] = json.loads(said.splitlines()[-1]) if said.strip() else {}
        return last


@asynccontextmanager
async def running_jobs(trace: Path, store: Path, log: Path) -> AsyncIterator[Jobs]:
    """The process, until its work is over."""
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.end_to_end.jobs"),
            cwd=ROOT,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            limit=LINE_BYTES_MAX,
        )
        try:
            yield Jobs(process, trace, store, log)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                async with asyncio.timeout(JOB_S):
                    await process.wait()
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()


def serve() -> None:
    """A line in is the words of a command; a line out its exit code and what it has printed."""
    for line in sys.stdin:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            code = main(json.loads(line))
        print(json.dumps([code, said.getvalue()]), flush=True)


if __name__ == "__main__":
    serve()
