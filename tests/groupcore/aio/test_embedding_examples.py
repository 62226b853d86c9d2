"""The programs of docs/embedding.md, run as they stand on the loopback interface."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, cast

import pytest

from tests.groupcore.aio.pages import programs, set_apart

PAGE = "embedding.md"

pytestmark = pytest.mark.slow


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Run the program under a heading; gives its names."""
    set_apart(monkeypatch)
    return lambda heading, name="__main__": programs(PAGE)[heading].run(name)


Run = Callable[..., dict[str, Any]]
Main = Callable[[str], Coroutine[Any, Any, None]]


def test_two_programs_print_the_same_greetings_in_one_order(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    main = cast(Main, run("A working channel", "hello")["main"])

    async def both() -> None:
        await asyncio.gather(main("a"), main("b"))

    asyncio.run(both())
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert sorted(set(lines)) in (
        ["1 a hello from a", "2 b hello from b"],
        ["1 b hello from b", "2 a hello from a"],
    )


@pytest.mark.parametrize(
    ("heading", "printed"),
    [
        (
            "Views",
            "view 1 ('a',)\nview 2 ('a', 'b')\nb I am here\nview 3 ('a',)\n",
        ),
        ("A shared object in ten lines", "1 2 2\n"),
        ("Unicast", "b 0 just for you\n"),
        ("Joining with state", "['before', 'after'] True\n"),
        ("Without multicast", "b no multicast needed\n"),
        ("Fast", "1000\n"),
        (
            "Errors",
            "IdInUseError another live node is called 'a'; give this one its own\n",
        ),
    ],
)
def test_a_program_of_the_page_prints_what_the_page_says(
    run: Run, capsys: pytest.CaptureFixture[str], heading: str, printed: str
) -> None:
    run(heading)
    assert capsys.readouterr().out == printed


def test_the_ledger_goes_on_after_both_nodes_have_restarted(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    run("What is saved")
    lines = capsys.readouterr().out.splitlines()
    assert sorted(lines[:2]) == ["a saved 1.3", "b saved 1.3"]
    assert sorted(lines[2:]) == ["a saved 2.5", "b saved 2.5"]


def test_every_program_of_the_page_is_run() -> None:
    assert sorted(programs(PAGE)) == [
        "A shared object in ten lines",
        "A working channel",
        "Errors",
        "Fast",
        "Joining with state",
        "Unicast",
        "Views",
        "What is saved",
        "Without multicast",
    ]
