"""A text that many type into at once.

Source. Operational transformation under a total order (docs/decisions/0009): an edit says which
version it was made against, and every replica carries it over the edits since then, where it
stands in the order. Only TP1 is needed, and `objects.delta.transform` has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from groupcore.objects.delta import (
    TEXT_MAX,
    Delta,
    apply,
    canonical,
    growth,
    parse_delta,
    transform,
)
from groupcore.objects.refusal import OutOfRangeError, RefusalError, TooLargeError
from groupcore.objects.rich_delta import Side
from groupcore.shared.object import SharedObject
from groupcore.shared.operations import operation
from groupcore.shared.pending import Pending
from groupcore.shared.scalars import Codec
from groupcore.shared.types.anchor import Anchor, found_over
from groupcore.shared.types.history import edits_since, remember


class DeltaCodec(Codec):
    """A canonical delta of `groupcore.objects.delta`."""

    def __init__(self) -> None:
        super().__init__("Delta")

    def to_wire(self, value: object) -> object:
        if not isinstance(value, tuple):
            raise self.misfit(value)
        return list(self._parse(list(value)))

    def from_wire(self, wire: object) -> object:
        return self._parse(wire)

    def _parse(self, wire: object) -> Delta:
        try:
            return parse_delta(wire, TEXT_MAX)
        except RefusalError as error:
            raise self.misfit(wire) from error


Edit = Annotated[Delta, DeltaCodec()]


@dataclass(frozen=True, slots=True)
class TextEdited:
    """A detail of a change: `delta` led to `version`; what the others see of an edit."""

    version: int
    delta: Delta


FORMERLY: Mapping[str, tuple[str, ...]] = {"8eb6ed48db766691": ("text", "version", "_recent")}
"""The fields of the former version, in which no edit said that it extends what was written last."""


class Text(SharedObject):
    """A text of at most 100,000 code points; `version` counts its edits.

    Places are counted in code points of the text as it is here when the call is made. What others
    type meanwhile moves them along. Two that insert at one place: the first in the order stands
    left, but for an edit that `extends` what its author wrote last. A change's details are
    `TextEdited`.
    """

    formerly = FORMERLY
    text: str = ""
    version: int = 0
    _recent: list[Edit]

    @operation
    def edit(self, base: int, delta: Edit, extends: bool = False) -> int:
        """Apply a delta that was made against version `base`; gives the new version.

        `extends`: the author goes on where they wrote last, and what others have put there since
        stands right of it (decision 202).

        Raises BaseTooOldError when it is too far behind, BadChangeError for a version that is not
        there yet, OutOfRangeError and TooLargeError: take the text anew, then.
        """
        for other in edits_since(base, self.version, self._recent):
            delta = transform(delta, other, other_first=not extends)
        if len(self.text) + growth(delta) > TEXT_MAX:
            raise TooLargeError(f"a text may hold {TEXT_MAX} code points")
        self.text = apply(delta, self.text)
        self.version += 1
        remember(delta, self._recent)
        self.emit(TextEdited(self.version, delta))
        return self.version

    def recent(self, base: int) -> list[Delta] | None:
        """The edits from version `base` to now; None when they are not all kept."""
        try:
            return list(edits_since(base, self.version, self._recent))
        except RefusalError:
            return None

    def anchor(self, at: int, side: Side = "left") -> Anchor:
        """A place of the text as it is here, which stays with the letter at its `side`."""
        if not 0 <= at <= len(self.text):
            raise OutOfRangeError(f"{at} of {len(self.text)} code points")
        return Anchor("", self.version, at, side)

    def find(self, anchor: Anchor) -> Anchor:
        """The anchor in the text as it is here; BaseTooOldError, BadChangeError."""
        since: list[Delta] = edits_since(anchor.version, self.version, self._recent)
        return found_over(anchor, since)

    def insert(self, at: int, text: str) -> Pending[int]:
        """Insert before the code point at `at`; OutOfRangeError behind the end."""
        return self.replace(at, 0, text)

    def delete(self, at: int, count: int) -> Pending[int]:
        """Delete `count` code points from `at` on; OutOfRangeError behind the end."""
        return self.replace(at, count, "")

    def append(self, text: str) -> Pending[int]:
        """Insert at the end."""
        return self.replace(len(self.text), 0, text)

    def replace(self, at: int, count: int, text: str) -> Pending[int]:
        """Put `text` in the place of `count` code points from `at` on; gives the new version."""
        if at < 0 or count < 0 or at + count > len(self.text):
            raise OutOfRangeError(f"{at} and {count} more of {len(self.text)} code points")
        return self.edit(self.version, canonical([at, text, -count]))

    def __str__(self) -> str:
        return self.text

    def __len__(self) -> int:
        return len(self.text)
