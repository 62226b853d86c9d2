"""A voter that is away has no memory of the view to lose: a view that its vote decides is orderly.

Of a, b and c, c crashes and starts again; a and b are the view meanwhile, and c a voter of it that
is away. Nobody hears b any more. It has delivered the last of what a has numbered; a has not, as it
never heard that b has that. a and c are the quorum that goes on.
"""

from __future__ import annotations

from groupcore.sim.clock import SECOND
from groupcore.sim.trace import Delivered, Trace
from tests.groupcore.sim.rows.playing import Play, fault, names, scenario, sends, views_between

A, B, C = range(3)
MUTE_S, BACK_S, HEALED_S = 3.3, 3.5, 7.3
SCENARIO = scenario(
    fault(2.0, "crash", C, for_s=BACK_S - 2.0),
    fault(MUTE_S, "mute", B, for_s=HEALED_S - MUTE_S),
    length_s=9.0,
    traffic=sends(1.0, 5.0, 0.01, A),
)


def delivered(trace: Trace, name: str) -> set[tuple[object, ...]]:
    """What a node has delivered in the view of a and b, or before: places and messages."""
    return {
        (one.epoch, one.position, one.mid)
        for one in trace.of(Delivered)
        if one.n == name and one.t < HEALED_S * SECOND
    }


def test_what_one_member_has_delivered_the_other_delivers_with_the_vote_of_one_that_was_away() -> (
    None
):
    trace = Play(SCENARIO).run().trace
    (next_view, *_) = views_between(trace, MUTE_S, HEALED_S)
    assert (names(next_view)[0], next_view.recovered) == ("a", False)
    ahead = {
        one.mid
        for one in trace.of(Delivered)
        if one.n == "b" and MUTE_S * SECOND < one.t < next_view.t
    }
    before = {one.mid for one in trace.of(Delivered) if one.n == "a" and one.t < next_view.t}
    assert ahead - before, "b was never ahead of a"
    assert delivered(trace, "b") <= delivered(trace, "a")
