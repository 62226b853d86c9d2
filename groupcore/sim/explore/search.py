"""The search: every state that can be reached, each once, and a verdict on every end.

Depth first, with a table of the keys of states that were seen. Of steps that commute one order is
enough: what was taken before, in a state from which it commutes with the step that led here,
sleeps (Godefroid's sleep sets; a state that is met again with fewer sleepers is gone into again
for those that slept before). What the invariants judge is the history, which only grows: a
breach anywhere is a breach at every end that can be reached from there, so ends are judged.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from traceback import extract_tb
from typing import Generic, Protocol, Self, TypeVar

from groupcore.sim.checkers import Violation


class Move(Hashable, Protocol):
    """One thing that can happen."""

    def commutes(self, other: Self) -> bool:
        """Whether the order of the two does not matter, as far as can be told beforehand."""


class Situation(Protocol):
    """One state; never changed once it is there."""

    @property
    def moment(self) -> int:
        """How much has happened before."""

    @property
    def stuck(self) -> bool:
        """Whether time alone changes nothing."""

    def key(self) -> bytes:
        """Equal for two states from which the same can happen, and whose histories are alike."""


S = TypeVar("S", bound=Situation)
M = TypeVar("M", bound=Move)


class Rules(Protocol[S, M]):
    """What there is to be explored."""

    @property
    def name(self) -> str:
        """What it is called."""

    def begin(self) -> S:
        """The first state."""

    def steps(self, state: S) -> list[M]:
        """Every step that can be taken, in a fixed order."""

    def apply(self, state: S, step: M) -> tuple[S, frozenset[int]]:
        """The next state, and which nodes it differs in."""

    def can_go_on(self, state: S) -> bool:
        """Whether something more has to happen in a state in which nothing is on its way."""

    def is_end(self, state: S, steps: list[M]) -> bool:
        """Whether the history is to be judged here."""

    def judge(self, state: S) -> list[Violation]:
        """What is wrong with the history of an end."""


@dataclass(slots=True)
class Found(Generic[M]):
    """What a search has come to."""

    scope: str
    states: int = 0
    transitions: int = 0
    ends: int = 0
    complete: bool = True
    violations: list[Violation] = field(default_factory=list)
    path: list[M] = field(default_factory=list)


@dataclass(slots=True)
class Frame(Generic[S, M]):
    """A state on the way down: which steps are still to be taken, and which sleep."""

    state: S
    key: bytes
    todo: list[M]
    asleep: dict[M, frozenset[int]]
    taken: M | None = None


class Search(Generic[S, M]):
    """One world, from its beginning."""

    def __init__(self, world: Rules[S, M], states_max: int = 10_000_000) -> None:
        self.world = world
        self.states_max = states_max
        self.found: Found[M] = Found(world.name)
        self.seen: dict[bytes, frozenset[M]] = {}
        self.frames: list[Frame[S, M]] = []
        self.open: set[bytes] = set()

    def run(self) -> Found[M]:
        """Go everywhere, until everything was seen or something is wrong."""
        found = self.found
        self._enter(self.world.begin(), {})
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

    def _take(self, frame: Frame[S, M], step: M) -> None:
        frame.taken = step
        self.found.transitions += 1
        try:
            state, touched = self.world.apply(frame.state, step)
        except Exception as error:
            self._fail(_raised(error, frame.state.moment))
            return
        asleep = {
            other: nodes
            for other, nodes in frame.asleep.items()
            if step.commutes(other) and nodes.isdisjoint(touched)
        }
        frame.asleep[step] = touched
        self._enter(state, asleep)

    def _enter(self, state: S, asleep: dict[M, frozenset[int]]) -> None:
        key = state.key()
        before = self.seen.get(key)
        if before is None:
            self.found.states += 1
            self.seen[key] = frozenset(asleep)
            steps = self.world.steps(state)
            if self.world.is_end(state, steps):
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

    def _judge(self, state: S) -> None:
        self.found.ends += 1
        if state.stuck and self.world.can_go_on(state):
            self._fail(_violation("stuck", state, "a quorum runs, and nothing more happens"))
            return
        self._fail(*self.world.judge(state))

    def _fail(self, *violations: Violation) -> None:
        if violations:
            self.found.violations += violations
            self.found.path = [frame.taken for frame in self.frames if frame.taken is not None]


def _violation(name: str, state: Situation, text: str) -> Violation:
    return Violation(25, name, state.moment, (), (), text)


def _raised(error: Exception, t: int) -> Violation:
    frames = [f"{frame.name}:{frame.lineno}" for frame in extract_tb(error.__traceback__)]
    text = f"{type(error).__name__}: {error}; in {' < '.join(frames[:-5:-1])}"
    return Violation(0, "exception", t, (), (), text)
