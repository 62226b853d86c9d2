"""A replicated text: a string that deltas change, the same at every replica in the total order."""

from __future__ import annotations

from groupcore.objects.delta import TEXT_MAX, Delta, apply, check_text, growth
from groupcore.objects.refusal import TooLargeError


class ReplicatedText:
    """A text of at most `text_max` code points.

    Every replica that applies the same deltas in the same order holds the same text. Edits made
    against an older text are transformed first (`groupcore.objects.delta.transform`).
    """

    __slots__ = ("_text", "_text_max")

    def __init__(self, text: str = "", text_max: int = TEXT_MAX) -> None:
        self._text = check_text(text, text_max)
        self._text_max = text_max

    def apply(self, delta: Delta) -> None:
        """Changes the text.

        Raises OutOfRangeError when the delta reaches behind the end, TooLargeError when the text
        would pass its limit; the text is unchanged then.
        """
        if len(self._text) + growth(delta) > self._text_max:
            raise TooLargeError(f"a text may hold {self._text_max} code points")
        self._text = apply(delta, self._text)

    def __str__(self) -> str:
        return self._text

    def __len__(self) -> int:
        return len(self._text)

    def __repr__(self) -> str:
        return f"ReplicatedText({self._text!r})"
