"""What the console's commands print for people: a line for each thing."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime
from typing import Any

from server.console.series import Sample

Shown = dict[str, Any]
NAMED = 3
"""So many groups of a move are named."""


def lines_of(given: argparse.Namespace, found: Shown) -> list[str]:
    """A line for each thing."""
    match given.topic, getattr(given, "verb", ""):
        case "status", _:
            return _overview(found)
        case "node", "ls":
            return [_node(one) for one in found["nodes"]]
        case "node", "show":
            return _details(found)
        case "node", "load":
            return [_load(node, rows) for node, rows in sorted(found["nodes"].items())]
        case "group", "ls":
            return [*map(_group, found["groups"]), _page(found)]
        case "overlap", "ls":
            return [*map(_component, found["components"]), *_aside(found), _page(found)]
        case "overlap", "show":
            return _costs(found)
        case "view", "ls":
            return [*map(_view, found["views"]), _page(found)]
        case "order", "show":
            return _certificate(found["audit"])
        case "order", "ls":
            return _violations(found)
        case "order", "violation":
            return _violation(found)
        case "group", "show":
            return _one_group(found)
        case "migration", "ls":
            return [line for one in found["migrations"] for line in _move(one)] or [
                "nothing has moved"
            ]
        case "session", "ls":
            return [*map(_session, found["sessions"]), _page(found)]
        case _:
            return ["  ".join(f"{name}={value}" for name, value in found.items()) or "done"]


def _page(found: Shown) -> str:
    return f"page {found['page']} of {found['pages']}, {found['count']} in all"


def _time(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds")


def _overview(found: Shown) -> list[str]:
    alerts = [
        f"  {one['level']:<5} {one['code']}  {_about(one['about'])}" for one in found["alerts"]
    ]
    head = f"cluster {found['cluster']}: {found['health']}, {found['groups']} groups"
    return [head, *alerts, *(f"  {_node(one)}" for one in found["nodes"])]


def _about(about: Shown) -> str:
    """What an alert is about; where it has a text of its own, that and which nodes say so."""
    if "text" in about:
        return f"{', '.join(about['nodes'])}: {about['text']}"
    return "  ".join(f"{name}={value}" for name, value in about.items())


def _node(one: Shown) -> str:
    stands = one["standing"]
    if stands is None:
        return f"{one['node']}  does not answer"
    state = "drained" if one["draining"] else stands["state"]
    return (
        f"{one['node']}  {state}  groups={stands['groups_sequenced']}"
        f"  sessions={stands['sessions']}  behind={stands['behind']}"
        f"  messages/s={stands['messages']:.0f}  wait_ms={stands['wait_ms']:.1f}"
        f"  cpu={stands['cpu']:.0f}%  version={stands['version']}  {_keys(stands['keys'])}"
    )


def _keys(keys: Shown) -> str:
    """The key epoch in use, and all that are accepted."""
    accepted = ",".join(map(str, keys["accepted"]))
    return f"key_epoch={keys['epoch']}  accepted={accepted}" + (
        "  changing" if keys["changing"] else ""
    )


def _details(found: Shown) -> list[str]:
    settings = [
        f"{one['flag']}  {'(set)' if one['masked'] else one['value'] or '-'}"
        for one in found["settings"]
    ]
    keys = f"keys  {_keys(found['keys'])}"
    return [
        *settings,
        keys,
        *(f"dropped  {reason}={count}" for reason, count in found["drops"].items()),
    ]


def _group(one: Shown) -> str:
    goes = f" -> {one['moving_to']}" if one["moving_to"] else ""
    return (
        f"{one['group']}  {one['name']}  {one['sequencer']}{goes}  {one['order']}"
        f"  epoch={one['epoch']}  head={one['head']}  members={one['members']}"
        f"  messages/s={one['messages']}  history={one['history_bytes']}"
    )


def _one_group(found: Shown) -> list[str]:
    nodes = [
        f"  node {one['node']}  "
        + ("does not answer" if one["silent"] else f"position={one.get('position')}")
        for one in found["nodes"]
    ]
    people = [
        f"  {'member' if one['since'] else 'session'} {one['node']}/{one['process']}"
        + f"  {one['name'] or '-'}  since={one['since'] or '-'}"
        + ("  behind" if one["behind"] else "")
        + ("  observes" if one["observes"] else "")
        for one in found["people"]
    ]
    return [_group(found), *nodes, *people]


def _move(one: Shown) -> list[str]:
    """The move, when it reached its phases, and where each group goes on."""
    names = ", ".join(group["name"] for group in one["groups"][:NAMED])
    more = f" and {one['count'] - NAMED} more" if one["count"] > NAMED else ""
    pause = "" if one["pause_ms"] is None else f"  pause_ms={one['pause_ms']}"
    head = (
        f"{_time(one['began_s'])}  {one['move']}  {one['source']} -> {one['target']}"
        f"  {one['reason']}  {one['phase']}{pause}  held={one['held']}  {names}{more}"
    )
    reached = [
        f"{phase}_after_ms={after}" for phase, after in one["after_ms"].items() if after is not None
    ]
    places = [
        f"    {group['name']}  last={group['last']}  first={group['last'] + 1}"
        for group in one["groups"]
        if group["last"] is not None
    ]
    return [head, *(["  " + "  ".join(reached)] if reached else []), *places]


def _session(one: Shown) -> str:
    name = one["name"] or one["principal"] or "-"
    here = "" if one["connected"] else "  away"
    return (
        f"{one['session']}  {name}  objects={one['objects']}  withheld={one['withheld']}"
        f"  unsent={one['buffered_bytes']}{here}"
    )


def _load(node: str, rows: list[list[Any]]) -> str:
    """The last second of a node; the fields are those of a `Sample`."""
    if not rows:
        return f"{node}  nothing yet, or it does not answer"
    last = dict(zip(Sample._fields, rows[-1], strict=True))
    return "  ".join([node, *(f"{name}={value}" for name, value in last.items())])


def _component(one: Shown) -> str:
    more = one["groups"] - len(one["names"])
    names = ", ".join(one["names"]) + (f" and {more} more" if more else "")
    homes = ", ".join(f"{home['node']}: {home['groups']}" for home in one["homes"])
    return (
        f"{one['component']}  {names}  groups={one['groups']}  bound={one['bound']}"
        f"  processes={one['processes']}  load_us={one['load_us']}  at {homes}"
    )


def _aside(found: Shown) -> list[str]:
    """Who and what counts for nothing on the map."""
    watching = [
        f"observer {one['node']}/{one['process']}  {one['name'] or '-'}  groups={one['groups']}"
        + ("  declared" if one["declared"] else "")
        for one in found["observers"]
    ]
    halls = [
        f"large {one['group']}  {one['name']}  processes={one['processes']}"
        for one in found["halls"]
    ]
    return [*watching, *halls]


def _costs(found: Shown) -> list[str]:
    cost, split = found["cost"], found["cost"]["split"]
    pause = "-" if cost["pause_ms"] is None else cost["pause_ms"]
    head = (
        f"move {cost['name']}  from {cost['from']}  with={cost['count']}  load_us={cost['load_us']}"
        f"  messages/s={cost['messages']}  history={cost['history_bytes']}  pause_ms={pause}"
    )
    targets = [
        f"  to {one['node']}  load_us={one['load_us'][0]} -> {one['load_us'][1]}"
        f"  imbalance={one['imbalance'][0]} -> {one['imbalance'][1]}"
        for one in cost["targets"]
    ]
    bound = [f"  along {name}" for name in cost["unit"] if name != cost["name"]]
    if split is None:
        parting = ["split: free, nothing is bound"]
    elif split["who"] is None:
        parting = ["split: too many groups to say who would have to leave"]
    else:
        parting = [
            f"split: {one['node']}/{one['process']}  {one['name'] or '-'}  parts={one['parts']}"
            f"  largest={one['largest']}"
            for one in split["who"]
        ] or ["split: several would have to leave"]
    return [
        head,
        *bound,
        *targets,
        *parting,
        *map(_group_line, found["rows"]),
        _page({**found, "count": found["groups"]}),
    ]


def _group_line(row: Shown) -> str:
    return f"  group {row['group']}  {row['name']}  {row['sequencer']}  load_us={row['load_us']}"


def _view(one: Shown) -> str:
    primary = "primary" if one["primary"] else "not primary"
    return f"{_time(one['at_s'])}  {one['id']}  {primary}  {', '.join(one['members'])}"


def _certificate(audit: Shown | None) -> list[str]:
    if audit is None:
        return ["no audit has been left here"]
    said = audit["certificate"]
    signed = "the signature is good" if audit["signed"] else "the signature is NOT good"
    rules = [
        f"  {name}  " + "  ".join(f"{what}={count}" for what, count in counts.items())
        for name, counts in said.get("rules", {}).items()
    ]
    head = f"{said.get('result')}  deliveries={said.get('deliveries')}"
    nodes = [
        f"  {node}  deliveries={one.get('deliveries')}  unproved={one.get('unproved')}"
        f"  missing={one.get('missing')}  share_proved={one.get('share_proved')}"
        for node, one in said.get("nodes", {}).items()
    ]
    return [head, f"{signed}, of key {audit['key']}", *rules, *nodes]


def _violations(found: Shown) -> list[str]:
    if not found["audited"]:
        return ["the store of an audit is not here"]
    rows = [
        f"{one['id']}  {one['rule']}  {one['group'] or one['gid']}  seq={one['seq']}"
        f"  {one['node']}  {one['message']}"
        for one in found["violations"]
    ]
    return [*rows, _page(found)]


def _violation(found: Shown) -> list[str]:
    facts = [f"{name}={value}" for name, value in found.items() if name != "around" and value]
    around = []
    for place in found.get("around", ()):
        name = place["group"] or place["gid"]
        around.append(f"around {place['seq']} of {name}")
        for at in place["nodes"]:
            around += [f"  {at['node']}  {_delivered(row)}" for row in at["rows"]]
    return [*facts, *around]


def _delivered(row: Shown) -> str:
    mark = "  <-" if row["marked"] else ""
    archive = row["sequencer"] or "archive"
    return (
        f"{row['first']}-{row['last']}  {row['what']}  {row['message']}  by {archive}"
        f"  dno={row['dno']}{mark}"
    )
