"""Who votes on the next view: nodes that are away, learners, leavers. Checkers judge each play."""

from __future__ import annotations

from groupcore.sim.clock import SECOND
from groupcore.sim.trace import Trace, Viewed
from tests.groupcore.sim.rows.playing import (
    Play,
    fault,
    membership,
    names,
    scenario,
    sends,
    views_between,
)

A, B, C, D, E = range(5)


def voting(trace: Trace, first_s: float, last_s: float) -> list[tuple[str, str]]:
    """Members and voters of each view of that time, each sorted into one word."""
    return [
        ("".join(sorted(names(view))), "".join(sorted(view.voters)))
        for view in views_between(trace, first_s, last_s)
    ]


def last_of(trace: Trace) -> Viewed:
    return max(trace.views, key=lambda view: view.number)


def test_of_three_lost_one_after_the_other_any_two_go_on() -> None:
    """c is away, then a dies; b waits, and goes on as soon as c is back, which joins it then.

    Of the view of a and b c has no memory to lose, so b loses none of it either (decision 157).
    """
    falls = (fault(2.0, "crash", C, for_s=4.0), fault(4.0, "crash", A, for_s=8.0))
    traffic = sends(1.0, 3.8, 0.04, A, B)
    trace = Play(scenario(*falls, length_s=14, traffic=traffic)).run().trace
    assert voting(trace, 2, 4) == [("ab", "abc")]
    assert voting(trace, 4, 6) == []
    first, second = voting(trace, 6, 9)[:2]
    assert (first, second[0]) == (("b", "ab"), "bc")
    orderly, joined = views_between(trace, 6, 9)[:2]
    assert not orderly.recovered
    assert joined.t - orderly.t < SECOND // 2
    assert voting(trace, 6, 9)[-1] == ("bc", "abc")
    assert voting(trace, 12, 20)[-1] == ("abc", "abc")


def test_the_last_of_three_does_not_go_on_whichever_it_is() -> None:
    for first, second in ((C, B), (A, B), (B, A)):
        falls = (fault(2.0, "crash", first, for_s=9.0), fault(4.0, "crash", second, for_s=7.0))
        trace = Play(scenario(*falls, length_s=11, traffic=[])).run().trace
        assert voting(trace, 4.0, 11.0) == []


def test_two_learners_at_once_are_promoted() -> None:
    play = Play(scenario(nodes=5, length_s=8, starts_s={D: 3.0, E: 3.0}))
    trace = play.run().trace
    views = voting(trace, 3, 8)
    assert views[0][1] == "abc"
    assert views[-1] == ("abcde", "abcde")
    assert len(views) <= 4


def test_a_promotion_that_a_crash_interrupts_comes_about() -> None:
    play = Play(scenario(nodes=4, length_s=9, starts_s={D: 3.0}))
    nodes, clock = play.cluster.nodes, play.cluster.clock
    died: list[int] = []

    def look(source: int, target: int, data: bytes) -> bool:
        if not died and nodes[A].alive and membership(nodes[A]).learners.ready:
            died.append(clock.now_ns)
            nodes[A].crash(True)
            clock.after(8 * SECOND, nodes[A].start)
        return False

    play.lose(look)
    trace = play.run().trace
    assert died
    views = voting(trace, died[0] / SECOND, 9)
    assert views[-1] == ("bcd", "bcd")


def test_a_learner_that_never_has_the_state_stops_nobody() -> None:
    """d says nothing of the state; a dies, then d: b and c are a majority of a, b and c."""
    falls = (fault(5.0, "crash", A, for_s=8.0), fault(5.0, "crash", D, for_s=8.0))
    play = Play(scenario(*falls, nodes=4, length_s=10, starts_s={D: 3.0}))

    def deafen() -> None:
        membership(play.cluster.nodes[D]).voter.on_synced = (  # type: ignore[method-assign]
            lambda epoch, position, begun_at: []
        )

    play.at(3.05, deafen)
    trace = play.run().trace
    assert voting(trace, 3, 5) == [("abcd", "abc")]
    assert voting(trace, 5, 9) == [("bc", "abc")]


def test_who_leaves_is_waited_for_no_more() -> None:
    """Of a, b and c, c leaves; then a, the first of two, goes on without b as ever."""
    falls = (fault(2.0, "leave", C, for_s=9.0), fault(4.0, "crash", B, for_s=7.0))
    trace = Play(scenario(*falls, length_s=11)).run().trace
    views = voting(trace, 2, 10)
    assert views[0] == ("ab", "ab")
    assert views[1][0] == "a"


def test_a_cluster_shrinks_to_one_by_leaving_and_grows_again() -> None:
    falls = (fault(2.0, "leave", C, for_s=4.0), fault(3.5, "leave", B, for_s=5.0))
    trace = Play(scenario(*falls, length_s=12)).run().trace
    assert voting(trace, 2, 6) == [("ab", "ab"), ("a", "a")]
    grown = voting(trace, 6, 12)
    assert grown[0] == ("ac", "a")
    assert grown[1] == ("ac", "ac")
    assert grown[-1] == ("abc", "abc")
    assert last_of(trace).members[0].name == "a"


def test_a_promoted_learner_takes_the_place_of_who_is_away() -> None:
    falls = (fault(2.0, "crash", C, for_s=9.0), fault(6.0, "crash", A, for_s=5.0))
    play = Play(scenario(*falls, nodes=4, length_s=11, starts_s={D: 3.0}))
    trace = play.run().trace
    assert voting(trace, 2, 6)[-1] == ("abd", "abd")
    assert voting(trace, 6, 10)[0] == ("bd", "abd")
