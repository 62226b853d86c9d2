"""`python -m server operation ...`: backups, their check and restoration, and pruning, at a node.

What the console's page of operations does, by a node's management address. An operation goes on at
the node when the command has ended; `--wait` waits for its end. Exit codes: 0 done or begun, 1 it
failed, was refused, or no node is there, 2 wrong use.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from server.command_line import OneLineParser, add_list, add_verbs, common_options
from server.errors import ServerError
from server.management_client import managed

POLL_S = 0.5
RUNNING = "running"
Shown = dict[str, Any]


def make_parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = OneLineParser(prog="python -m server operation", description="Long work at a node.")
    verbs = add_verbs(parser)
    common = common_options()
    begun = OneLineParser(add_help=False)
    begun.add_argument("--wait", action="store_true", help="until it is over")
    add_list(verbs, [common], "operations of all nodes, and backups here")
    for verb, text in (("show", "how far one is"), ("cancel", "call one off")):
        verbs.add_parser(verb, parents=[common], help=text).add_argument("operation")
    new = [common, begun]
    verbs.add_parser("backup", parents=new, help="take one into the node's --backups folder")
    verify = verbs.add_parser("verify", parents=new, help="compare every byte with its hash")
    restore = verbs.add_parser("restore", parents=new, help="fill a new folder from it")
    for one in (verify, restore):
        one.add_argument("file", help="as `operation ls` names it")
    restore.add_argument("folder", help="name of the new folder beside the backups")
    prune = verbs.add_parser("prune", parents=new, help="remove old trace at all nodes")
    prune.add_argument("--days", type=int, required=True, help="whole days to keep beside today")
    prune.add_argument("--dry-run", action="store_true", help="say what would go")
    return parser


def run_operation_command(arguments: Sequence[str]) -> None:
    """Do it and print what came of it; ServerError says what is wrong."""
    given = make_parser().parse_args(list(arguments[1:]))
    found = asyncio.run(_asked(given))
    if given.json:
        print(json.dumps(found, ensure_ascii=False))
    elif given.verb == "ls":
        print("\n".join(_all(found)))
    else:
        print(_line(found))
    if found.get("state") in ("failed", "lost"):
        raise ServerError(str(found["problem"]))


async def _asked(given: argparse.Namespace) -> Shown:
    async with managed(given, "this node knows no operations") as node:
        found = await node.ask(*_request(given))
        while getattr(given, "wait", False) and found["state"] == RUNNING:
            await asyncio.sleep(POLL_S)
            found = await node.ask("GET", f"/operations/{quote(str(found['id']), safe='')}")
        return found


def _request(given: argparse.Namespace) -> tuple[str, str, object]:
    """Method, path below `/admin` and body of what is asked for."""
    match given.verb:
        case "ls":
            return "GET", "/operations", None
        case "show":
            return "GET", f"/operations/{quote(given.operation, safe='')}", None
        case "cancel":
            return "POST", f"/operations/{quote(given.operation, safe='')}/cancel", None
    names = {"verify": ("file",), "restore": ("file", "folder"), "prune": ("days", "dry_run")}
    body = {name: getattr(given, name) for name in names.get(given.verb, ())}
    return "POST", "/operations", {"what": given.verb, **body}


def _all(found: Shown) -> list[str]:
    backups = [f"{one['file']}  {one['bytes']} B" for one in found["backups"] or ()]
    return [*map(_line, found["operations"]), *backups] or ["nothing was begun"]


def _line(one: Shown) -> str:
    total = f" of {one['total']}" if one["total"] else ""
    result = "  ".join(f"{name}={value}" for name, value in one["result"].items())
    return (
        f"{one['id']}  {one['what']}  {one['about']}  {one['state']}"
        f"  {one['done']}{total} {one['unit']}  {result or one['problem']}"
    ).rstrip()
