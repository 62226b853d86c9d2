"""Views and moves as a node has seen them, and as all nodes together have.

Each node's clock is its own, so a length of time is always one node's: the pause of a move is that
of its target, which has seen its beginning in the order and has given the first number itself. How
long after its beginning a move has reached a phase (`after_ms`) says the node that knows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from groupcore.sequencing.watch import SeenMove, SeenView, Watch
from server.console.colleagues import Shown

GROUPS_SHOWN = 20
"""So many groups of a move are named."""
MOVES_SHOWN = 100


def views_shown(watch: Watch, offset_s: float) -> list[Shown]:
    """The views of this node's lives, the newest first; `offset_s` makes Unix time of its clock."""
    return [_view(one, offset_s) for one in reversed(watch.views)]


def _view(seen: SeenView, offset_s: float) -> Shown:
    view = seen.view
    return {
        "at_s": round(seen.at_s + offset_s, 3),
        "id": f"{view.epoch}.{view.number}",
        "members": list(view.names),
        "primary": view.primary,
    }


def moves_shown(watch: Watch, offset_s: float, name_of: Callable[[int], str]) -> list[Shown]:
    """The last moves that this node has seen, the newest first."""
    newest = islice(reversed(watch.moves), MOVES_SHOWN)
    return [_move(one, offset_s, name_of) for one in newest]


def _move(seen: SeenMove, offset_s: float, name_of: Callable[[int], str]) -> Shown:
    def at(time_s: float | None) -> float | None:
        return None if time_s is None else round(time_s + offset_s, 3)

    last = seen.last or (None,) * len(seen.groups)
    shown = zip(seen.groups[:GROUPS_SHOWN], last, strict=False)
    reached = {"stopped": seen.stopped_s, "ended": seen.ended_s, "resumed": seen.resumed_s}
    after_ms = {
        phase: None if time_s is None else round(1000 * (time_s - seen.began_s), 1)
        for phase, time_s in reached.items()
    }
    return {
        "move": seen.number,
        "source": seen.source.name,
        "target": seen.target.name,
        "reason": seen.reason,
        "count": len(seen.groups),
        "groups": [
            {"group": group, "name": name_of(group), "last": number} for group, number in shown
        ],
        "began_s": at(seen.began_s),
        "stopped_s": at(seen.stopped_s),
        "ended_s": at(seen.ended_s),
        "resumed_s": at(seen.resumed_s),
        "after_ms": after_ms,
        "pause_ms": after_ms["resumed"],
        "cancelled": seen.cancelled,
        "held": seen.held,
    }


def merged_views(told: Iterable[Iterable[Shown]]) -> list[Shown]:
    """The views that any node remembers, the newest first, each as of who has seen it first."""
    views: dict[str, Shown] = {}
    for one in (view for views in told for view in views):
        known = views.get(one["id"])
        if known is None or one["at_s"] < known["at_s"]:
            views[one["id"]] = one
    return sorted(views.values(), key=lambda view: view["at_s"], reverse=True)


def merged(told: Iterable[Iterable[Shown]]) -> list[Shown]:
    """What all nodes have seen of each move, the newest first."""
    moves: dict[tuple[object, ...], Shown] = {}
    for one in (move for moves in told for move in moves):
        failover = (one["target"], one["began_s"]) if not one["move"] else ()
        key = (one["move"], one["source"], *failover)
        known = moves.get(key)
        if known is None:
            moves[key] = {**one, "after_ms": dict(one["after_ms"]), "phase": ""}
            continue
        for phase, after_ms in one["after_ms"].items():
            if known["after_ms"][phase] is None:
                known["after_ms"][phase] = after_ms
        for name in ("stopped_s", "ended_s", "resumed_s", "pause_ms"):
            if known[name] is None:
                known[name] = one[name]
        known["cancelled"] = known["cancelled"] or one["cancelled"]
        known["held"] += one["held"]
        if known["groups"] and known["groups"][0]["last"] is None:
            known["groups"] = one["groups"]
    for move in moves.values():
        move["phase"] = phase_of(move)
    return sorted(moves.values(), key=lambda move: move["began_s"] or 0.0, reverse=True)


def phase_of(move: Shown) -> str:
    """How far a move is, as the trace names it."""
    if move["cancelled"]:
        return "cancelled"
    if move["resumed_s"] is not None:
        return "resumed"
    if move["ended_s"] is not None:
        return "moved"
    return "began" if move["stopped_s"] is None else "stopped"
