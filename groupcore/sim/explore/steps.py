"""What can happen next in a state, and what becomes of it.

Every step names the node or the link that it works on, so that the search can tell which steps
commute: two that have nothing in common lead to the same state in either order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from groupcore.layers.membership import Membership
from groupcore.sim.checkers import CHECKERS, LivenessAfterHealing, Violation, check_all
from groupcore.sim.explore.scopes import Scope
from groupcore.sim.explore.turning import Turning
from groupcore.sim.explore.world import NAMES, Link, NodeState, State
from groupcore.sim.trace import Ended, Trace
from groupcore.stack import Stack

JUDGES = tuple(checker for checker in CHECKERS if checker is not LivenessAfterHealing)

FREE_KINDS = frozenset({"deliver", "disk", "lose", "take"})
"""Steps that depend on nothing but their node or link."""

ORDERING = ("SEQUENCER", "TOTAL")
"""Layers that know what has been sent in order and has not come back."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that can happen: deliver, lose, disk, crash, restart, do, time.

    `node` is the node that takes a turn, or -1; `link` whose first packet goes; `what` tells
    further: a packet's key, a script's step; of a crash how many records survive it, and to whom
    nothing of what is on its way gets.
    """

    kind: str
    node: int = -1
    link: Link | None = None
    what: object = None

    def __str__(self) -> str:
        where = "" if self.node < 0 else " " + NAMES[self.node]
        if self.link is not None:
            where = f" {NAMES[self.link[0]]}>{NAMES[self.link[1]]}"
        return self.kind + where + (f" {self.what}" if isinstance(self.what, int | tuple) else "")

    def commutes(self, other: Step) -> bool:
        """Whether the order of the two does not matter."""
        if self.kind not in FREE_KINDS or other.kind not in FREE_KINDS:
            return False
        if self.kind == other.kind == "lose":
            return False  # they share what may be lost
        if self.node >= 0 and self.node == other.node:
            return False
        return self.link is None or self.link != other.link


class World:
    """The rules of one scope: which steps there are, and how a state changes by one."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.name = scope.name

    def begin(self) -> State:
        """The founders run, in one view, with nothing on its way."""
        scope = self.scope
        turning = Turning(scope, State(tuple(NodeState(number) for number in range(scope.nodes))))
        for number in scope.founders:
            turning.start(number)
        state = turning.finish()
        while not self.is_settled(state):
            state, _ = self.apply(state, self.steps(state)[0])
        return replace(state, budget=scope.budget, todo=frozenset(range(len(scope.script))))

    # --- what can happen --------------------------------------------------------------------------

    def steps(self, state: State) -> list[Step]:
        """Every step that can be taken, in a fixed order."""
        found = [
            Step("deliver", link[1], link, queue[0].key)
            for link, queue in sorted(state.links.items())
        ]
        found += [
            Step("disk", node.number, None, node.pending[0][1])
            for node in state.nodes
            if node.pending
        ]
        found += [
            Step("do", self.scope.script[index].node, None, index)
            for index in sorted(state.todo)
            if self._may_do(state, index)
        ]
        if state.budget.losses:
            found += [
                Step("lose", -1, link, queue[0].key) for link, queue in sorted(state.links.items())
            ]
        found += self._failures(state)
        if state.idle and not state.stuck and not self.is_settled(state):
            found.append(Step("time"))
        return found

    def _may_do(self, state: State, index: int) -> bool:
        action = self.scope.script[index]
        node = state.nodes[action.node]
        before = all(earlier not in state.todo for earlier in action.after)
        if action.kind == "start":
            return before and node.stack is None
        return before and node.stack is not None and node.view is not None and not node.leaving

    def _failures(self, state: State) -> Iterator[Step]:
        if state.budget.crashes:
            for number in self.scope.may_crash:
                if state.nodes[number].stack is not None:
                    yield from self._crashes(state, number)
        if state.budget.restarts and state.idle:
            for node in state.nodes:
                if node.stack is None and node.incarnation:
                    yield Step("restart", node.number)

    def _crashes(self, state: State, number: int) -> Iterator[Step]:
        """With each number of its records on disk, and with and without what it has just sent."""
        targets = [link[1] for link in sorted(state.links) if link[0] == number]
        for kept in range(len(state.nodes[number].pending) + 1):
            for count in range(len(targets) + 1):
                for unsent in combinations(targets, count):
                    yield Step("crash", number, None, (kept, unsent))

    def is_settled(self, state: State) -> bool:
        """Whether all who run are in one view with all that was sent, and nothing more comes."""
        alive = state.alive()
        if not alive or not state.idle:
            return not alive and state.idle
        first = alive[0]
        members = sorted(node.address for node in alive)
        if first.view is None or sorted(first.view.members) != members:
            return False
        for node in alive:
            application = node.application
            if node.view != first.view or application.wanted is not None or node.leaving:
                return False
            if application.entries != first.application.entries:
                return False
            counters = node.stack.counters() if node.stack is not None else {}
            if any(counters.get(f"{layer}.forward_table", 0) for layer in ORDERING):
                return False
        return True

    def is_end(self, state: State, steps: list[Step]) -> bool:
        """Whether nothing more happens by itself."""
        return state.stuck or (state.idle and Step("time") not in steps)

    def judge(self, state: State) -> list[Violation]:
        """The checkers' word on the history, and on what everybody has."""
        records = state.past.records()
        ends = [
            Ended(
                len(records),
                *node.address,
                node.view.number,
                node.view.lineage,
                node.view.members,
                not state.stuck,
                node.application.epoch,
                len(node.application.entries),
                "",
            )
            for node in state.alive()
            if node.view is not None
        ]
        return check_all(Trace([*records, *ends]), JUDGES)

    def can_go_on(self, state: State) -> bool:
        """Whether those who run, and whose state is complete, are a quorum of the newest view."""
        complete = [
            node.address.name
            for node in state.alive()
            if node.stack is not None and not _is_rebuilding(node.stack)
        ]
        return state.newest is not None and state.newest.is_quorum(complete)

    # --- what becomes of it -----------------------------------------------------------------------

    def apply(self, state: State, step: Step) -> tuple[State, frozenset[int]]:
        """The next state, and which nodes it differs in."""
        turning = Turning(self.scope, state)
        match step:
            case Step("deliver", _, (source, target)):
                turning.deliver((source, target))
            case Step("lose", _, (source, target)):
                turning.lose((source, target))
            case Step("disk", node):
                turning.complete(node)
            case Step("crash", node, _, (int(kept), tuple(unsent))):
                turning.crash(node, kept, unsent)
            case Step("restart", node):
                turning.restart(node)
            case Step("do", _, _, int(index)):
                turning.do(index)
            case Step("time"):
                turning.pass_time(self.is_settled)
            case _:
                raise AssertionError(f"no such step: {step}")
        return turning.finish(), frozenset(turning.opened)


def _is_rebuilding(stack: Stack) -> bool:
    """Whether the node has joined without the state and not got it yet."""
    return any(
        isinstance(layer, Membership) and layer.state.record.rebuilding for layer in stack.layers
    )
