"""`python -m server status|node|group|overlap|view|migration|session|order ...`: the console.

What its pages show and do, from a shell, by a node's management address. Exit codes: 0 done,
1 refused, no node there, or the last audit does not show that the order was kept (`order show`),
2 wrong use, 3 something wants to be looked at (`status`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

from server.command_line import OneLineParser, Verbs, add_list, add_verbs, common_options
from server.console.groups import SORTS
from server.console.health import is_broken
from server.console_lines import lines_of
from server.errors import ServerError
from server.management_client import managed

Shown = dict[str, Any]


class LookError(ServerError):
    """Something wants to be looked at."""

    exit_code = 3


def make_parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = OneLineParser(prog="python -m server", description="Who runs the cluster, at it.")
    topics = parser.add_subparsers(dest="topic", required=True, parser_class=OneLineParser)
    common = common_options()
    topics.add_parser("status", parents=[common], help="how the cluster stands")

    def verbs_of(topic: str, text: str) -> Verbs:
        return add_verbs(topics.add_parser(topic, help=text))

    node = verbs_of("node", "nodes")
    add_list(node, [common], "all nodes, as they stand")
    for verb, text in (
        ("show", "its settings, and what it has dropped"),
        ("drain", "have it sequence nothing any more"),
        ("revive", "let it sequence again"),
        ("leave", "have it leave the cluster, and end"),
        ("destroyed", "its folder is no more: nobody waits for it to erase what was deleted"),
    ):
        node.add_parser(verb, parents=[common], help=text).add_argument("node")
    node.add_parser("load", parents=[common], help="what each did in its last second")
    node.add_parser("rotate-key", parents=[common], help="all take the newest key of their files")
    group = verbs_of("group", "groups")
    listed = add_list(group, [common], "a page of them")
    listed.add_argument("--search", default="", help="a part of the name, or the number")
    listed.add_argument("--sequencer", default="", help="only those of this node")
    listed.add_argument("--sort", default="messages", choices=tuple(SORTS))
    _with_page(listed)
    group.add_parser("show", parents=[common], help="one, closely").add_argument("group")
    move = group.add_parser("migrate", parents=[common], help="have it sequenced elsewhere")
    move.add_argument("group")
    move.add_argument("node")
    overlap = verbs_of("overlap", "which groups hang together")
    _with_page(add_list(overlap, [common], "the components, largest first"))
    one = overlap.add_parser("show", parents=[common], help="what a move or a split would cost")
    one.add_argument("group")
    _with_page(one)
    view = verbs_of("view", "views: lists of nodes that all agree on")
    _with_page(add_list(view, [common], "those that there were, newest first"))
    migration = verbs_of("migration", "moves of groups")
    add_list(migration, [common], "the last ones")
    migration.add_parser("cancel", parents=[common], help="call one off").add_argument("move")
    session = verbs_of("session", "sessions of pages")
    listed = add_list(session, [common], "who is connected where")
    listed.add_argument("--search", default="", help="a part of the name")
    _with_page(listed)
    session.add_parser("end", parents=[common], help="end one").add_argument("session")
    order = verbs_of("order", "whether the order was kept")
    order.add_parser("show", parents=[common], help="the certificate of the last audit")
    listed = add_list(order, [common], "what the last audit has found")
    listed.add_argument("--rule", default="", help="only of this rule")
    _with_page(listed)
    one = order.add_parser("violation", parents=[common], help="one, with the deliveries around it")
    one.add_argument("violation")
    return parser


def _with_page(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--page", type=int, default=1)


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
    if (given.topic, getattr(given, "verb", "")) == ("order", "show"):
        _check(found["audit"])


def _check(audit: Shown | None) -> None:
    """ServerError where the last audit found the order broken, or where that cannot be told."""
    if audit is not None and not audit["signed"]:
        raise ServerError("the certificate is not as it was signed: trust nothing in it")
    if audit is not None and is_broken(audit):
        raise ServerError("the order was broken; `order ls` lists what was found")


async def _asked(given: argparse.Namespace) -> Shown:
    async with managed(given, "this node knows no console; it is of before it") as node:
        method, path, body = request_of(given)
        return await node.ask(method, path, body)


def request_of(given: argparse.Namespace) -> tuple[str, str, object]:
    """Method, path below `/admin` and body of what is asked for."""
    match given.topic, getattr(given, "verb", ""):
        case ("status", _) | ("node", "ls"):
            return "GET", "/overview", None
        case "node", verb:
            return _of_nodes(given, verb)
        case "group", "migrate":
            return "POST", "/migrations", {"group": given.group, "to": given.node}
        case "migration", "cancel":
            return "POST", f"/migrations/{_quoted(given.move)}/cancel", None
        case "session", "end":
            return "POST", "/sessions/end", {"session": given.session}
        case topic, "ls":
            path = {"order": "order/violations"}.get(
                topic, f"{topic}s".replace("overlaps", "overlap")
            )
            return "GET", f"/{path}?{_query(given)}", None
        case "order", "show":
            return "GET", "/order", None
        case "order", _:
            return "GET", f"/order/violations/{_quoted(given.violation)}", None
        case "overlap", _:
            return "GET", f"/overlap/{_quoted(given.group)}?{_query(given)}", None
        case _:
            return "GET", f"/groups/{_quoted(given.group)}", None


def _of_nodes(given: argparse.Namespace, verb: str) -> tuple[str, str, object]:
    match verb:
        case "load":
            return "GET", "/load", None
        case "rotate-key":
            return "POST", "/keys/rotate", None
        case "show":
            return "GET", f"/nodes/{_quoted(given.node)}", None
        case "destroyed":
            return "POST", "/destroyed", {"node": given.node}
    return "POST", f"/nodes/{_quoted(given.node)}/{verb}", None


def _quoted(name: str) -> str:
    return quote(name, safe="")


def _query(given: argparse.Namespace) -> str:
    """What was said of these; a page is always said."""
    names = ("search", "sequencer", "sort", "rule", "page")
    return urlencode({name: getattr(given, name) for name in names if hasattr(given, name)})
