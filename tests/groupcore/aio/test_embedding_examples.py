"""The programs of docs/embedding.md, run as they stand on the loopback interface.

Only the multicast port is another one, so that nobody else on this machine is met.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, cast

import pytest

from groupcore import aio
from tests.groupcore.aio.cluster import LIMIT_S, free_port

PAGE = Path(__file__).parents[3] / "docs" / "embedding.md"
HEADING_OR_PROGRAM = re.compile(r"^## ([^\n]+)$|^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.slow


def programs() -> dict[str, str]:
    """The page's programs by the heading that they stand under."""
    found: dict[str, str] = {}
    heading = ""
    for match in HEADING_OR_PROGRAM.finditer(PAGE.read_text(encoding="utf-8")):
        heading = match[1] or heading
        if match[2]:
            assert heading not in found, f"two programs stand under '{heading}'"
            found[heading] = match[2]
    return found


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], dict[str, Any]]:
    """Run the program under a heading; gives its names."""
    group = f"228.8.8.8:{free_port()}"

    class ApartChannel(aio.Channel):
        def __init__(self, cluster: str, **settings: Any) -> None:  # noqa: ANN401
            super().__init__(cluster, **{"multicast": group, **settings})

    def run_bounded(program: Coroutine[Any, Any, None]) -> None:
        loop_run(asyncio.wait_for(program, LIMIT_S))

    def execute(heading: str, name: str = "__main__") -> dict[str, Any]:
        names: dict[str, Any] = {"__name__": name}
        exec(compile(programs()[heading], f"{PAGE.name}: {heading}", "exec"), names)
        return names

    loop_run = asyncio.run
    monkeypatch.setattr(aio, "Channel", ApartChannel)
    monkeypatch.setattr(asyncio, "run", run_bounded)
    return execute


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
        ("Unicast", "b 0 just for you\n"),
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
    assert sorted(programs()) == [
        "A working channel",
        "Errors",
        "Fast",
        "Unicast",
        "Views",
        "What is saved",
        "Without multicast",
    ]
