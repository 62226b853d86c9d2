"""Turns: what everybody may try is shared out one by one, and who comes too early is given a turn.

Idea. Some tries at once are free, then there is one each `every_s`. Who asks when there is none is
told when theirs is, and has it then, whoever else asks meanwhile: so nobody is refused for ever by
others who ask more often. It is the generic cell rate algorithm, with reservations.

Invariants.
  R1  Within any t seconds a key gets at most `free + queue + t / every_s` tries.
  R2  Who was given a turn and comes within KEPT_S of it has it.
  R3  At most `queue` turns of a key are given ahead, so nobody waits for one longer than
      `queue * every_s`; at most `keys_max` keys are known, the longest untouched makes room.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

KEPT_S = 120.0
"""So long a turn is kept for who is late."""


@dataclass(slots=True)
class _Line:
    due_s: float
    turns: dict[str, float] = field(default_factory=dict)


class Turns:
    """The lines of all keys."""

    def __init__(self, free: int, every_s: float, queue: int, keys_max: int = 50_000) -> None:
        self._ahead_s = free * every_s
        self._every_s = every_s
        self._queue = queue
        self._keys_max = keys_max
        self._lines: OrderedDict[str, _Line] = OrderedDict()

    def __len__(self) -> int:
        return len(self._lines)

    def take(self, key: str, who: str, now_s: float) -> float:
        """One try of `key` by `who`: 0 when it may be now, else in how many seconds."""
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = _Line(now_s)
            if len(self._lines) > self._keys_max:
                self._lines.popitem(last=False)
        self._lines.move_to_end(key)
        line.turns = {one: at_s for one, at_s in line.turns.items() if at_s + KEPT_S > now_s}
        mine = line.turns.get(who)
        if mine is not None:
            if now_s < mine:
                return mine - now_s
            del line.turns[who]  # R2: it was counted when it was given
            return 0.0
        due_s = max(line.due_s, now_s) + self._every_s
        at_s = due_s - self._ahead_s
        if at_s > now_s and len(line.turns) >= self._queue:
            return at_s - now_s
        line.due_s = due_s
        if at_s <= now_s:
            return 0.0
        line.turns[who] = at_s
        return at_s - now_s

    def give_back(self, key: str) -> None:
        """That try was no guess."""
        line = self._lines.get(key)
        if line is not None:
            line.due_s -= self._every_s
