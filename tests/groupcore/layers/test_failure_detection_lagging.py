"""The rule of FD about members that have not begun the present view."""

from __future__ import annotations

from groupcore.events import Lagging
from groupcore.layers.failure_detection import DetectionOptions, FailureDetection, Heartbeat
from tests.groupcore.layers.building import STRANGER, A, B, bare, events, installed


def test_a_member_that_lives_in_a_former_view_is_told_of() -> None:
    layer = FailureDetection(A, DetectionOptions())
    layer.on_event(installed(A, B, number=2), 0.0)
    assert events(layer.on_up(bare(B, Heartbeat(1, ())), 0.1)) == [Lagging(B)]
    assert events(layer.on_up(bare(STRANGER, Heartbeat(1, ())), 0.1)) == []
    assert events(layer.on_up(bare(B, Heartbeat(3, ())), 0.1)) == []
