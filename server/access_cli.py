"""`python -m server access ls|create|revoke ...`: tokens of a node's management address.

A token is good at the node that has made it. Exit codes: 0 done, 1 refused or no node there, 2
wrong use.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from groupcore.aio.private import FILE_MODE
from server.command_line import OneLineParser, add_list, add_verbs, common_options
from server.errors import ServerError, SettingsProblem
from server.management.ranks import GIVEN
from server.management_client import Shown, managed

DAYS = 90


def make_parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = OneLineParser(
        prog="python -m server access", description="Tokens of a node's management address."
    )
    verbs = add_verbs(parser)
    common = common_options()
    add_list(verbs, [common], "all tokens of the node")
    create = verbs.add_parser("create", parents=[common], help="make one; it is said once")
    create.add_argument("name", help="whose it is, as the audit log has it")
    create.add_argument("--rank", choices=tuple(GIVEN), required=True)
    create.add_argument("--days", type=int, default=DAYS)
    create.add_argument(
        "--out", type=Path, metavar="FILE", help="write it there, and do not say it"
    )
    verbs.add_parser("revoke", parents=[common], help="revoke one").add_argument("id")
    return parser


def run_access_command(arguments: Sequence[str]) -> None:
    """Do it and print what came of it; ServerError says what is wrong."""
    given = make_parser().parse_args(list(arguments[1:]))
    if given.verb == "create" and given.out is not None and given.out.exists():
        raise SettingsProblem(f"{given.out} is there already; a token overwrites nothing")
    found = asyncio.run(_asked(given))
    if given.verb == "create" and given.out is not None:
        _write(given.out, str(found.pop("secret")))
    print(json.dumps(found, ensure_ascii=False) if given.json else "\n".join(lines_of(found)))


async def _asked(given: argparse.Namespace) -> Shown:
    async with managed(given, "this node knows no tokens; it is of before them") as node:
        match given.verb:
            case "ls":
                return await node.ask("GET", "/access")
            case "create":
                body = {"name": given.name, "rank": given.rank, "valid_days": given.days}
                return await node.ask("POST", "/access", body)
            case _:
                return await node.ask("DELETE", f"/access/{quote(given.id, safe='')}")


def lines_of(found: Shown) -> list[str]:
    """A line for each token, and one for the secret of a new one."""
    rows = found.get("tokens")
    if isinstance(rows, list):
        return [_line(one) for one in rows] or ["no tokens"]
    if "id" not in found:
        return ["done"]
    secret = [str(found["secret"])] if "secret" in found else []
    return [_line(found), *secret]


def _line(token: Shown) -> str:
    until = time.strftime("%Y-%m-%d", time.gmtime(float(str(token["expires_s"]))))
    return f"{token['id']}  {token['name']}  {token['rank']}  until {until}"


def _write(path: Path, secret: str) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secret + "\n")
    except OSError as error:
        problem = f"{path} cannot be written: {error.strerror}; revoke the token, make another"
        raise ServerError(problem) from None
