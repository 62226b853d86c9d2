"""Groups on disk while the power is cut for all nodes: the profile `durable`."""

from __future__ import annotations

import pytest

from groupcore.sequencing.plane import Plane
from groupcore.sequencing.stream import Stream
from groupcore.sim.profiles import PROFILES
from groupcore.sim.trace_groups import GroupHolds, GroupSaved

DURABLE = PROFILES["durable"]


@pytest.mark.parametrize("seed", [212, 236])
def test_what_is_saved_is_there_in_the_end(seed: int) -> None:
    verdict = DURABLE.play(DURABLE.draw(seed))
    assert verdict.violations == []
    assert verdict.trace.of(GroupSaved)
    assert verdict.trace.of(GroupHolds)


def test_saving_before_the_disk_has_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def recorded(plane: Plane, stream: Stream) -> int:
        return min(stream.recorded, stream.received)

    monkeypatch.setattr(Plane, "saved_here", recorded)
    verdicts = (DURABLE.play(DURABLE.draw(seed)) for seed in (226, 236, 237, 220))
    found = next(verdict.violations for verdict in verdicts if verdict.violations)
    assert {violation.number for violation in found} == {18}
