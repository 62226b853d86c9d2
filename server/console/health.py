"""What needs somebody's eye: judged from what all nodes say, as codes that the page puts in words.

Levels: `bad`, something does not work now; `warn`, it works, but look; `note`, it is as somebody
has asked for. The bounds are those of the alert rules that are shipped for Prometheus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from server.console.colleagues import Shown
from server.waiting import KEEPS

WAIT_MS = 250.0
"""A request that waits longer for its number is felt by who types."""
CPU_PERCENT = 90.0
BEHIND_MIN = 1
LOG_QUEUE_BYTES = 32 << 20
SESSIONS_SHARE = 0.9
FLAPPING_S = 600
"""What is judged of the last views, in seconds."""
VIEWS_MIN = 8
"""So many views in that time are too many: restarting three nodes one by one takes six."""
EXCLUSIONS_MIN = 3
"""A node that went so often in that time comes and goes."""
NONE: Mapping[str, int] = {}
CERTIFICATE_DAYS = 30
"""Who has to make the next certificate and to restart the node by then wants to know in time."""
SLEPT_S = 10.0
"""A process that was not scheduled for so long in that time is starved."""


class Alert(NamedTuple):
    """What is to be seen: `about` are the numbers and names that the words need."""

    level: str
    code: str
    about: Shown


def alerts_of(
    found: Mapping[str, Shown | None],
    known: Iterable[str],
    draining: Iterable[str],
    cluster_size: int,
    audit: Shown | None,
    views: Iterable[Shown] = (),
    now_s: float = 0.0,
    erasing: Mapping[str, int] = NONE,
) -> list[Alert]:
    """All alerts, the worst first.

    `found`: what each node of the view says, None where it is silent; `known`: all nodes that there
    were ever; `draining`: those that are drained; `audit`: what the last one has left;
    `views`: those that any node remembers, in Unix time as `now_s`; `erasing`: how many documents
    that were deleted for good each node has still to erase.
    """
    alerts = _of_audit(audit)
    alerts += _of_views(views, now_s)
    alerts += of_waiting({n: one["waiting"] for n, one in found.items() if one is not None})
    for node, one in found.items():
        if one is None:
            alerts.append(Alert("bad", "node_silent", {"node": node}))
        else:
            alerts += _of_node(node, one)
    alerts += [Alert("warn", "node_away", {"node": n}) for n in sorted(set(known) - set(found))]
    alerts += [
        Alert("note" if n in found else "warn", "erasing", {"node": n, "documents": count})
        for n, count in erasing.items()
    ]
    if len(found) < cluster_size:
        about = {"members": len(found), "wanted": cluster_size}
        alerts.append(Alert("warn", "nodes_missing", about))
    versions = {one["version"] for one in found.values() if one is not None}
    if len(versions) > 1:
        alerts.append(Alert("warn", "versions_differ", {"versions": sorted(versions)}))
    here = set(found)
    alerts += [Alert("note", "draining", {"node": n}) for n in sorted(here & set(draining))]
    order = ("bad", "warn", "note")
    return sorted(alerts, key=lambda alert: order.index(alert.level))


def _of_views(views: Iterable[Shown], now_s: float) -> list[Alert]:
    """Whether views follow each other too fast, and whom they leave out again and again."""
    late = sorted((one for one in views if one["primary"]), key=lambda one: float(one["at_s"]))
    gone: Counter[str] = Counter()
    count = 0
    for before, after in pairwise(late):
        if after["at_s"] < now_s - FLAPPING_S:
            continue
        count += 1
        gone.update(set(before["members"]) - set(after["members"]))
    often = {node: times for node, times in gone.items() if times >= EXCLUSIONS_MIN}
    if count < VIEWS_MIN and not often:
        return []
    worst = sorted(often or gone, key=lambda node: (-gone[node], node))
    nodes = [{"node": node, "times": gone[node]} for node in worst]
    return [Alert("warn", "views_flap", {"views": count, "s": FLAPPING_S, "nodes": nodes})]


def of_waiting(waiting: Mapping[str, Shown | None]) -> list[Alert]:
    """Who waits for whom, and why, of what each node waits for (`server.waiting.shown`).

    Only what lasts until a node is back or an operator goes on without it; nodes that wait for the
    same are one alert.
    """
    alike: dict[str, list[str]] = {}
    lasting = {n: one for n, one in waiting.items() if one is not None and one["reason"] in KEEPS}
    for node, one in lasting.items():
        alike.setdefault(one["text"], []).append(node)
    return [
        Alert("bad", "awaits", {"nodes": nodes, **lasting[nodes[0]]}) for nodes in alike.values()
    ]


def _of_audit(audit: Shown | None) -> list[Alert]:
    """What is wrong with the order, or with what says that it was kept. What a certificate says
    whose signature is not good is not passed on.
    """
    if audit is None:
        return []
    if not audit["signed"]:
        return [Alert("bad", "certificate_forged", {})]
    if not is_broken(audit):
        return []
    rules = audit["certificate"].get("rules")
    said = rules.values() if isinstance(rules, dict) else ()
    found = [one.get("violations") for one in said if isinstance(one, dict)]
    violations = sum(count for count in found if isinstance(count, int))
    return [Alert("bad", "order_broken", {"violations": violations})]


def is_broken(audit: Shown) -> bool:
    """Whether a certificate, as `results.certificate` gives it, says that the order was broken."""
    return bool(audit["certificate"].get("result") == "broken")


def _of_node(node: str, one: Shown) -> list[Alert]:
    found: list[Alert] = []

    def add(level: str, code: str, **about: object) -> None:
        found.append(Alert(level, code, {"node": node, **about}))

    match one["state"]:
        case "stale":
            add("bad", "stale")
        case "readonly":
            add("bad", "disk_full")
        case "rebuilding":
            add("warn", "rebuilding")
        case "draining":
            add("note", "leaving")
    if one["wait_ms"] > WAIT_MS:
        add("warn", "slow", wait_ms=round(one["wait_ms"]))
    if one["cpu"] > CPU_PERCENT:
        add("warn", "busy", cpu=round(one["cpu"]))
    if one["slept_s"] >= SLEPT_S:
        add("warn", "starved", seconds=round(one["slept_s"], 1))
    if one["behind"] >= BEHIND_MIN:
        add("warn", "behind", sessions=one["behind"])
    if one["log_queue_bytes"] > LOG_QUEUE_BYTES:
        add("warn", "log_behind", mib=one["log_queue_bytes"] >> 20)
    if one["sessions"] > SESSIONS_SHARE * one["sessions_max"]:
        add("warn", "nearly_full", sessions=one["sessions"], most=one["sessions_max"])
    if one["pictures_missing"]:
        add("warn", "pictures_missing", pictures=one["pictures_missing"])
    days = one.get("certificate_days")
    if days is not None and days <= 0:
        add("bad", "certificate_over")
    elif days is not None and days < CERTIFICATE_DAYS:
        add("warn", "certificate_ends", days=int(days))
    if one["keys"]["changing"]:
        add("note", "keys_changing")
    return found


def health_of(alerts: Iterable[Alert]) -> str:
    """In one word: `good`, `fair` where something is to be looked at, `bad`."""
    levels = {alert.level for alert in alerts}
    return "bad" if "bad" in levels else "fair" if "warn" in levels else "good"
