"""A text with marks (bold, links, embeds, …) that many edit at once.

Source. As `groupcore.shared.types.text`, with the algebra of `groupcore.objects.rich_delta`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

from groupcore.objects.refusal import OutOfRangeError, RefusalError
from groupcore.objects.rich_delta import (
    EMBED,
    Format,
    Marks,
    MarkValue,
    Rich,
    RichDelta,
    Run,
    Side,
    apply,
    canonical,
    cut,
    length,
    plain,
    transform,
)
from groupcore.objects.rich_parsing import (
    RICH_MAX,
    check_growth,
    check_rich,
    check_rich_delta,
    parse_rich,
    parse_rich_delta,
    to_wire,
)
from groupcore.shared.object import SharedObject
from groupcore.shared.operations import operation
from groupcore.shared.pending import Pending
from groupcore.shared.scalars import Codec
from groupcore.shared.types.anchor import Anchor, found_over
from groupcore.shared.types.history import edits_since, remember

OUTER_MARKS = frozenset({"link", "code", "embed"})
"""Marks that end at their edges: what is typed there does not have them, except between two."""


class RichCodec(Codec):
    """A canonical rich text or delta.

    An edit is decoded, and then kept as it is: the value that was parsed last is not parsed again.
    """

    def __init__(
        self,
        text: str,
        parse: Callable[[object, int], RichDelta],
        check: Callable[[tuple[object, ...], int], RichDelta],
    ) -> None:
        super().__init__(text)
        self._parse = parse
        self._check = check
        self._parsed: RichDelta | None = None

    def _wire_of(self, value: object) -> list[object]:
        if not isinstance(value, tuple):
            raise self.misfit(value)
        try:
            return to_wire(value)
        except (TypeError, AttributeError, ValueError) as error:
            raise self.misfit(value) from error

    def to_wire(self, value: object) -> object:
        wire = self._wire_of(value)
        if value is not self._parsed:
            self.from_wire(wire)
        return wire

    def require(self, value: object) -> None:
        self.check(value)

    def check(self, value: object) -> object:
        if value is not self._parsed:
            if type(value) is not tuple:
                raise self.misfit(value)
            try:
                checked = self._check(value, RICH_MAX)
            except (RefusalError, TypeError, AttributeError, ValueError) as error:
                raise self.misfit(value) from error
            self._parsed = value if all(map(operator.is_, checked, value)) else checked
        return self._parsed

    def from_wire(self, wire: object) -> object:
        try:
            self._parsed = self._parse(wire, RICH_MAX)
        except RefusalError as error:
            raise self.misfit(wire) from error
        return self._parsed

    def kept_to_wire(self, kept: object) -> object:
        assert isinstance(kept, tuple)
        return to_wire(kept)


RichEdit = Annotated[RichDelta, RichCodec("RichDelta", parse_rich_delta, check_rich_delta)]
RichContent = Annotated[Rich, RichCodec("Rich", parse_rich, check_rich)]


def marks_at(text: Rich, at: int) -> Marks:
    """The marks of what is typed at `at`: those of the code point left of it.

    OUTER_MARKS only where the code point at the right has them, too; nothing behind an embed.
    """
    left, right = cut(text, at - 1, at) if at else (), cut(text, at, at + 1)
    if not left or dict(left[0].marks).get("embed") is not None:
        return ()
    following = right[0].marks if right else ()
    return tuple([one for one in left[0].marks if one[0] not in OUTER_MARKS or one in following])


@dataclass(frozen=True, slots=True)
class RichTextEdited:
    """A detail of a change: `delta` led to `version`; what the others see of an edit."""

    version: int
    delta: RichDelta


FORMERLY: Mapping[str, tuple[str, ...]] = {"f55d7e38bd2fa2e6": ("content", "version", "_recent")}
"""The fields of the former version, in which no edit said that it extends what was written last."""


class RichText(SharedObject):
    """A text with marks, of at most 100,000 code points; `version` counts its edits.

    Places are counted in code points of the text as it is here when the call is made; an embed is
    one. What others type meanwhile moves them along. A change's details are `RichTextEdited`.
    """

    formerly = FORMERLY
    content: RichContent = ()
    version: int = 0
    _recent: list[RichEdit]

    @operation
    def edit(self, base: int, delta: RichEdit, extends: bool = False) -> int:
        """Apply a delta that was made against version `base`; gives the new version.

        Of what two insert at one place the first in the order stands left, but for an edit that
        `extends` what its author wrote last: that stands left, next to it (decision 202).

        Raises BaseTooOldError when it is too far behind, BadChangeError for a version that is not
        there yet, OutOfRangeError and TooLargeError: take the text anew, then.
        """
        for other in edits_since(base, self.version, self._recent):
            delta = transform(delta, other, other_first=True, other_left=not extends)
        check_growth(self.content, delta, RICH_MAX)
        self.content = apply(delta, self.content)
        self.version += 1
        remember(delta, self._recent)
        self.emit(RichTextEdited(self.version, delta))
        return self.version

    def recent(self, base: int) -> list[RichDelta] | None:
        """The deltas behind version `base`, for who has that; None when they are not all kept."""
        try:
            return list(edits_since(base, self.version, self._recent))
        except RefusalError:
            return None

    def anchor(self, at: int, side: Side = "left") -> Anchor:
        """A place of the text as it is here, which stays with the letter at its `side`."""
        self._check_range(at, 0)
        return Anchor("", self.version, at, side)

    def find(self, anchor: Anchor) -> Anchor:
        """The anchor in the text as it is here; BaseTooOldError, BadChangeError."""
        since: list[RichDelta] = edits_since(anchor.version, self.version, self._recent)
        return found_over(anchor, since)

    def insert(self, at: int, text: str, **marks: MarkValue) -> Pending[int]:
        """Insert before the code point at `at`; without marks, with those that `marks_at` gives."""
        self._check_range(at, 0)
        given = tuple(sorted(marks.items())) or marks_at(self.content, at)
        return self.edit(self.version, canonical([at, Run(text, given)]))

    def delete(self, at: int, count: int) -> Pending[int]:
        """Delete `count` code points from `at` on; OutOfRangeError behind the end."""
        self._check_range(at, count)
        return self.edit(self.version, canonical([at, -count]))

    def format(self, at: int, count: int, **marks: MarkValue | None) -> Pending[int]:
        """Set marks of `count` code points from `at` on; None removes one. OutOfRangeError."""
        self._check_range(at, count)
        return self.edit(self.version, canonical([at, Format(count, tuple(sorted(marks.items())))]))

    def embed(self, at: int, embed: str, **attributes: MarkValue) -> Pending[int]:
        """Put an embed of this id (an image, a mention) before the code point at `at`."""
        return self.insert(at, EMBED, embed=embed, **attributes)

    def _check_range(self, at: int, count: int) -> None:
        if at < 0 or count < 0 or at + count > len(self):
            raise OutOfRangeError(f"{at} and {count} more of {len(self)} code points")

    def __str__(self) -> str:
        return plain(self.content)

    def __len__(self) -> int:
        return length(self.content)
