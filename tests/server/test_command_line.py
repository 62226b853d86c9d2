"""What the command lines have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import pytest

from server import console_cli, doc_cli, operation_cli, people_cli, plan_cli
from server.backup import cli as backup_cli
from server.errors import SettingsProblem
from server.trace import cli as trace_cli

Made = Callable[[], argparse.ArgumentParser]
LISTS: list[tuple[Made, list[str], list[str]]] = [
    (people_cli.make_parser, ["user"], []),
    (people_cli.make_parser, ["token"], []),
    (plan_cli.make_parser, [], []),
    (operation_cli.make_parser, [], []),
    (doc_cli.make_parser, [], []),
    (trace_cli.make_parser, [], ["trace"]),
    *(
        (console_cli.make_parser, [topic], [])
        for topic in ("node", "group", "overlap", "view", "migration", "session", "order")
    ),
]


@pytest.mark.parametrize(("make", "before", "behind"), LISTS)
def test_lists_are_asked_for_by_either_name(
    make: Made, before: list[str], behind: list[str]
) -> None:
    said = [make().parse_args([*before, verb, *behind]) for verb in ("ls", "list")]
    assert said[0] == said[1]
    assert said[0].verb == "ls"


def test_a_backup_is_taken_from_a_node_by_either_option() -> None:
    for option in ("--admin", "--from"):
        given = backup_cli.make_parser().parse_args(["create", "x", option, "http://127.0.0.1:1"])
        assert given.admin == "http://127.0.0.1:1"


def test_what_is_wrong_is_said_in_one_line() -> None:
    with pytest.raises(SettingsProblem, match=r"unrecognized arguments: --no.*; see --help$"):
        plan_cli.make_parser().parse_args(["ls", "--no"])
