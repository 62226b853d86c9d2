"""What the command lines have in common: errors in one line, their options, and how lists are asked
for.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, TypeAlias

from server.errors import SettingsProblem

ADMIN_URL = "http://127.0.0.1:9000"
"""Where a node is managed, unless it was told otherwise."""


class OneLineParser(argparse.ArgumentParser):
    """Says what is wrong in one line, as everything here does."""

    def error(self, message: str) -> NoReturn:
        raise SettingsProblem(f"{self.prog}: {message}; see --help")


Verbs: TypeAlias = "argparse._SubParsersAction[OneLineParser]"
"""The verbs of a command; a class that takes no parameter at run time."""


def add_verbs(parser: argparse.ArgumentParser) -> Verbs:
    """What it can do, one of which has to be said: `verb`."""
    return parser.add_subparsers(dest="verb", required=True, parser_class=OneLineParser)


def add_list(verbs: Verbs, parents: Sequence[OneLineParser], text: str) -> OneLineParser:
    """The verb that lists: `ls` or `list`, whichever one is used to."""
    listed = verbs.add_parser("ls", aliases=["list"], parents=list(parents), help=text)
    listed.set_defaults(verb="ls")
    return listed


def add_admin(parser: argparse.ArgumentParser, *names: str) -> None:
    """Which node is asked: `admin`; `names`: what the option is called beside `--admin`."""
    text = "a node's management address, or unix: and its --data folder"
    parser.add_argument("--admin", *names, dest="admin", default=ADMIN_URL, help=text)
    add_credentials(parser)


def add_credentials(parser: argparse.ArgumentParser) -> None:
    """What is shown there; for a node of the same user at this machine it is found."""
    for option, text in (
        ("--token-file", "file with a token of the management address"),
        ("--ca", "certificate of the authority that vouches for a node's https"),
        ("--cert", "certificate to show there"),
        ("--cert-key", "its key"),
    ):
        parser.add_argument(option, type=Path, metavar="FILE", help=text)


def aside_of(path: Path, what: str) -> Path:
    """Where a file is until it is whole; SettingsProblem when there is one of this name."""
    if path.exists():
        raise SettingsProblem(f"{path} is there already; {what} overwrites nothing")
    return path.with_name(path.name + ".part")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Whether it prints for programs."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def common_options() -> OneLineParser:
    """Which node is asked, and how its answer is printed."""
    common = OneLineParser(add_help=False)
    add_admin(common)
    add_json(common)
    return common
