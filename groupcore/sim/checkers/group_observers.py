"""Invariant 28: who observes strict groups binds none of them to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from itertools import combinations

from groupcore.sequencing.names import GroupId
from groupcore.sequencing.overlap import STRONG
from groupcore.sim.checkers.base import Checker, Violation
from groupcore.sim.trace import Record, Trace
from groupcore.sim.trace_groups import GroupAsked, GroupJoined, GroupProcess, GroupRefused
from groupcore.sim.trace_moves import MoveAsked, MoveStarted

Place = tuple[GroupProcess, GroupId]
"""A process in a group."""
Request = tuple[str, int, int]
"""A life, and the number of its request."""
AT_ONCE = frozenset({"already_a_member"})
"""Why a node refuses its own process a group without asking anybody."""


class Binding:
    """Who may count as a member of which group, by what processes have asked for and been told.

    A process may count from when it asks to join until it is told that it is in as an observer: by
    then its leaving was in the order. When the others hear that it has left, or that its node is
    gone, is not looked at, so this is never less than what really counts. `void`: requests that
    were refused before anybody else heard of them, which count for nothing.

    What is told now may have been decided at a place of the order when somebody still counted: a
    node's order can be late. So it is known until when each has.
    """

    def __init__(self, void: Set[Request] = frozenset()) -> None:
        self._void = void
        self._counting: dict[Place, int | None] = {}
        self._asked: dict[Place, str] = {}

    def note(self, record: Record) -> None:
        """What has happened next."""
        if type(record) is GroupAsked and record.what != "leave":
            if (record.n, record.inc, record.request) in self._void:
                return
            place = (record.process, record.group)
            self._asked[place] = record.what
            if record.what == "join":
                self._counting[place] = None
        elif type(record) is GroupJoined and record.process[:2] == (record.n, record.inc):
            place = (record.process, record.group)
            if self._asked.get(place) == "observe" and self._counting.get(place, 0) is None:
                self._counting[place] = record.t

    def component(self, group: GroupId, since: int | None = None) -> set[GroupId]:
        """The groups that may have to share a sequencer with this one, itself included.

        By who counts now, or has counted at some time behind `since`.
        """
        groups: dict[GroupProcess, list[GroupId]] = {}
        for (process, other), until in self._counting.items():
            if until is None or (since is not None and until >= since):
                groups.setdefault(process, []).append(other)
        common = Counter(pair for own in groups.values() for pair in combinations(sorted(own), 2))
        bound = [pair for pair, count in common.items() if count >= STRONG]
        found, before = {group}, 0
        while before < len(found):
            before = len(found)
            for one, other in bound:
                if one in found or other in found:
                    found |= {one, other}
        return found


class ObserversBindNothing(Checker):
    """28: groups are bound to each other by their members alone, however many observe them.

    1. What the directory brings together has members in common with what it is brought to, directly
       or through others.
    2. A move is refused for what must go along only where members bind that to what was named.
    """

    number, name = 28, "observers-bind-nothing"

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """One pass in the order of events; a move counts where it is heard of first."""
        binding = Binding(
            {
                (refused.n, refused.inc, refused.request)
                for refused in trace.of(GroupRefused)
                if refused.code in AT_ONCE
            }
        )
        begun: set[tuple[object, ...]] = set()
        asked: dict[tuple[str, int, int], MoveAsked] = {}
        is_moved = bool(trace.of(MoveStarted)) or bool(trace.of(MoveAsked))
        for record in trace.records if is_moved else ():
            if type(record) is MoveStarted:
                if record[3:] not in begun and record.reason == "strict":
                    self._judge_move(record, binding, found)
                begun.add(record[3:])
            elif type(record) is MoveAsked:
                asked[record.n, record.inc, record.request] = record
            elif type(record) is GroupRefused and record.code == "breaks_s2":
                wish = asked.get((record.n, record.inc, record.request))
                if wish is not None:
                    self._judge_refusal(record, wish, binding, found)
            else:
                binding.note(record)

    def _judge_move(self, move: MoveStarted, binding: Binding, found: list[Violation]) -> None:
        free = [group for group in move.groups if binding.component(group) <= set(move.groups)]
        if free:
            text = (
                f"move {move.move} brings {_listed(free)} from {move.source} to {move.target} for "
                f"strict order, and no members bind them to what is there"
            )
            found.append(self.breach(move.t, (move.n,), text))

    def _judge_refusal(
        self, refused: GroupRefused, wish: MoveAsked, binding: Binding, found: list[Violation]
    ) -> None:
        named = set(wish.groups)
        if all(binding.component(group, since=wish.t) <= named for group in named):
            text = (
                f"the move of {_listed(wish.groups)} is refused as others must go along, and no "
                f"members bind any"
            )
            found.append(self.breach(refused.t, (refused.n,), text))


def _listed(groups: list[GroupId] | tuple[GroupId, ...]) -> str:
    return "groups " + ", ".join(map(str, groups))
