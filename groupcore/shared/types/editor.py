"""Typing without waiting: a text as its writer sees it, own edits included at once.

Idea. What the writer sees is the confirmed text, the edits that are on their way, and those that
wait behind them. One bunch is on its way at a time; what is typed meanwhile is gathered and goes
next. Edits of others come in between, and both sides are carried over each other. What extends what
the writer wrote last says so, and stands next to it (decision 202): edits that do, and others that
wait, are two bunches.

Source. CodeMirror's collab, ProseMirror's collab: rebasing against a central order.
"""

from __future__ import annotations

from typing import NamedTuple

from groupcore.objects.delta import Delta, apply, canonical, compose, transform
from groupcore.objects.refusal import OutOfRangeError
from groupcore.objects.rich_delta import transform_position
from groupcore.shared.changes import Changed, Replaced
from groupcore.shared.errors import SharedError
from groupcore.shared.pending import Pending
from groupcore.shared.types.text import Text, TextEdited


class Bunch(NamedTuple):
    """Edits that go as one; `extends`: what was written before, None where nothing is inserted."""

    delta: Delta
    extends: bool | None


class Editor:
    """One writer's view of a `Text`. `text` has everybody's edits, and the own ones at once.

    `error` says why an own edit was not taken; the text here goes on as it is, but nothing is
    sent any more: save `text` and begin a new editor. `unconfirmed`: own edits are still on their
    way, and would be lost with this process.
    """

    def __init__(self, text: Text) -> None:
        self._shared_text = text
        self._changes = text.changes()
        self._begin()

    def _begin(self) -> None:
        self._version = self._shared_text.version
        self._text = self._shared_text.text
        self._sent: Bunch | None = None
        self._waiting: list[Bunch] = []
        self._typing: int | None = None
        self.error: Exception | None = None

    @property
    def text(self) -> str:
        """The text as the writer should see it now."""
        self._take()
        return self._text

    @property
    def unconfirmed(self) -> bool:
        """Whether own edits have not come to their place in the order yet."""
        self._take()
        return self._sent is not None or bool(self._waiting)

    def replace(self, at: int, count: int, text: str) -> None:
        """Put `text` in the place of `count` code points of `self.text` from `at` on, at once."""
        self._take()
        if at < 0 or count < 0 or at + count > len(self._text):
            raise OutOfRangeError(f"{at} and {count} more of {len(self._text)} code points")
        delta = canonical([at, text, -count])
        self._text = apply(delta, self._text)
        typing = self._typing
        extends = None
        if text:
            extends = typing is not None and at <= typing <= at + count
            self._typing = at + len(text)
        elif typing is not None:
            self._typing = transform_position(typing, delta)
        self._gather(Bunch(delta, extends))
        self._send()

    def insert(self, at: int, text: str) -> None:
        """Insert before the code point at `at`, at once."""
        self.replace(at, 0, text)

    def delete(self, at: int, count: int) -> None:
        """Delete `count` code points from `at` on, at once."""
        self.replace(at, count, "")

    def close(self) -> None:
        """Follow the text no more; what is unconfirmed is not sent any more."""
        self._changes.close()

    def _gather(self, new: Bunch) -> None:
        last = self._waiting.pop() if self._waiting else Bunch((), None)
        if last.extends and new.extends is False:
            self._waiting += (last, new)
            return
        extends = new.extends if last.extends is None else last.extends
        both = Bunch(compose(last.delta, new.delta), extends)
        if both.delta:
            self._waiting.append(both)

    def _send(self) -> None:
        if self._sent is None and self._waiting and self.error is None:
            delta, extends = self._waiting[0]
            try:
                pending = self._shared_text.edit(self._version, delta, extends is True)
            except SharedError as error:  # too large, or the text is closed
                self.error = error
                return
            self._sent = self._waiting.pop(0)
            pending.when_done(lambda: self._answered(pending))

    def _answered(self, pending: Pending[int]) -> None:
        if pending.error is not None:
            self.error = pending.error
        self._take()

    def _take(self) -> None:
        """Take what has happened to the shared text."""
        for change in self._changes.take():
            match change:
                case Changed(process=process, details=details):
                    mine = process == self._shared_text.process
                    for detail in details:
                        if isinstance(detail, TextEdited) and detail.version > self._version:
                            self._on_edit(detail, mine)
                case Replaced():
                    self._on_replaced()
                case _:
                    pass

    def _on_edit(self, edit: TextEdited, mine: bool) -> None:
        self._version = edit.version
        if mine and self._sent is not None:
            self._sent = None  # it is what is here already
            self._send()
            return
        theirs = edit.delta
        if self._sent is not None:
            self._sent, theirs = _crossed(self._sent, theirs)
        waiting: list[Bunch] = []
        for one in self._waiting:
            carried, theirs = _crossed(one, theirs)
            if carried.delta:
                waiting.append(carried)
        self._waiting = waiting
        self._text = apply(theirs, self._text)
        if self._typing is not None:
            self._typing = transform_position(self._typing, theirs, "left")

    def _on_replaced(self) -> None:
        """The shared text was taken anew: what is unconfirmed cannot be carried over."""
        if self._sent is None and not self._waiting:
            self._begin()
        elif self.error is None:
            self.error = OutOfRangeError("the text was taken from another replica meanwhile")


def _crossed(mine: Bunch, theirs: Delta) -> tuple[Bunch, Delta]:
    """Each behind the other; theirs is the first in the order."""
    is_left = not mine.extends
    return (
        mine._replace(delta=transform(mine.delta, theirs, other_first=is_left)),
        transform(theirs, mine.delta, other_first=not is_left),
    )
