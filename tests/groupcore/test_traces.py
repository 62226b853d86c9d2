"""Golden traces: conversations of whole stacks, written down command by command.

A trace begins with the scenario in two sentences; a line that begins with `> ` is a command, what
follows it is what it caused: milliseconds since the command, then a packet, a delivery or an event.
`pytest tests/groupcore/test_traces.py --rewrite-traces` writes them anew; read the difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.groupcore.traces.bus import Bus

TRACES = sorted((Path(__file__).parent / "traces").glob("*.txt"))


def replay(trace: str) -> str:
    """The trace as it is today: its text and its commands, and what they cause."""
    scenario, _, rest = trace.partition("\n\n")
    commands = [line for line in rest.splitlines() if line.startswith("> ")]
    bus, parts = Bus(), [scenario]
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
    assert len(TRACES) >= 3
    for path in TRACES:
        scenario = path.read_text(encoding="utf-8").partition("\n\n")[0]
        assert scenario.count(".") >= 2
        assert ">" not in scenario
