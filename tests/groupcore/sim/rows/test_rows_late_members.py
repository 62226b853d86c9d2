"""A member that is told late that it is one: asked what follows its view before it has begun it.

Of a, b and c, c is new. The view with it has begun at a and b; c is not told, and a, which hears b
no more, asks it for its vote on the next. Then b tells c, both store what a orders and confirm
that it is saved; then b is silent, and a and c go on. The rule is that what was told to be saved
is in what they go on with: c is asked as what it is when a decides, not as what it was.
"""

from __future__ import annotations

from groupcore.sim.clock import SECOND
from groupcore.sim.trace import Acked
from tests.groupcore.sim.rows.playing import FORMED_S, Play, fault, membership, scenario, sends

CRASH_S, BACK_S, HEALED_S, END_S = 2.0, 4.0, 9.0, 11.0
SMALL_BYTES = 120
"""A question for a vote is smaller, what tells a view to a new member is larger."""
A, B, C = range(3)


class LateMember:
    """Loses datagrams by what the three have come to."""

    def __init__(self) -> None:
        crash = fault(CRASH_S, "crash", C, for_s=BACK_S - CRASH_S)
        traffic = sends(FORMED_S, END_S - 2.0, 0.04, A)
        self.play = Play(scenario(crash, length_s=END_S, traffic=traffic))
        self.nodes = self.play.cluster.nodes
        self.asked = self.saved = False
        self.play.lose(self.is_lost)

    def look(self) -> None:
        """How far it has come."""
        a = self.nodes[A]
        if a.view is None or a.view.number < 3:
            return
        if not self.asked:
            attempt = membership(a).proposer.attempt
            voters = {} if attempt is None or attempt.number != 3 else attempt.votes
            voted = any(voter.name == "c" for voter in voters)
            self.asked = voted or membership(self.nodes[C]).voter.is_behind
        elif not self.saved:
            trace = self.play.cluster.trace
            begun = max(view.position for view in trace.views if view.number == 3)
            self.saved = any(told.position > begun for told in trace.of(Acked))

    def is_lost(self, source: int, target: int, data: bytes) -> bool:
        """Whether this datagram vanishes."""
        self.look()
        view = self.nodes[A].view
        if view is None or view.number < 3 or self.play.cluster.clock.now_ns > HEALED_S * SECOND:
            return False
        if self.saved:
            return B in (source, target)
        if self.asked:
            return A in (source, target)
        if (source, target) == (A, C):
            return len(data) > SMALL_BYTES
        return source == B


def test_what_is_saved_after_a_vote_is_not_lost_by_it() -> None:
    late = LateMember()
    trace = late.play.run().trace
    assert late.saved
    after = [view for view in trace.views if view.number == 4 and view.t < HEALED_S * SECOND]
    assert {view.n for view in after} == {"a", "c"}
