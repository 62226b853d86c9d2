"""`python -m server backup create|verify|restore|erase ...`.

Exit codes: 0 done, 1 no node there or it refused, 2 wrong use, 4 a damaged file, 5 another version.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import aiohttp

from groupcore.aio.rest_key import RestKey
from server.accounts.erased_file import NAME as ERASED
from server.accounts.erased_file import Known, erased_from, erased_in, merged, note_beside
from server.backup.archive import Manifest, Reader, summary
from server.backup.keys import erase, keys_path
from server.backup.restoring import Restored, check_empty, restore
from server.backup.sealing import MAGIC, Sealing, backup_key, magic_of
from server.command_line import OneLineParser, add_admin, add_json, add_verbs, aside_of
from server.errors import ServerError, SettingsProblem
from server.management.finding import Way
from server.management_client import management_session, way_of
from server.rest import FLAG, VARIABLE, given_rest
from server.settings import Settings, read_settings

SILENCE_S = 60.0
PART_BYTES = 1 << 18
Shown = dict[str, object]


def make_parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = OneLineParser(prog="python -m server backup", description="Backups of a cluster.")
    verbs = add_verbs(parser)
    common = OneLineParser(add_help=False)
    common.add_argument("file", type=Path, help="the backup")
    add_json(common)
    create = verbs.add_parser("create", parents=[common], help="take one while people write")
    add_admin(create, "--from")
    verbs.add_parser("verify", parents=[common], help="compare every byte with its hash")
    gone = verbs.add_parser(
        "erase", parents=[common], help="have nobody read these documents in it any more"
    )
    gone.add_argument("documents", nargs="+", metavar="ID", help="ids of documents")
    again = verbs.add_parser("restore", parents=[common], help="fill an empty folder from it")
    again.add_argument("--data", type=Path, required=True, help="the folder of one node, empty")
    again.add_argument("--node-id", help="of that node; as in the backup if left out")
    again.add_argument("--cluster", help="its cluster; as in the backup if left out")
    again.add_argument("--key-file", help="file with the cluster key")
    again.add_argument(
        "--erased",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="erased.json of a node, or a later backup: who was erased since; may be repeated",
    )
    again.add_argument(
        "--progress", action="store_true", help="JSON lines on stderr: documents, of"
    )
    return parser


def run_backup_command(arguments: Sequence[str]) -> None:
    """Do it and print what came of it; ServerError says what is wrong."""
    given = make_parser().parse_args(list(arguments[1:]))
    logging.getLogger().setLevel(logging.WARNING)
    match given.verb:
        case "create":
            found = asyncio.run(create(way_of(given), given.file))
        case "verify":
            found = summary(Reader(given.file, rest=given_rest()))
        case "erase":
            found = erase_documents(given.file, given.documents)
        case _:
            found = put_back(given)
    if given.json:
        print(json.dumps(found, ensure_ascii=False))
    else:
        print("  ".join(f"{name}={value}" for name, value in found.items()))


async def create(way: Way, path: Path) -> Shown:
    """Have a node give a backup, verify it, and only then call it by its name."""
    aside = aside_of(path, "a backup")
    try:
        rest = given_rest()
        await _fetch(way, aside, rest)
        reader = Reader(aside, rest=rest)
        erased = erased_in(reader)
        if keys_path(aside).exists():
            keys_path(aside).rename(keys_path(path))
        aside.rename(path)
        note_beside(path, erased)
    except OSError as error:
        raise ServerError(f"{aside} cannot be written: {error.strerror}") from None
    finally:
        aside.unlink(missing_ok=True)
        keys_path(aside).unlink(missing_ok=True)
    return summary(reader)


def erase_documents(path: Path, documents: list[str]) -> Shown:
    """Have nobody be able to read these in the backup; SettingsProblem where it has none of them,
    or no keys of its own for documents."""
    if not path.is_file():
        raise SettingsProblem(f"there is no file {path}")
    if magic_of(path) != MAGIC:
        raise SettingsProblem(
            f"the backup {path} has no keys of its own for documents: it was taken without "
            f"{FLAG}, or by a former version; take a new one, and delete this one"
        )
    try:
        count = erase(path, backup_key(path, given_rest()), documents)
    except OSError as error:
        raise ServerError(f"nothing of {path} was erased: {error}") from None
    if not count:
        raise SettingsProblem(f"{path} has none of these documents, or they are erased already")
    return {"file": str(path), "erased": count}


async def _fetch(way: Way, path: Path, rest: RestKey | None) -> None:
    url = f"{way.url}/admin/backup"
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=SILENCE_S, sock_read=SILENCE_S)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        sealing = Sealing(file, rest)
        try:
            async with management_session(way, timeout) as http, http.get(url) as answer:
                if answer.status != 200:
                    problem = await answer.json(content_type=None)
                    raise ServerError(str(problem.get("detail", answer.status)))
                async for part in answer.content.iter_chunked(PART_BYTES):
                    sealing.write(part)
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise ServerError(f"the backup did not come whole from {way.text}: {error}") from None
        sealing.end()
        file.flush()
        os.fsync(file.fileno())
    sealing.write_keys(path)


def put_back(given: argparse.Namespace) -> Shown:
    """Verify the file, and fill the folder."""
    check_empty(given.data)
    reader = Reader(given.file, rest=given_rest())
    settings = settings_of(given, reader.manifest)
    of = len(reader.manifest.documents) - len(reader.erased_documents())

    def told(found: Restored) -> None:
        if given.progress:
            print(json.dumps({"documents": found.documents, "of": of}), file=sys.stderr, flush=True)

    told(Restored())
    restored = asyncio.run(restore(reader, settings, told, erased_since(given)))
    return {"data": str(given.data), "node_id": settings.node_id, **asdict(restored)}


def erased_since(given: argparse.Namespace) -> Known:
    """Who was erased behind the backup, as far as lists say that are beside it or given.

    Without any it says so: who was erased since is there again.
    """
    beside = given.file.with_name(ERASED)
    lists = [*given.erased, *([beside] if beside.is_file() else [])]
    if not lists:
        logging.getLogger("server").warning(
            "no list says who was erased since this backup was taken: give --erased FILE, "
            "%s of a node or a later backup, or erase them again",
            ERASED,
        )
    rest = given_rest()
    return merged(erased_from(path, rest) for path in lists)


def settings_of(given: argparse.Namespace, manifest: Manifest) -> Settings:
    """Of the node that fills the folder; nobody can reach it."""
    about = manifest.about
    flags = {
        "node-id": given.node_id or about.get("node", ""),
        "cluster": given.cluster or about.get("cluster", ""),
        "data": given.data,
        "accounts": "on" if about.get("accounts") else "off",
        "multicast": "none",
    }
    if given.key_file:
        flags["key-file"] = given.key_file
    if os.environ.get(VARIABLE):
        flags["data-key-file"] = os.environ[VARIABLE]
    return read_settings([f"--{name}={value}" for name, value in flags.items()], {})
