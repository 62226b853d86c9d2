"""A folder that goes back as a whole, as from a copy: nothing on its disk tells, its peers may.

What c and b save while a is away is on their disks alone. Both stop, c's folder goes back, and a
and c start again without b: two of three voters. A folder from before c's last start is found out:
the view that a knows has a life of c which that folder does not, so c has no vote
(`lacks_state_of`). One of the same life is found out if a has heard that c has stored more since
(`Attempt.judge_folders`). What was stored while a was away is on no other disk that is there.
"""

from __future__ import annotations

import pytest

from groupcore.sim.profiles import stack_maker
from groupcore.sim.run import Verdict, run_cluster
from groupcore.stacks import DEFAULT_STACK
from tests.groupcore.sim.rows.playing import Play, fault, primaries, scenario, sends

A, B, C = range(3)
AGAIN_S, AWAY_S, STOP_S, ALONE_S, B_BACK_S, END_S = 2.5, 5.0, 7.0, 0.5, 12.0, 18.0
HEARD_S = 1.3
"""Longer than it takes until c tells of what it has stored, and a has stored that."""


def put_back(taken_s: float) -> Verdict:
    """c's folder of that time is in its place again when it starts behind its last stop."""
    falls = [
        fault(AGAIN_S, "crash", C, for_s=0.4),
        fault(AWAY_S, "crash", A, for_s=STOP_S + ALONE_S - AWAY_S),
        fault(STOP_S, "crash-keep", B, for_s=B_BACK_S - STOP_S),
        fault(taken_s, "put-back", C, for_s=STOP_S - taken_s, factor=round(1_000 * ALONE_S)),
    ]
    given = scenario(*falls, length_s=END_S, traffic=sends(1.0, STOP_S, 0.04, B, C))
    play = Play(given, make_stack=stack_maker(DEFAULT_STACK, counts_folders=True))
    return run_cluster(play.cluster)


def broken(verdict: Verdict) -> set[int]:
    return {violation.number for violation in verdict.violations}


def test_a_folder_of_now_loses_nothing() -> None:
    assert broken(put_back(STOP_S - 0.001)) == set()


def test_a_folder_from_before_the_last_start_has_no_vote() -> None:
    assert broken(put_back(AGAIN_S - 0.5)) == set()


def test_a_folder_of_the_same_life_has_no_vote_where_a_voter_has_heard_of_a_later_one() -> None:
    assert broken(put_back(AWAY_S - HEARD_S)) == set()


@pytest.mark.xfail(strict=True, reason="that c has stored more since is known to b's disk alone")
def test_a_folder_of_which_the_voters_that_are_there_have_not_heard_loses_nothing() -> None:
    assert broken(put_back(AWAY_S + 0.5)) == set()


def test_copies_of_all_folders_need_an_operator_who_goes_on_with_the_latest() -> None:
    """Those of a and b are older than c has heard: each may lack what it had promised."""
    taken = {A: 3.0, B: 4.3, C: 5.6}
    falls = [
        fault(at_s, "put-back", node, for_s=7 - at_s, factor=300) for node, at_s in taken.items()
    ]
    falls.append(fault(AGAIN_S + 7.5, "waive", C, A, B, for_s=2.0))
    given = scenario(*falls, length_s=14.0, traffic=sends(1.0, 6.9, 0.04, A, B, C))
    play = Play(given, make_stack=stack_maker(DEFAULT_STACK, counts_folders=True))
    seen = primaries(play)
    run_cluster(play.cluster)
    first_s = min(at_s for at_s, names in seen if at_s > 7.1 and names)
    assert first_s > AGAIN_S + 7.5
    assert [set(names) for at_s, names in seen if at_s < 14.0][-1] == {"a", "b", "c"}
