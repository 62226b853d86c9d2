"""`python -m server.supervise`: the processes of the Procfile, started, watched and ended together.

Variables for the Procfile's lines: `HTTP_0`, `ADMIN_0` and so on from `PORT_BASE` (default 8000;
management 1000 above), `DATA_DIR` (default .data). With TRACE=1 the nodes write their trace into
its folder `trace`. A process that dies is started again after a pause that grows; one that ends
with an exit code that a restart cannot change ends everything, and so does the end of the `make`
that has started this: a signal to `make` alone comes no further.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from server.announce import announce, owner_link
from server.errors import ServerError, SettingsProblem

ROOT = Path(__file__).resolve().parent.parent
NODES = 3
FINAL_CODES = {
    2: "settings",
    3: "key",
    4: "damaged store",
    5: "version",
    6: "id in use",
    7: "address taken",
}
"""Exit codes that a restart does not change."""

RESTART_FIRST_S = 1.0
RESTART_MOST_S = 30.0
END_S = 8.0
"""How long processes may take to leave before they are killed."""

PARENT_S = 0.5
"""How often it is looked whether the `make` that has started this is still there."""

PROBE_DEFAULTS = {
    "cluster": "groupcore",
    "key-file": "",
    "bind": "127.0.0.1",
    "multicast": "228.8.8.8:45588",
    "ttl": "0",
}
"""The options that nodes and probe have in common, and what both take without them."""

READY_S = 90.0
"""How long all nodes may take to be ready."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the Procfile."""

    name: str
    command: str


def read_procfile(text: str) -> list[Line]:
    """The processes; SettingsProblem when a line is not `name: command`."""
    lines = []
    for row in text.splitlines():
        if not row.strip() or row.lstrip().startswith("#"):
            continue
        found = re.fullmatch(r"([A-Za-z0-9_-]+):\s*(\S.*)", row.strip())
        if found is None:
            raise SettingsProblem(f"Procfile: {row!r} is not `name: command`")
        lines.append(Line(found[1], found[2]))
    return lines


def make_variables(environment: Mapping[str, str], root: Path) -> dict[str, str]:
    """The environment of the processes; SettingsProblem when PORT_BASE is wrong."""
    base_text = environment.get("PORT_BASE") or "8000"
    if not base_text.isdigit() or not 1024 <= int(base_text) <= 64_000:
        raise SettingsProblem(f"PORT_BASE {base_text!r} must be a port from 1024 to 64000")
    base = int(base_text)
    variables = dict(environment)
    for number in range(NODES):
        variables[f"HTTP_{number}"] = f"127.0.0.1:{base + number}"
        variables[f"ADMIN_{number}"] = f"127.0.0.1:{base + 1000 + number}"
    variables["DATA_DIR"] = str(root / (environment.get("DATA_DIR") or ".data"))
    # Clusters on other ports stay apart on the multicast address too.
    group_port = 45_588 if base == 8000 else 10_000 + base % 50_000
    variables.setdefault("GROUPCORE_MULTICAST", f"228.8.8.8:{group_port}")
    # It asks for the first owner's link itself: one that a node has logged would be dead by then.
    variables["GROUPCORE_OWNER_LINK"] = "off"
    if environment.get("TRACE") == "1":
        variables.setdefault("GROUPCORE_TRACE", str(Path(variables["DATA_DIR"], "trace")))
    variables["PYTHONUNBUFFERED"] = "1"
    return variables


def probe_command(variables: Mapping[str, str], root: Path) -> str:
    """What asks these nodes of their layers, to be run in the project's folder.

    Only what differs from the probe's own defaults is in it.
    """
    python = Path(sys.executable)
    shown = python.relative_to(root) if python.is_relative_to(root) else python
    words = [str(shown), "-m", "groupcore.probe"]
    for flag, default in PROBE_DEFAULTS.items():
        value = variables.get("GROUPCORE_" + flag.upper().replace("-", "_"), "")
        if value not in ("", default):
            words += [f"--{flag}", value]
    if variables["GROUPCORE_MULTICAST"] == "none":
        hosts = variables.get("GROUPCORE_INITIAL_HOSTS", "").split(",")
        words += [word for host in hosts if host.strip() for word in ("--host", host.strip())]
    return shlex.join(words)


def make_arguments(line: Line, variables: Mapping[str, str]) -> list[str]:
    """The command with its variables filled in; `python` is the one that runs this."""

    def fill(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name not in variables:
            raise SettingsProblem(f"Procfile: {line.name} uses ${name}, which is not set")
        return variables[name]

    words = shlex.split(line.command)
    filled = [re.sub(r"\$(?:(\w+)|\{(\w+)\})", fill, word) for word in words]
    return [sys.executable, *filled[1:]] if filled[0] in ("python", "python3") else filled


class Supervisor:
    """The processes of one Procfile."""

    def __init__(self, lines: list[Line], variables: dict[str, str]) -> None:
        self._lines = lines
        self._variables = variables
        self._processes: dict[str, asyncio.subprocess.Process] = {}
        self.ending = asyncio.Event()
        self.exit_code = 0

    async def run(self, after_ready: asyncio.Task[None] | None = None) -> int:
        """Until `ending` is set; the exit code."""
        watching = [asyncio.create_task(self._watch(line)) for line in self._lines]
        await self.ending.wait()
        if after_ready is not None:
            after_ready.cancel()
        await self._end_all()
        for task in watching:
            task.cancel()
        await asyncio.wait(watching)
        return self.exit_code

    async def _watch(self, line: Line) -> None:
        """Start the process, and again when it has died."""
        loop = asyncio.get_running_loop()
        pause_s = RESTART_FIRST_S
        while not self.ending.is_set():
            began = loop.time()
            code = await self._run_once(line)
            if self.ending.is_set():
                return
            if code in FINAL_CODES:
                say(line.name, f"ended with code {code} ({FINAL_CODES[code]}); ending all")
                self.exit_code = code
                self.ending.set()
                return
            if loop.time() - began > RESTART_MOST_S:
                pause_s = RESTART_FIRST_S
            say(line.name, f"ended with code {code}; starting it again in {pause_s:g} s")
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, RESTART_MOST_S)

    async def _run_once(self, line: Line) -> int:
        # A group of its own: Ctrl-C in the terminal reaches this program alone, which ends them.
        process = await asyncio.create_subprocess_exec(
            *make_arguments(line, self._variables),
            cwd=ROOT,
            env=self._variables,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        self._processes[line.name] = process
        assert process.stdout is not None
        async for output in process.stdout:
            say(line.name, output.decode(errors="replace").rstrip())
        return await process.wait()

    async def _end_all(self) -> None:
        """Ask all to leave; kill what has not left in time."""
        living = [p for p in self._processes.values() if p.returncode is None]
        for process in living:
            process.send_signal(signal.SIGTERM)
        if not living:
            return
        waiting = {asyncio.create_task(process.wait()): process for process in living}
        _, late = await asyncio.wait(waiting, timeout=END_S)
        for task in late:
            waiting[task].kill()
        if late:
            await asyncio.wait(late)


def say(name: str, text: str) -> None:
    """One line of output under a process's name."""
    print(f"{name:>8} | {text}", flush=True)


async def wait_ready(addresses: list[str]) -> None:
    """Until every node's `/readyz` says yes; ServerError when that takes too long."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + READY_S
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=2)) as session:
        for address in addresses:
            while not await is_ready(session, f"http://{address}/readyz"):
                if loop.time() > deadline:
                    raise ServerError(f"{address} is not ready after {READY_S:g} s; see its lines")
                await asyncio.sleep(0.1)


async def is_ready(session: aiohttp.ClientSession, url: str) -> bool:
    """Whether the node answers yes."""
    try:
        async with session.get(url) as response:
            return response.status == 200
    except (aiohttp.ClientError, TimeoutError, OSError):
        return False


async def make_ready(variables: Mapping[str, str], supervisor: Supervisor) -> None:
    """Wait for all nodes, import the sample workspace once, say where everything is."""
    addresses = [variables[f"HTTP_{number}"] for number in range(NODES)]
    try:
        await wait_ready(addresses)
        admin = f"http://{variables['ADMIN_0']}"
        count = await announce(admin, ROOT, Path(variables["DATA_DIR"]))
        link = await owner_link(admin)
    except ServerError as error:
        say("all", str(error))
        supervisor.exit_code = error.exit_code
        supervisor.ending.set()
        return
    if count:
        say("all", f"the sample workspace has {count} documents and boards")
    for address in addresses:
        say("all", f"http://{address}/")
    say("all", f"to look inside: {probe_command(variables, ROOT)}")
    say("all", "ready; Ctrl-C ends all")
    if link:
        say("all", f"nobody owns this yet; open this once, within 24 h, to be the owner: {link}")


async def end_with(parent: int, supervisor: Supervisor) -> None:
    """End all when the process of this number, the parent of this one, is gone."""
    while os.getppid() == parent:
        with suppress(TimeoutError):
            async with asyncio.timeout(PARENT_S):
                await supervisor.ending.wait()
                return
    say("all", "the make that has started this is gone; ending all")
    supervisor.ending.set()


async def supervise() -> int:
    """Run the Procfile beside this package; the exit code."""
    parent, by_make = os.getppid(), "MAKELEVEL" in os.environ
    variables = make_variables(os.environ, ROOT)
    lines = read_procfile((ROOT / "Procfile").read_text(encoding="utf-8"))
    for line in lines:
        make_arguments(line, variables)
    supervisor = Supervisor(lines, variables)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, supervisor.ending.set)
    ready = asyncio.create_task(make_ready(variables, supervisor))
    # Started by hand it may outlive its shell; `make` names itself to what it starts.
    watching = asyncio.create_task(end_with(parent, supervisor)) if by_make else None
    try:
        return await supervisor.run(ready)
    finally:
        if watching is not None:
            watching.cancel()


def main() -> int:
    """The exit code; one line where something is wrong."""
    try:
        return asyncio.run(supervise())
    except ServerError as error:
        print(f"groupcore: {error}", file=sys.stderr)
        return error.exit_code
    except OSError as error:
        print(f"groupcore: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
