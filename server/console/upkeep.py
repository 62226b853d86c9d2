"""What the console's operations do: a backup is taken, verified, put back; old trace is removed.

Promises, which the page states in these terms.
  U1  Backups lie in the folder of the setting `backups`; nothing there is ever overwritten, and a
      file has its name only when it was read back whole.
  U2  Verifying changes nothing.
  U3  A backup is put back into a new folder, by a program of its own: the running cluster is not
      touched. The folder gets its name when every document in it was compared.
  U4  Pruning removes complete segments of the trace of days before those that are kept, nothing
      else: no document, log, account or result. What was not ingested of them cannot be audited.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from groupcore.aio.private import make_folder
from server.accounts.erased_file import NAME as ERASED
from server.accounts.erased_file import note_beside
from server.backup.archive import Reader, summary
from server.backup.keys import keys_path
from server.backup.sealing import Sealing
from server.backup.taking import take
from server.console.colleagues import Shown
from server.console.operations import Operation, Work
from server.errors import BadMessageError, ServerError
from server.node import Node
from server.rest import key_flag, read_rest
from server.settings import Settings
from server.trace.days import pruned

FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}\.tar")
FOLDER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
SHOWN_MAX = 200


def folder_of(settings: Settings) -> Path:
    """Where backups lie; BadMessageError `no_backups` where no folder is set."""
    if settings.backups is None:
        raise BadMessageError(
            "no_backups", "this node has no folder for backups; give it --backups DIR"
        )
    return settings.backups


def listed(settings: Settings) -> list[Shown] | None:
    """The backups of this node, the newest first; None where no folder is set."""
    if settings.backups is None:
        return None
    found = []
    with suppress(OSError):
        for path in settings.backups.glob("*.tar"):
            if FILE.fullmatch(path.name):
                status = path.stat()
                found.append(
                    {"file": path.name, "bytes": status.st_size, "made_s": status.st_mtime}
                )
    return sorted(found, key=lambda one: str(one["file"]), reverse=True)[:SHOWN_MAX]


def backup_path(settings: Settings, file: str) -> Path:
    """A backup that is there; BadMessageError `no_such_backup`."""
    path = folder_of(settings) / file
    if FILE.fullmatch(file) is None or not path.is_file():
        raise BadMessageError("no_such_backup", f"there is no backup {file[:64]!r} at this node")
    return path


# --- backup and verify ----------------------------------------------------------------------------


def taking(node: Node) -> tuple[str, Work]:
    """The name of a backup, and the work of taking it (U1)."""
    folder = folder_of(node.settings)
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    path = folder / f"{node.settings.cluster}-{stamp}.tar"
    if FILE.fullmatch(path.name) is None:
        path = folder / f"groupcore-{stamp}.tar"

    async def work(operation: Operation) -> Shown:
        await asyncio.to_thread(make_folder, folder)
        accounts = node.files.accounts
        aside = path.with_name(path.name + ".part")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(await asyncio.to_thread(os.open, aside, flags, 0o600), "wb") as file:
            sealing = Sealing(file, node.seals.rest)
            try:
                async for piece in take(node):
                    operation.step(len(piece))
                    await asyncio.to_thread(sealing.write, piece)
                await asyncio.to_thread(sealing.end)
                await asyncio.to_thread(_sync, file.fileno(), file.flush)
                await asyncio.to_thread(sealing.write_keys, aside)
                found = await asyncio.to_thread(Reader, aside, rest=node.seals.rest)
                await asyncio.to_thread(_named, aside, path)
                await asyncio.to_thread(note_beside, path, dict(accounts.erased))
                await node.kept_backups.erase([*accounts.doomed, *accounts.gone])
                node.last_backup.note()
            finally:
                aside.unlink(missing_ok=True)
                keys_path(aside).unlink(missing_ok=True)
        return {"file": path.name, **summary(found)}

    return path.name, work


def _named(aside: Path, path: Path) -> None:
    """Give a backup its name, its keys before it; FileExistsError, with nothing overwritten."""
    if keys_path(aside).exists():
        os.link(keys_path(aside), keys_path(path))
    os.link(aside, path)


def _sync(descriptor: int, flush: Callable[[], None]) -> None:
    flush()
    os.fsync(descriptor)


def verifying(settings: Settings, file: str) -> Work:
    """Compare every byte with its hash (U2)."""
    path = backup_path(settings, file)

    async def work(operation: Operation) -> Shown:
        operation.total = path.stat().st_size
        rest = read_rest(settings.data_key_file)
        reader = await asyncio.to_thread(Reader, path, operation.step, rest)
        operation.done = operation.total
        return {"file": file, **summary(reader)}

    return work


# --- restore --------------------------------------------------------------------------------------


def restoring(settings: Settings, file: str, name: str) -> Work:
    """Put a backup back into a new folder `name` beside it (U3)."""
    path = backup_path(settings, file)
    target = folder_of(settings) / name
    if FOLDER.fullmatch(name) is None:
        raise BadMessageError("bad_request", "a folder has letters, digits, - and _ in its name")
    aside = target.with_name(f"{name}.part")
    if target.exists() or aside.exists():
        raise BadMessageError("taken", f"{name} is there already; nothing is overwritten")
    command = [sys.executable, "-m", "server", "backup", "restore", str(path), "--json"]
    command += ["--data", str(aside), "--progress"]
    if settings.key_file is not None:
        command += ["--key-file", str(settings.key_file)]
    command += key_flag(settings.data_key_file)
    erased = settings.data / ERASED
    if erased.is_file():
        command += ["--erased", str(erased)]

    async def work(operation: Operation) -> Shown:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        try:
            said = await _watched(process, operation)
            found = json.loads(said)
            await asyncio.to_thread(aside.rename, target)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
            await asyncio.to_thread(_removed, aside)
        return {**found, "data": str(target)}

    return work


async def _watched(process: asyncio.subprocess.Process, operation: Operation) -> bytes:
    """What the program prints in the end; its progress goes into the operation."""
    assert process.stdout is not None, "it was begun with a pipe"
    assert process.stderr is not None, "it was begun with a pipe"
    last = b""
    async for line in process.stderr:
        operation.check()
        try:
            told = json.loads(line)
            operation.done, operation.total = int(told["documents"]), int(told["of"])
        except (ValueError, LookupError, TypeError):
            last = line.strip() or last
    said = await process.stdout.read()
    if await process.wait():
        raise ServerError(last.decode(errors="replace")[:500] or "the backup was not put back")
    return said


def _removed(folder: Path) -> None:
    """What was only half done goes."""
    shutil.rmtree(folder, ignore_errors=True)


# --- prune ----------------------------------------------------------------------------------------


async def pruning(settings: Settings, days: int, *, remove: bool) -> Shown:
    """What of this node's trace is older than so many whole days beside today, and is removed if
    that is asked (U4). A node that writes no trace has nothing to remove.
    """
    trace = settings.trace
    if trace is None or not trace.is_dir():
        return {"trace": False, "segments": 0, "bytes": 0, "days": 0, "first": "", "last": ""}
    first = datetime.now(UTC).date() - timedelta(days=days)
    rows = await asyncio.to_thread(pruned, trace, first, remove, settings.node_id)
    dates = sorted({str(row["date"]) for row in rows})
    return {
        "trace": True,
        "segments": sum(int(str(row["segments"])) for row in rows),
        "bytes": sum(int(str(row["bytes"])) for row in rows),
        "days": len(dates),
        "first": dates[0] if dates else "",
        "last": dates[-1] if dates else "",
    }
