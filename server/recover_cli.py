"""`python -m server recover --without NODE`: go on without nodes that never come back.

Without `--without` it says who is waited for, and why. It asks twice; a program says
`--yes-i-may-lose` twice. Exit codes: 0 done, or nothing is waited for, 1 refused or no node there,
2 wrong use, 3 somebody is waited for.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from server.command_line import OneLineParser, add_admin, add_json
from server.console_cli import LookError
from server.errors import ServerError, SettingsProblem
from server.management_client import ManagementClient, managed

Shown = dict[str, Any]
GROUPS_SHOWN = 10
WAIT_S = 60.0
"""So long the command waits until the node serves."""
AGAIN_S = 0.5


def make_parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = OneLineParser(
        prog="python -m server recover",
        description="Go on without nodes that never come back; say who is waited for.",
    )
    add_admin(parser)
    add_json(parser)
    parser.add_argument(
        "--without", action="append", default=[], metavar="NODE", help="one that never comes back"
    )
    parser.add_argument(
        "--yes-i-may-lose",
        action="count",
        default=0,
        help="instead of the two questions: give it twice",
    )
    return parser


def run_recover_command(arguments: Sequence[str]) -> None:
    """Do it and print what came of it; ServerError says what is wrong."""
    given = make_parser().parse_args(list(arguments[1:]))
    asyncio.run(_run(given))


async def _run(given: argparse.Namespace) -> None:
    async with managed(given, "this node knows no recovery; it is of before it") as node:
        found: Shown = await node.ask("GET", "/recovery")
        if not given.without:
            print(json.dumps(found) if given.json else "\n".join(lines_of(found)))
            if found["awaited"]:
                raise LookError(f"waits for {', '.join(found['awaited'])}")
            return
        if not found["awaited"]:
            raise ServerError("this node waits for nobody that could be gone on without")
        if not given.json:
            print("\n".join(lines_of(found)))
        agree(sorted(given.without), given.yes_i_may_lose)
        body = {"without": sorted(given.without), "plan": found["plan"], "may_be_lost": True}
        await node.ask("POST", "/recovery", body)
        status = await _served(node)
        view = status["view"]
        if given.json:
            print(json.dumps({"without": body["without"], "view": view}))
        else:
            print(f"the cluster goes on without {', '.join(body['without'])}: view {view['id']}")


async def _served(node: ManagementClient) -> Shown:
    until = time.monotonic() + WAIT_S
    while True:
        status: Shown = await node.ask("GET", "/status")
        if status["state"] == "serving":
            return status
        if time.monotonic() > until:
            raise ServerError("the node does not serve yet; see what it waits for with `recover`")
        await asyncio.sleep(AGAIN_S)


def agree(names: list[str], said: int, answer: Callable[[str], str] | None = None) -> None:
    """Ask twice, unless it was said twice; ServerError without both answers."""
    if said >= 2:
        return
    if said or (answer is None and not sys.stdin.isatty()):
        raise SettingsProblem("give --yes-i-may-lose twice, or answer the two questions at a shell")
    ask = answer or input
    missing = ", ".join(names)
    first = ask(f"Are the folders of {missing} lost for good? Type yes: ")
    if first.strip() != "yes":
        raise ServerError("nothing was done: bring the folder back, and start that node")
    last = ask(f"What only {missing} had may be lost. Type the names again to go on: ")
    if sorted(last.replace(",", " ").split()) != names:
        raise ServerError("nothing was done")


def lines_of(found: Shown) -> list[str]:
    """What is waited for, and what may be lost, as people read it."""
    waiting: Shown | None = found["waiting"]
    if not found["awaited"] or waiting is None:
        return ["nothing is waited for" if waiting is None else waiting["text"]]
    awaited = ", ".join(found["awaited"])
    groups = found["groups"]
    until = found["kept_until"]
    since = "" if until is None else time.strftime(" %Y-%m-%d %H:%M:%S UTC", time.gmtime(until))
    lines = [
        waiting["text"],
        f"waits for  {awaited}",
        f"goes on    with {', '.join(found['goes_on_with'])}",
        f"kept       what those have: {len(groups)} groups, written until{since or ' now'}",
        *(
            f"             {one['group']} up to {one['epoch']}.{one['kept_to']}"
            for one in groups[:GROUPS_SHOWN]
        ),
    ]
    if len(groups) > GROUPS_SHOWN:
        lines.append(f"             and {len(groups) - GROUPS_SHOWN} more (--json lists them all)")
    lines.append(
        f"may be lost  whatever {awaited} saved without the others, in any group, behind these "
        "numbers"
    )
    return lines
