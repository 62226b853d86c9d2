"""Why a node does not serve yet, or only reads: in words for people, and as JSON.

It goes by what membership says (`groupcore.membership.awaiting`); when there is a view, by what
this node still takes from the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from groupcore.membership.awaiting import Awaiting

Shown = dict[str, Any]


def shown(awaiting: Awaiting | None, has_view: bool, has_list: bool) -> Shown | None:
    """What is waited for; None when nothing is.

    `reason` is `first`, `quorum`, `forming`, `joining`, `foreign` or `taking`; `text` says it.
    """
    if awaiting is None:
        if has_list and has_view:
            return None
        text = "this node takes the list of documents from the others"
        return {"reason": "taking" if has_view else "joining", "text": text}
    view = awaiting.view
    return {
        "reason": awaiting.reason,
        "text": text_of(awaiting),
        "view": None if view is None else str(view),
        "members": [] if view is None else list(view.names),
        "voters": [] if view is None else list(view.voters),
        "here": list(awaiting.here),
        "empty": list(awaiting.empty),
        "missing": list(awaiting.missing),
        "others": list(awaiting.others),
        "needed": awaiting.needed,
        "first": awaiting.first,
    }


def text_of(awaiting: Awaiting) -> str:
    """The same in a sentence or two, the thing first."""
    view, here = awaiting.view, _names(awaiting.here)
    match awaiting.reason:
        case "first":
            return (
                f"{awaiting.needed} nodes have to be there before the cluster begins; there: {here}"
            )
        case "forming":
            return f"enough nodes are there ({here}) and agree on the next view"
        case "joining":
            return f"the cluster is there, in view {view}, and takes this node in"
        case "foreign":
            return (
                f"the nodes that are heard, in view {view}, are of another cluster than what is in "
                "this node's folder"
            )
        case "bound":
            return (
                f"the next view may have been decided, and needs {_names(awaiting.missing)}, who "
                f"proposed it or has to hold it; there: {here}"
            )
        case _:
            return _text_of_quorum(awaiting)


class Awaits:
    """The nodes for which a cluster waits, and for how long it has waited for just these."""

    def __init__(self, waiting: Callable[[], Shown | None], clock: Callable[[], float]) -> None:
        self._waiting = waiting
        self._clock = clock
        self._names: list[str] = []
        self._since = 0.0

    def look(self) -> None:
        """To be called again and again: waiting counts from when it is seen."""
        names = awaited(self._waiting())
        if names != self._names:
            if not self._names or not names:
                self._since = self._clock()
            self._names = names

    @property
    def shown(self) -> Shown | None:
        """For pages: `nodes`, and `for_s`, seconds; None where nobody is waited for."""
        self.look()
        if not self._names:
            return None
        return {"nodes": self._names, "for_s": round(self._clock() - self._since)}


KEEPS = ("quorum", "bound")
"""Reasons that last until a node is back, or an operator goes on without it."""


def awaited(waiting: Shown | None) -> list[str]:
    """The nodes that a cluster waits for until they are back, or an operator goes on without."""
    if waiting is None or waiting["reason"] not in KEEPS:
        return []
    return [*waiting["missing"], *waiting["empty"]]


def for_people(names: Sequence[str]) -> str:
    """What a page says where the cluster waits for these nodes; empty where it does not."""
    if not names:
        return ""
    whom = "one of their number" if len(names) == 1 else "some of their number"
    return (
        f"The servers wait for {whom} ({', '.join(names)}): what was saved last may be there "
        "alone. Tell who runs them"
    )


def _text_of_quorum(awaiting: Awaiting) -> str:
    assert awaiting.view is not None, "a quorum is one of a view"
    view = awaiting.view
    last = f"the last view was [{' '.join(view.names)}]"
    if view.voters != view.names:
        last += f", and [{' '.join(view.voters)}] vote on what follows"
    enough = f"{awaiting.needed} of these"
    if awaiting.first:
        half = awaiting.needed - 1
        enough += (
            f", or {half} with {awaiting.first} among them"
            if half > 1
            else (f", or {awaiting.first} alone")
        )
    parts = [
        f"{last}: {enough} can go on, with whole folders",
        f"whole: {_names(awaiting.here)}",
    ]
    if awaiting.empty:
        parts.append(f"there with an empty folder: {_names(awaiting.empty)}")
    if awaiting.missing:
        parts.append(f"not there: {_names(awaiting.missing)}")
    parts.append("what was saved last may be on those alone")
    return "; ".join(parts)


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names) or "none"
