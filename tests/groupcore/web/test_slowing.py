"""What a pause does for a node that is behind, in virtual time: pages type faster than it can take.

The node's loop takes in one turn all calls that have come, each for a fixed time. A page has one
call under way, keeps the pause that it was told between two calls, and sends what was typed
meanwhile in one. `python -m bench slowing` has real pages and a real node.
"""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass, field

import pytest

from groupcore.gateway import brake
from groupcore.gateway.brake import TICK_S, Brake
from groupcore.shared.tasks import Schedule

WAY_S = 0.005
SECONDS = 30.0
SETTLED_S = 5.0
"""What is before that is not judged."""


@dataclass
class Typist:
    """A page: keys that are typed and not sent, keys that are under way, when it may send."""

    unsent: list[float] = field(default_factory=list)
    under_way: list[float] = field(default_factory=list)
    may_send_s: float = 0.0


class Play:
    """`pages` type `rate` keys a second each; a call takes the node `call_s`."""

    def __init__(self, pages: int, rate: float, call_s: float, *, asks: bool) -> None:
        draw = random.Random(1)
        self.now_s = 0.0
        self.pauses: list[int] = []
        self.waited_s: list[float] = []
        self.confirmed_s: list[float] = []
        self.typed = self.confirmed = self.calls = 0
        self._rate, self._call_s, self._asks = rate, call_s, asks
        self._pause_s = 0.0
        self._brake = Brake(Schedule(draw), lambda: False, self._told)
        self._typists = [Typist() for _ in range(pages)]
        self._inbox: list[tuple[float, int]] = []
        self._events = [(draw.random() / rate, number, "key") for number in range(pages)]
        heapq.heapify(self._events)
        self._run()

    def _told(self, pause_ms: int) -> None:
        self._pause_s = pause_ms / 1e3

    def _run(self) -> None:
        due_s = TICK_S
        while self._events or self._inbox:
            self.now_s = max(self.now_s, min([due_s, *(at for at, _, _ in self._events[:1])]))
            self._happen()
            came, self._inbox = self._inbox, []
            if self.now_s >= due_s:
                if self._asks:
                    self._brake.look(self.now_s - due_s, self.now_s)
                self.pauses.append(self._brake.pause_ms)
                due_s = self.now_s + TICK_S
            for at_s, number in came:
                self._take(at_s, number)

    def _take(self, at_s: float, number: int) -> None:
        if self.now_s > SETTLED_S:
            self.waited_s.append(self.now_s - at_s)
        self.calls += 1
        self.now_s += self._call_s
        self._happen()
        heapq.heappush(self._events, (self.now_s + WAY_S, number, "answer"))

    def _happen(self) -> None:
        """What happens at the pages until now."""
        while self._events and self._events[0][0] <= self.now_s:
            at_s, number, what = heapq.heappop(self._events)
            typist = self._typists[number]
            if what == "call":
                self._inbox.append((at_s, number))
            elif what == "key":
                self.typed += 1
                typist.unsent.append(at_s)
                if at_s < SECONDS:
                    heapq.heappush(self._events, (at_s + 1 / self._rate, number, "key"))
            elif what == "answer":
                self.confirmed += len(typist.under_way)
                if at_s > SETTLED_S:
                    self.confirmed_s += [at_s - key_s for key_s in typist.under_way]
                typist.under_way = []
            if what != "call":
                self._send(typist, number, at_s)

    def _send(self, typist: Typist, number: int, at_s: float) -> None:
        if typist.under_way or not typist.unsent:
            return
        if at_s < typist.may_send_s:
            heapq.heappush(self._events, (typist.may_send_s, number, "send"))
            return
        typist.under_way, typist.unsent = typist.unsent, []
        typist.may_send_s = at_s + self._pause_s
        heapq.heappush(self._events, (at_s + WAY_S, number, "call"))


def median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


LOADS = [(60, 10.0, 0.004), (150, 5.0, 0.004), (150, 5.0, 0.008), (300, 5.0, 0.004)]


@pytest.mark.parametrize("load", LOADS)
def test_a_node_that_asks_its_pages_to_slow_down_has_a_shorter_queue_and_confirms_sooner(
    load: tuple[int, float, float],
) -> None:
    without, asked = Play(*load, asks=False), Play(*load, asks=True)
    for play in (without, asked):
        assert play.confirmed == play.typed, "nothing is lost by it"
    print(
        f"{load}: calls {without.calls} {asked.calls}, queue {median(without.waited_s):.3f} "
        f"{median(asked.waited_s):.3f} s, key {median(without.confirmed_s):.3f} "
        f"{median(asked.confirmed_s):.3f} s"
    )
    assert asked.calls < without.calls
    assert median(asked.waited_s) < median(without.waited_s) / 2
    assert median(asked.confirmed_s) < 0.8 * median(without.confirmed_s)


def test_a_node_that_keeps_up_asks_for_nothing() -> None:
    play = Play(30, 10.0, 0.002, asks=True)
    assert set(play.pauses) == {0}


def test_a_pause_that_is_let_go_of_at_once_does_nothing_for_the_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(brake, "RELAX_S", 0.0)
    monkeypatch.setattr(brake, "RELAXED", 0.5)
    without, asked = (Play(*LOADS[0], asks=asks) for asks in (False, True))
    assert median(asked.waited_s) > 0.9 * median(without.waited_s)
