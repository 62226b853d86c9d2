"""`python -m server node|group|migration|session ...`: the console from a shell.

What a page of the console shows and does, by a node's management address. Exit codes: 0 done,
1 refused or no node there, 2 wrong use, 3 it works, but something wants to be looked at (`status`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, urlencode

import aiohttp

from server.console.groups import SORTS
from server.errors import ServerError
from server.management_client import ADMIN_URL, LIMIT_S, ManagementClient
from server.people_cli import OneLineParser

TOPICS = ("status", "node", "group", "migration", "session")
Shown = dict[str, Any]


class LookError(ServerError):
    """The cluster works, and something wants to be looked at."""

    exit_code = 3


def make_parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = OneLineParser(prog="python -m server", description="Who runs the cluster, at it.")
    topics = parser.add_subparsers(dest="topic", required=True, parser_class=OneLineParser)
    common = OneLineParser(add_help=False)
    common.add_argument("--admin", default=ADMIN_URL, help="a node's management address")
    common.add_argument("--json", action="store_true", help="print JSON")
    topics.add_parser("status", parents=[common], help="how the cluster stands")

    def verbs_of(topic: str, text: str) -> argparse._SubParsersAction[OneLineParser]:
        return topics.add_parser(topic, help=text).add_subparsers(
            dest="verb", required=True, parser_class=OneLineParser
        )

    node = verbs_of("node", "nodes")
    node.add_parser("ls", parents=[common], help="all nodes, as they stand")
    for verb, text in (
        ("show", "its settings, and what it has dropped"),
        ("drain", "have it sequence nothing any more"),
        ("revive", "let it sequence again"),
        ("leave", "have it leave the cluster, and end"),
    ):
        node.add_parser(verb, parents=[common], help=text).add_argument("node")
    node.add_parser("rotate-key", parents=[common], help="all take the newest key of their files")
    group = verbs_of("group", "groups")
    listed = group.add_parser("ls", parents=[common], help="a page of them")
    listed.add_argument("--search", default="", help="a part of the name, or the number")
    listed.add_argument("--sequencer", default="", help="only those of this node")
    listed.add_argument("--sort", default="messages", choices=tuple(SORTS))
    listed.add_argument("--page", type=int, default=1)
    group.add_parser("show", parents=[common], help="one, closely").add_argument("group")
    move = group.add_parser("migrate", parents=[common], help="have it sequenced elsewhere")
    move.add_argument("group")
    move.add_argument("node")
    migration = verbs_of("migration", "moves of groups")
    migration.add_parser("ls", parents=[common], help="the last ones")
    migration.add_parser("cancel", parents=[common], help="call one off").add_argument("move")
    session = verbs_of("session", "sessions of pages")
    listed = session.add_parser("ls", parents=[common], help="who is connected where")
    listed.add_argument("--search", default="", help="a part of the name")
    listed.add_argument("--page", type=int, default=1)
    session.add_parser("end", parents=[common], help="end one").add_argument("session")
    return parser


def run_console_command(arguments: Sequence[str]) -> None:
    """Do it and print what came of it; ServerError says what is wrong."""
    given = make_parser().parse_args(list(arguments))
    found = asyncio.run(_asked(given))
    if given.json:
        print(json.dumps(found, ensure_ascii=False))
    else:
        print("\n".join(lines_of(given, found)))
    if given.topic == "status" and found["health"] != "good":
        raise LookError("something wants to be looked at")


async def _asked(given: argparse.Namespace) -> Shown:
    timeout = aiohttp.ClientTimeout(total=LIMIT_S)
    async with aiohttp.ClientSession(timeout=timeout) as http:
        absent = "this node knows no console; it is of before it"
        node = ManagementClient(http, given.admin, absent)
        method, path, body = request_of(given)
        return await node.ask(method, path, body)


def request_of(given: argparse.Namespace) -> tuple[str, str, object]:
    """Method, path below `/admin` and body of what is asked for."""
    named = quote(str(getattr(given, "node", "")), safe="")
    match given.topic, getattr(given, "verb", ""):
        case ("status", _) | ("node", "ls"):
            return "GET", "/overview", None
        case "node", "show":
            return "GET", f"/nodes/{named}", None
        case "node", "rotate-key":
            return "POST", "/keys/rotate", None
        case "node", verb:
            return "POST", f"/nodes/{named}/{verb}", None
        case "group", "ls":
            names = ("search", "sequencer", "sort", "page")
            return "GET", f"/groups?{urlencode({one: getattr(given, one) for one in names})}", None
        case "group", "show":
            return "GET", f"/groups/{quote(given.group, safe='')}", None
        case "group", _:
            return "POST", "/migrations", {"group": given.group, "to": given.node}
        case "migration", "ls":
            return "GET", "/migrations", None
        case "migration", _:
            return "POST", f"/migrations/{quote(given.move, safe='')}/cancel", None
        case _, "ls":
            query = urlencode({"search": given.search, "page": given.page})
            return "GET", f"/sessions?{query}", None
        case _:
            return "POST", "/sessions/end", {"session": given.session}


# --- as people read it ----------------------------------------------------------------------------


def lines_of(given: argparse.Namespace, found: Shown) -> list[str]:
    """A line for each thing."""
    match given.topic, getattr(given, "verb", ""):
        case "status", _:
            return _overview(found)
        case "node", "ls":
            return [_node(one) for one in found["nodes"]]
        case "node", "show":
            return _details(found)
        case "group", "ls":
            rows = [_group(one) for one in found["groups"]]
            return [*rows, f"page {found['page']} of {found['pages']}, {found['count']} in all"]
        case "group", "show":
            return _one_group(found)
        case "migration", "ls":
            return [_move(one) for one in found["migrations"]] or ["nothing has moved"]
        case "session", "ls":
            rows = [_session(one) for one in found["sessions"]]
            return [*rows, f"page {found['page']} of {found['pages']}, {found['count']} in all"]
        case _:
            return ["  ".join(f"{name}={value}" for name, value in found.items()) or "done"]


def _overview(found: Shown) -> list[str]:
    alerts = [
        f"  {one['level']:<5} {one['code']}  "
        + "  ".join(f"{name}={value}" for name, value in one["about"].items())
        for one in found["alerts"]
    ]
    head = f"cluster {found['cluster']}: {found['health']}, {found['groups']} groups"
    return [head, *alerts, *(f"  {_node(one)}" for one in found["nodes"])]


def _node(one: Shown) -> str:
    stands = one["standing"]
    if stands is None:
        return f"{one['node']}  does not answer"
    state = "drained" if one["draining"] else stands["state"]
    return (
        f"{one['node']}  {state}  groups={stands['groups_sequenced']}"
        f"  sessions={stands['sessions']}  behind={stands['behind']}"
        f"  messages/s={stands['messages']:.0f}  wait_ms={stands['wait_ms']:.1f}"
        f"  cpu={stands['cpu']:.0f}%  version={stands['version']}"
    )


def _details(found: Shown) -> list[str]:
    settings = [
        f"{one['flag']}  {'(set)' if one['masked'] else one['value'] or '-'}"
        for one in found["settings"]
    ]
    return [*settings, *(f"dropped  {reason}={count}" for reason, count in found["drops"].items())]


def _group(one: Shown) -> str:
    goes = f" -> {one['moving_to']}" if one["moving_to"] else ""
    return (
        f"{one['group']}  {one['name']}  {one['sequencer']}{goes}  {one['order']}"
        f"  epoch={one['epoch']}  head={one['head']}  members={one['members']}"
        f"  messages/s={one['messages']}  history={one['history_bytes']}"
    )


def _one_group(found: Shown) -> list[str]:
    nodes = [
        f"  node {one['node']}  "
        + ("does not answer" if one["silent"] else f"position={one.get('position')}")
        for one in found["nodes"]
    ]
    people = [
        f"  member {one['node']}/{one['process']}  {one['name'] or '-'}  since={one['since']}"
        + ("  behind" if one["behind"] else "")
        for one in found["people"]
    ]
    return [_group(found), *nodes, *people]


def _move(one: Shown) -> str:
    names = ", ".join(group["name"] for group in one["groups"][:3])
    more = f" and {one['count'] - 3} more" if one["count"] > 3 else ""
    pause = "" if one["pause_ms"] is None else f"  pause_ms={one['pause_ms']}"
    began = datetime.fromtimestamp(one["began_s"], UTC).isoformat(timespec="seconds")
    return (
        f"{began}  {one['move']}  {one['source']} -> {one['target']}  {one['reason']}"
        f"  {one['phase']}{pause}  held={one['held']}  {names}{more}"
    )


def _session(one: Shown) -> str:
    name = one["name"] or one["principal"] or "-"
    here = "" if one["connected"] else "  away"
    return (
        f"{one['session']}  {name}  objects={one['objects']}  withheld={one['withheld']}"
        f"  unsent={one['buffered_bytes']}{here}"
    )
