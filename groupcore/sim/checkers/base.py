"""What a checker is, and what it reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from groupcore.sim.trace import Mid, Trace
from groupcore.sim.trace_groups import GroupMid, GroupProcess

REPORTED_MAX = 20
"""Most violations that one checker reports of one trace; the first ones tell the story."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One breach of one invariant: where, when (nanoseconds), which messages, and in words."""

    number: int
    invariant: str
    t: int
    nodes: tuple[str, ...]
    messages: tuple[Mid | GroupMid, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.number} {self.invariant} at {self.t / 1e9:.6f} s: {self.text}"


class Checker:
    """One invariant. `number` is its number in the catalogue, `name` what it is called."""

    number: ClassVar[int]
    name: ClassVar[str]

    def check(self, trace: Trace) -> list[Violation]:
        """The breaches in the trace, up to `REPORTED_MAX`, earliest first."""
        found: list[Violation] = []
        self.scan(trace, found)
        return sorted(found, key=lambda violation: violation.t)[:REPORTED_MAX]

    def scan(self, trace: Trace, found: list[Violation]) -> None:
        """Append every breach to `found`."""
        raise NotImplementedError

    def breach(
        self, t: int, nodes: tuple[str, ...], text: str, *messages: Mid | GroupMid
    ) -> Violation:
        """A violation of this invariant."""
        return Violation(self.number, self.name, t, nodes, messages, text)


def life(n: str, inc: int) -> str:
    """How a process is called in reports."""
    return f"{n}#{inc}"


def message(mid: Mid) -> str:
    """How a message is called in reports."""
    return f"{mid.origin}#{mid.inc}/{mid.lseq}"


def process_name(process: GroupProcess) -> str:
    """How a process that a node hosts is called in reports."""
    return f"{life(*process[:2])}/{process[2]}"


def group_message(mid: GroupMid) -> str:
    """How a message to a group is called in reports."""
    return f"{process_name(mid.process)}:{mid.group}.{mid.number}"
