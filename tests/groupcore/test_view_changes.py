"""Whole stacks through view changes: what a joiner is told, and what is in flight meanwhile."""

from __future__ import annotations

import pytest

from tests.groupcore.traces.bus import Bus


def delivered(lines: list[str], node: str) -> list[str]:
    """What a node has delivered, in its order."""
    texts = []
    for line in lines:
        _, _, what = line.partition(f"  {node} delivers ")
        if what:
            _, _, text = what.partition(": ")
            texts.append(text.partition(" (from")[0])
    return texts


def moment_of(lines: list[str], what: str) -> int:
    """When it happened first, in milliseconds."""
    return next(int(line.split()[0]) for line in lines if what in line)


def first_number(lines: list[str], view: int) -> int:
    """The number of the first multicast of the coordinator in that view."""
    line = next(line for line in lines if f"nakack.data view={view} " in line)
    return int(line.partition("nakack.data")[2].partition("seqno=")[2].split()[0])


def joined(bus: Bus, sends_at: int) -> list[str]:
    """D joins; the coordinator multicasts so many milliseconds after it has asked everybody."""
    bus.run_command("start a b c")
    bus.run_command("multicast a " + " ".join(f"old{i}" for i in range(35)))
    bus.run_command("run 100")
    bus.run_command("join d")
    lines = bus.run_command("run 128")
    for millisecond in range(12):
        if millisecond == sends_at:
            bus.lines, begun = [], bus.begun
            bus.multicast("a", ["new"])
            lines += bus.lines
            bus.begun = begun
        lines += bus.run_command("run 1")
    return lines + bus.run_command("run 200")


@pytest.mark.parametrize("sends_at", range(12))
def test_the_digest_of_a_joiner_is_exact_whenever_the_coordinator_multicasts(
    sends_at: int,
) -> None:
    # pbcast design, "Digest returned to client". Scenario A: the digest is taken before the view
    # is multicast and is one too low; B: after it, and may be either. Here the view message has
    # no number, numbers begin with the view, and its first multicast is number 1 to everybody.
    bus = Bus()
    lines = joined(bus, sends_at)
    assert moment_of(lines, "d installs 1.2[a b c d]") < 150
    texts = {node: delivered(lines, node) for node in "abcd"}
    assert texts["a"] == texts["b"] == texts["c"] == ["new"]
    in_former_view = any("nakack.data view=1 seqno=36" in line for line in lines)
    # What the joiner does not deliver itself is in the state that it takes, and only that.
    position = 36 if in_former_view else 35
    assert any(f"d installs 1.2[a b c d]{{a b c}} at {position}" in line for line in lines)
    assert texts["d"] == ([] if in_former_view else ["new"])
    after = bus.run_command("multicast a last") + bus.run_command("run 50")
    assert delivered(after, "d") == ["last"]
    assert first_number(lines + after, 2) == 1


def test_people_go_on_sending_and_delivering_until_the_flush() -> None:
    bus = Bus()
    bus.run_command("start a b c")
    bus.run_command("run 100")
    bus.run_command("join d")
    lines = bus.run_command("run 132")  # everybody has been asked for a promise
    assert any("membership.prepare" in line for line in lines)
    assert not any("FlushStarted" in line for line in lines)
    bus.run_command("multicast a while-promising")
    after = bus.run_command("run 1")
    assert delivered(after, "b") == ["while-promising"]


def test_what_is_sent_in_a_flush_is_delivered_once_by_all_in_the_next_view() -> None:
    bus = Bus()
    bus.run_command("start a b c")
    bus.run_command("run 100")
    bus.run_command("join d")
    lines = bus.run_command("run 134")
    assert any("a FlushStarted" in line for line in lines)
    bus.run_command("multicast a one two")
    bus.run_command("multicast b three")
    after = bus.run_command("run 100")
    order = delivered(after, "a")
    assert sorted(order) == ["one", "three", "two"]
    for node in "bcd":
        assert delivered(after, node) == order
