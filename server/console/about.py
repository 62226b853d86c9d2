"""What a node says of itself to an admin: how it stands, its settings, what it has dropped."""

from __future__ import annotations

import time

from groupcore.errors import ChannelClosedError
from groupcore.sequencing.plane import Plane
from groupcore.web import SharedObjects
from server import VERSION
from server.console.colleagues import Shown
from server.console.health import FLAPPING_S
from server.console.series import Series, Totals
from server.metrics import drops_of
from server.node import Node
from server.settings import SETTINGS, Settings
from server.state import State

MASKED = frozenset({"key_file", "admin_key", "trace_key_file", "oidc_secret_file"})
"""Settings that say where a secret is: only whether they are set is told."""
DAY_S = 86_400
FIGURES_S = 10
"""Over so many seconds the figures of now are taken."""


def plane_of(node: Node) -> Plane | None:
    """The tables of the sequencing service; None while the node is outside the cluster."""
    try:
        return node.objects.groups.service.plane
    except ChannelClosedError:
        return None


def totals_of(node: Node, pages: SharedObjects) -> Totals:
    """What the node counts."""
    watch, figures = node.objects.groups.watch, pages.figures
    return Totals(
        watch.messages,
        watch.size_bytes,
        watch.take_waited_s(),
        time.process_time(),
        figures.calls,
        figures.sessions,
    )


def standing(node: Node, pages: SharedObjects, series: Series, began_s: float) -> Shown:
    """How the node stands now."""
    plane, view, figures = plane_of(node), node.view, pages.figures
    storage = node.objects.groups.storage
    log = {} if storage is None else storage.counters()
    sequenced = 0
    if plane is not None and plane.ready:
        sequenced = plane.directory.state.loads.count(plane.me)
    behind = sum(bool(page.withheld) for page in pages.gateway.pages.values())
    return {
        "node": node.settings.node_id,
        "version": VERSION,
        "url": node.public_url,
        "began_s": began_s,
        "incarnation": node.me.incarnation,
        "state": str(node.state),
        "waiting": node.waiting,
        "primary": node.primary,
        "view": None if view is None else f"{view.epoch}.{view.number}",
        "groups_sequenced": sequenced,
        "groups_held": 0 if plane is None else _held(plane),
        "documents_held": len(node.keeper),
        "sessions": figures.sessions,
        "sessions_max": node.settings.sessions_max,
        "connections": figures.connections,
        "behind": behind,
        "messages": series.mean("messages", FIGURES_S),
        "wait_ms": series.longest_wait_ms(FIGURES_S),
        "cpu": series.mean("cpu", FIGURES_S),
        "slept_s": node.objects.groups.channel.awake.slept_lately_s(time.monotonic(), FLAPPING_S),
        "log_queue_bytes": log.get("log.queued_bytes", 0),
        "disk_full": node.state is State.READONLY,
        "pictures_missing": node.pictures.missing,
        "keys": node.objects.groups.keys.shown(),
        "certificate_days": _certificate_days(node),
        "trace": node.trace is not None,
    }


def _certificate_days(node: Node) -> float | None:
    """For how many days the node's certificate is good yet, below 0 behind its end."""
    end_s = node.objects.groups.revocations.ends_at_s
    return None if end_s is None else (end_s - time.time()) / DAY_S


def _held(plane: Plane) -> int:
    return sum(record.hold is not None for record in plane.records.values())


def details(node: Node, pages: SharedObjects) -> Shown:
    """What is looked up less often: settings in effect, keys, and what was dropped or refused."""
    figures = pages.figures
    return {
        "settings": settings_shown(node.settings),
        "keys": node.objects.groups.keys.shown(),
        "drops": drops_of(node, pages),
        "refused": dict(sorted(figures.refused.items())),
        "cut": {str(code): count for code, count in sorted(figures.cut.items())},
    }


def settings_shown(settings: Settings) -> list[Shown]:
    """Each setting as it is in effect; of secrets only whether there is one."""
    rows = []
    for row in SETTINGS:
        value = getattr(settings, row.name)
        text = ",".join(value) if isinstance(value, tuple) else "" if value is None else str(value)
        if isinstance(value, bool):
            text = "on" if value else "off"
        is_masked = row.name in MASKED and bool(text)
        rows.append(
            {
                "flag": row.flag,
                "value": "" if is_masked else text,
                "masked": is_masked,
                "default": value == row.kind(row.default) if row.default else not text,
                "unit": row.unit,
                "text": row.text,
            }
        )
    return rows
