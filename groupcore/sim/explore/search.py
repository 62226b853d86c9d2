"""The search: every state that can be reached, each once, and a verdict on every end.

Depth first, with a table of the keys of states that were seen. Of steps that commute one order is
enough: what was taken before, in a state from which it commutes with the step that led here,
sleeps (Godefroid's sleep sets; a state that is met again with fewer sleepers is gone into again
for those that slept before). What the invariants judge is the history, which only grows: a
breach anywhere is a breach at every end that can be reached from there, so ends are judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from traceback import extract_tb

from groupcore.sim.checkers import CHECKERS, LivenessAfterHealing, Violation, check_all
from groupcore.sim.explore.scopes import Scope
from groupcore.sim.explore.steps import Step, World
from groupcore.sim.explore.turning import Turning
from groupcore.sim.explore.world import NodeState, State
from groupcore.sim.trace import Ended, Trace

JUDGES = tuple(checker for checker in CHECKERS if checker is not LivenessAfterHealing)


@dataclass(slots=True)
class Found:
    """What a search has come to."""

    scope: str
    states: int = 0
    transitions: int = 0
    ends: int = 0
    complete: bool = True
    violations: list[Violation] = field(default_factory=list)
    path: list[Step] = field(default_factory=list)


@dataclass(slots=True)
class Frame:
    """A state on the way down: which steps are still to be taken, and which sleep."""

    state: State
    key: bytes
    todo: list[Step]
    asleep: dict[Step, frozenset[int]]
    taken: Step | None = None


def begin(scope: Scope) -> State:
    """The founders run, in one view, with nothing on its way."""
    world = World(scope)
    turning = Turning(scope, State(tuple(NodeState(number) for number in range(scope.nodes))))
    for number in scope.founders:
        turning.start(number)
    state = turning.finish()
    while not world.is_settled(state):
        state, _ = world.apply(state, world.steps(state)[0])
    return replace(state, budget=scope.budget, todo=frozenset(range(len(scope.script))))


class Search:
    """One scope, from its beginning."""

    def __init__(self, scope: Scope, states_max: int = 10_000_000) -> None:
        self.world = World(scope)
        self.states_max = states_max
        self.found = Found(scope.name)
        self.seen: dict[bytes, frozenset[Step]] = {}
        self.frames: list[Frame] = []
        self.open: set[bytes] = set()

    def run(self) -> Found:
        """Go everywhere, until everything was seen or something is wrong."""
        found = self.found
        self._enter(begin(self.world.scope), {})
        while self.frames and not found.violations:
            frame = self.frames[-1]
            if not frame.todo:
                self.frames.pop()
                self.open.discard(frame.key)
                continue
            if found.states >= self.states_max:
                found.complete = False
                break
            self._take(frame, frame.todo.pop(0))
        return found

    def _take(self, frame: Frame, step: Step) -> None:
        frame.taken = step
        self.found.transitions += 1
        try:
            state, touched = self.world.apply(frame.state, step)
        except Exception as error:
            self._fail(_raised(error, frame.state.past.length))
            return
        asleep = {
            other: nodes
            for other, nodes in frame.asleep.items()
            if step.commutes(other) and nodes.isdisjoint(touched)
        }
        frame.asleep[step] = touched
        self._enter(state, asleep)

    def _enter(self, state: State, asleep: dict[Step, frozenset[int]]) -> None:
        key = state.key()
        before = self.seen.get(key)
        if before is None:
            self.found.states += 1
            self.seen[key] = frozenset(asleep)
            steps = self.world.steps(state)
            if self._is_end(state, steps):
                self._judge(state)
            todo = [step for step in steps if step not in asleep]
        else:
            if key in self.open and self.world.can_go_on(state):
                self._fail(_violation("cycle", state, "the same comes again and again"))
                return
            wakened = before - asleep.keys()
            if not wakened:
                return
            self.seen[key] = before & frozenset(asleep)
            todo = [step for step in self.world.steps(state) if step in wakened]
        self.frames.append(Frame(state, key, todo, asleep))
        self.open.add(key)

    def _is_end(self, state: State, steps: list[Step]) -> bool:
        return state.stuck or (state.idle and Step("time") not in steps)

    def _judge(self, state: State) -> None:
        self.found.ends += 1
        if state.stuck and self.world.can_go_on(state):
            self._fail(_violation("stuck", state, "a quorum runs, and nothing more happens"))
            return
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
        self._fail(*check_all(Trace([*records, *ends]), JUDGES))

    def _fail(self, *violations: Violation) -> None:
        if violations:
            self.found.violations += violations
            self.found.path = [frame.taken for frame in self.frames if frame.taken is not None]


def _violation(name: str, state: State, text: str) -> Violation:
    return Violation(25, name, state.past.length, (), (), text)


def _raised(error: Exception, t: int) -> Violation:
    frames = [f"{frame.name}:{frame.lineno}" for frame in extract_tb(error.__traceback__)]
    text = f"{type(error).__name__}: {error}; in {' < '.join(frames[:-5:-1])}"
    return Violation(0, "exception", t, (), (), text)
