"""The processes of the Procfile end with the `make` that has started them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import pytest

from server.supervise import Line, Supervisor, end_with
from tests.server.support import LIMIT_S

CHILD = """
import asyncio, os
from server.supervise import Line, Supervisor, end_with

async def main():
    supervisor = Supervisor([Line("one", "sleep 600")], dict(os.environ))
    watching = asyncio.create_task(end_with(os.getppid(), supervisor))
    print(os.getpid(), flush=True)
    await supervisor.run()

asyncio.run(main())
"""
PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", sys.argv[1]])
time.sleep(600)
"""


async def test_who_is_watched_for_a_parent_that_is_gone_ends_all() -> None:
    supervisor = Supervisor([Line("one", "sleep 600")], dict(os.environ))
    watching = asyncio.create_task(end_with(os.getppid() + 1, supervisor))
    assert await supervisor.run() == 0
    await watching


@pytest.mark.process
async def test_a_signal_to_make_alone_ends_what_it_has_started() -> None:
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PARENT, CHILD), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    child = int(await parent.stdout.readline())
    parent.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(LIMIT_S):
            said = await parent.stdout.read()  # up to the end of both
    except TimeoutError:
        os.kill(child, signal.SIGTERM)
        raise
    await parent.wait()
    assert b"ending all" in said
