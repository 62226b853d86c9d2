"""`python -m server trace list|prune|pack DIR`: what a trace holds, its end, and a schedule's.

Segments are looked at by their names alone: list and prune work while nodes write. Exit codes: 0
done, 1 the folder cannot be read or written, 2 wrong use, 4 a file that holds no rows.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from server.command_line import OneLineParser, add_json, add_list, add_verbs
from server.errors import ServerError, SettingsProblem
from server.trace.days import listed, pruned


def make_parser() -> argparse.ArgumentParser:
    """What the command line takes."""
    parser = OneLineParser(prog="python -m server trace", description="The trace of the nodes.")
    verbs = add_verbs(parser)
    common = OneLineParser(add_help=False)
    common.add_argument("folder", type=Path, help="the nodes' --trace folder")
    add_json(common)
    add_list(verbs, [common], "days, nodes and kinds, with their sizes")
    prune = verbs.add_parser("prune", parents=[common], help="remove what is older")
    prune.add_argument("--days", type=_days, required=True, help="whole days to keep beside today")
    prune.add_argument("--dry-run", action="store_true", help="say what would go")
    pack = verbs.add_parser("pack", parents=[common], help="make segments of a schedule's rows")
    pack.add_argument("rows", type=Path, help="a file of `python -m groupcore.sim --records`")
    return parser


def run_trace_command(arguments: Sequence[str]) -> None:
    """Do it and print what came of it; ServerError says what is wrong."""
    given = make_parser().parse_args(list(arguments[1:]))
    if given.verb == "pack":
        from server.trace.packing import pack

        pack(given.rows, given.folder)
    if not given.folder.is_dir():
        raise SettingsProblem(f"{given.folder} is no folder; name the nodes' --trace folder")
    try:
        if given.verb != "prune":
            rows = listed(given.folder)
        else:
            today = datetime.now(UTC).date()
            rows = pruned(given.folder, today - timedelta(days=given.days), not given.dry_run)
    except OSError as error:
        raise ServerError(f"{error.filename}: {error.strerror}") from None
    if given.json:
        print(json.dumps({"segments": rows}))
        return
    for row in rows:
        print("{date}  {node}  {kind:10}  {segments:6}  {bytes:12} B".format(**row))
    total = sum(int(str(row["bytes"])) for row in rows)
    gone = "" if given.verb != "prune" else " would go" if given.dry_run else " are gone"
    print(f"{len(rows)} rows, {total} B{gone}")


def _days(text: str) -> int:
    days = int(text) if text.isdecimal() else -1
    if not 0 <= days <= 36_500:
        raise argparse.ArgumentTypeError("must be an integer from 0 to 36500")
    return days
