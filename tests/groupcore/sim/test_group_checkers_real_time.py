"""The checker of real-time order (19), on traces written by hand."""

from __future__ import annotations

from groupcore.sim.checkers.group_real_time import RealTimeOrder
from groupcore.sim.checkers.stretches import RealTimeInStretch
from groupcore.sim.trace import Trace
from groupcore.sim.trace_groups import GroupAccepted, GroupSaved
from tests.groupcore.sim.group_stories import PA, PB, A, B, G, GroupStory, H


def answered(story: GroupStory, seqno: int) -> GroupStory:
    """a's first message to G is answered, with this number."""
    return story.add(GroupAccepted(story.t, PA, G, 1, seqno))


def judged(story: GroupStory) -> list[str]:
    return [violation.text for violation in RealTimeOrder().check(Trace(story.records))]


def test_what_is_sent_behind_an_answer_has_a_later_number() -> None:
    story = GroupStory().create(G).send(PA, G, 1).stamp(G, 1, PA, 1)
    answered(story, 1).send(PB, G, 1).stamp(G, 2, PB, 1)
    assert judged(story) == []


def test_an_earlier_number_behind_an_answer_is_a_breach() -> None:
    story = GroupStory().create(G).send(PA, G, 1).stamp(G, 2, PA, 1)
    answered(story, 2).send(PB, G, 1).stamp(G, 1, PB, 1)
    (text,) = judged(story)
    assert "b#1/1:1.1 has number 1 of group 1" in text
    assert "a#1/1:1.1 had been answered with 2" in text


def test_an_answer_without_a_number_counts_by_the_place_of_its_message() -> None:
    story = GroupStory().create(G).send(PA, G, 1)
    answered(story, 0).send(PB, G, 1).stamp(G, 1, PB, 1).stamp(G, 2, PA, 1)
    assert len(judged(story)) == 1


def test_what_was_sent_before_the_answer_may_stand_before_it() -> None:
    story = GroupStory().create(G).send(PB, G, 1).send(PA, G, 1).stamp(G, 2, PA, 1)
    answered(story, 2).stamp(G, 1, PB, 1)
    assert judged(story) == []


def test_groups_are_judged_by_themselves() -> None:
    story = GroupStory().create(G).create(H).send(PA, G, 1).stamp(G, 5, PA, 1)
    answered(story, 5).send(PB, H, 1).stamp(H, 1, PB, 1)
    assert judged(story) == []


def test_a_power_cut_may_take_what_was_answered_and_not_what_was_saved() -> None:
    for saved in (False, True):
        story = GroupStory().create(G).send(PA, G, 1).stamp(G, 2, PA, 1)
        answered(story, 2)
        if saved:
            story.add(GroupSaved(story.t, PA, G, 1))
        story.view(A, 2, A, B).send(PB, G, 1).stamp(G, 1, PB, 1)
        assert len(RealTimeInStretch().check(Trace(story.records))) == saved
