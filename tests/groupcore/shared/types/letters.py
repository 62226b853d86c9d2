"""Texts in which each letter has an identity of its own: what anchors are judged by."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from groupcore.objects.rich_delta import Format, RichItem, Run, Side, canonical
from groupcore.shared.types.anchor import (
    Anchor,
    AnchorStep,
    Spot,
    TextAgain,
    TextBack,
    TextCut,
    TextEdit,
    TextGone,
    TextJoin,
)

CHARACTERS = "abä𝄞"
BOLD = (("bold", True),)

Holds: TypeAlias = int | Literal["start", "end"]
"""A letter, or the end of a text that a place is at."""


@dataclass(slots=True)
class Mark:
    """What an anchor has to be: it holds on to `own`, or, while that is deleted, to `now`."""

    own: Holds
    side: Side
    block: str
    now: Holds


@dataclass
class Letters:
    """Blocks of letters, each with its version; `marks` go along."""

    draw: random.Random
    texts: dict[str, list[int]] = field(default_factory=lambda: {"a": [], "b": []})
    versions: dict[str, int] = field(default_factory=lambda: {"a": 0, "b": 0})
    removed: dict[str, list[int]] = field(default_factory=dict)
    marks: list[Mark] = field(default_factory=list)
    count: int = 0
    fresh: int = 0
    died: dict[int, Spot] = field(default_factory=dict)
    """Where each deleted letter was when it was there last."""

    def __post_init__(self) -> None:
        for text in self.texts.values():
            text += self._new(self.draw.randint(0, 6))

    def _new(self, size: int) -> list[int]:
        self.count += size
        return list(range(self.count - size, self.count))

    # --- anchors --------------------------------------------------------------------------------

    def anchor(self, block: str, offset: int, side: Side) -> Anchor:
        """An anchor of the present, and its mark."""
        text = self.texts[block]
        at = offset - 1 if side == "left" else offset
        own: Holds = text[at] if 0 <= at < len(text) else ("start" if side == "left" else "end")
        self.marks.append(Mark(own, side, block, own))
        return Anchor(block, self.versions[block], offset, side)

    def place(self, mark: Mark) -> tuple[str, int]:
        """Where the anchor of a mark has to be."""
        text = self.removed.get(mark.block, self.texts.get(mark.block, []))
        if mark.now == "start":
            return mark.block, 0
        if mark.now == "end":
            return mark.block, len(text)
        return mark.block, text.index(mark.now) + (mark.side == "left")

    def is_lost(self, mark: Mark) -> bool:
        """Whether its letter is not to be seen."""
        return mark.own != mark.now or mark.block in self.removed

    def _rebind(self, block: str, text: list[int], dying: set[int]) -> None:
        """Holds on to the nearest letter that stays, of all that stand there for a moment."""
        for mark in self.marks:
            if mark.block != block or isinstance(mark.now, str) or mark.now not in dying:
                continue
            at = text.index(mark.now)
            left = mark.side == "left"
            near = list(reversed(text[:at])) if left else text[at + 1 :]
            end: Holds = "start" if left else "end"
            mark.now = next((one for one in near if one not in dying), end)

    def _come(self, block: str, letters: list[int]) -> None:
        for mark in self.marks:
            if mark.own in letters:
                mark.block, mark.now = block, mark.own
        for letter in letters:
            self.died.pop(letter, None)

    # --- steps ----------------------------------------------------------------------------------

    def step(self) -> list[AnchorStep]:
        """Something happens to one of the texts, or to two."""
        kinds = ["edit"] * 6 + ["cut"] * 2 + ["join"] + ["gone"] * 2 + ["back"] * 4
        block = self.draw.choice(sorted(self.texts))
        match self.draw.choice(kinds):
            case "cut":
                return [self._cut(block)]
            case "join" if len(self.texts) > 1:
                return self._join(block, self.draw.choice(sorted({*self.texts} - {block})))
            case "gone" if len(self.texts) > 1:
                return [self._gone(block)]
            case "back" if self.removed:
                return self._back(self.draw.choice(sorted(self.removed)))
            case _:
                return self.edit(block)

    def edit(self, block: str) -> list[AnchorStep]:
        """Letters come, go, come back and change their marks."""
        old, items, again = self.texts[block], list[RichItem](), list[TextAgain]()
        version = self.versions[block]
        kept, moment, dying, back = list[int](), list[int](), set[int](), list[int]()
        at = gap = 0  # an insert stands before what is deleted at its place
        while True:
            for _ in range(self.draw.choice([0, 0, 0, 1, 2])):
                taken = [*kept, *dying, *old[at:]]
                letters = self._some_letters(block, taken, again, len(kept))
                back += [one for one in letters if one in self.died]
                kept += letters
                moment[gap:gap] = letters
                gap += len(letters)
                items.append(Run("".join(self._character(one) for one in letters)))
            if at == len(old):
                break
            size = self.draw.randint(1, len(old) - at)
            part = old[at : at + size]
            moment += part
            at += size
            if self.draw.random() < 0.4:
                dying |= set(part)
                items.append(-size)
            else:
                kept += part
                gap = len(moment)
                items.append(size if self.draw.random() < 0.5 else Format(size, BOLD))
        self._rebind(block, moment, dying)
        self.texts[block], self.versions[block] = kept, version + 1
        self._come(block, back)
        for index, letter in enumerate(old):
            if letter in dying:
                self.died[letter] = Spot(block, version, index)
        return [TextEdit(block, version + 1, canonical(items)), *again]

    def _some_letters(
        self, block: str, taken: list[int], again: list[TextAgain], at: int
    ) -> list[int]:
        """Some that are new, or some that stood side by side when they were deleted."""
        gone = [one for one in sorted(self.died) if one not in taken and not self._is_away(one)]
        if not gone or self.draw.random() < 0.5:
            return self._new(self.draw.randint(1, 3))
        first = self.draw.choice(gone)
        source = self.died[first]
        letters = [first]
        for one in gone:
            spot = self.died[one]
            near = Spot(source.block, source.version, source.offset + len(letters))
            if spot == near and one not in letters:
                letters.append(one)
        again.append(TextAgain(block, self.versions[block] + 1, at, source, len(letters)))
        return letters

    def _is_away(self, letter: int) -> bool:
        """Whether it comes back with its block."""
        return any(letter in text for text in self.removed.values())

    def _character(self, letter: int) -> str:
        return CHARACTERS[letter % len(CHARACTERS)]

    def _cut(self, block: str) -> TextCut:
        text = self.texts[block]
        at = self.draw.randint(0, len(text))
        self.fresh += 1
        new = f"n{self.fresh}"
        self.texts[block], self.texts[new] = text[:at], text[at:]
        self.versions[block] += 1
        self.versions[new] = 0
        for mark in self.marks:
            if mark.block == block and (mark.now == "end" or mark.now in text[at:]):
                mark.block = new
        return TextCut(block, self.versions[block], at, new)

    def _join(self, block: str, into: str) -> list[AnchorStep]:
        text, other = self.texts.pop(block), self.texts[into]
        for mark in self.marks:
            if mark.block != block:
                continue
            if mark.now == "start":
                mark.now = other[-1] if other else "start"
                if mark.own == "start":
                    mark.own = mark.now
            mark.block = into
        at = len(other)
        self.texts[into] = other + text
        self.versions[block] += 1
        self.versions[into] += 1
        words = Run("".join(self._character(one) for one in text))
        come = TextEdit(into, self.versions[into], canonical([at, words]))
        steps: list[AnchorStep] = [
            TextJoin(block, self.versions[block], into, self.versions[into], at),
            come,
        ]
        return steps if self.draw.random() < 0.5 else steps[::-1]

    def _gone(self, block: str) -> TextGone:
        text = self.removed[block] = self.texts.pop(block)
        for index, letter in enumerate(text):
            self.died[letter] = Spot(block, self.versions[block], index)
        self.versions[block] += 1
        return TextGone(block, self.versions[block])

    def _back(self, block: str) -> list[AnchorStep]:
        text = self.removed.pop(block)
        self.fresh += 1
        new = f"n{self.fresh}"
        self.texts[new], self.versions[new] = text, 0
        for letter in text:
            del self.died[letter]
        for mark in self.marks:
            if mark.block == block:
                mark.block = new
        return [TextBack(block, self.versions[block], new)]
