"""Golden traces of the data plane: conversations of whole services, command by command.

A trace begins with its scenario in two sentences and, in a line of its own, the nodes that there
are. A line that begins with `> ` is a command (`golden/bus.py` has them); what follows it is what
it caused: milliseconds since the command, a packet, what was ordered, or what a program is told.
`pytest tests/groupcore/sequencing/test_golden.py --rewrite-traces` writes them anew; read the
difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.groupcore.sequencing.golden.bus import Bus

TRACES = sorted((Path(__file__).parent / "golden").glob("*.txt"))
LEAST = 25


def replay(trace: str) -> str:
    """The trace as it is today: its text and its commands, and what they cause."""
    scenario, nodes, *rest = trace.split("\n\n")
    names, _, durable = nodes.removeprefix("nodes ").partition(", ")
    bus = Bus(names.replace(" ", ""), durable=durable == "with logs")
    commands = [line for part in rest for line in part.splitlines() if line.startswith("> ")]
    parts = [scenario, nodes.strip()]
    for command in commands:
        parts.append("\n".join([command, *bus.run_command(command.removeprefix("> "))]))
    return "\n\n".join(parts) + "\n"


@pytest.mark.parametrize("path", TRACES, ids=lambda path: path.stem)
def test_the_conversation_is_the_one_that_is_written_down(
    path: Path, pytestconfig: pytest.Config
) -> None:
    written = path.read_text(encoding="utf-8")
    today = replay(written)
    if pytestconfig.getoption("--rewrite-traces", default=False):
        path.write_text(today, encoding="utf-8")
    else:
        assert today == written


def test_there_are_traces_and_each_begins_with_its_scenario() -> None:
    assert len(TRACES) >= LEAST
    for path in TRACES:
        scenario, nodes, *_ = path.read_text(encoding="utf-8").split("\n\n")
        assert scenario.count(".") >= 2
        assert ">" not in scenario
        assert nodes.startswith("nodes ")
