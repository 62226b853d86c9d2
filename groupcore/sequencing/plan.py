"""Placement plans from outside: a JSON text that says which node shall sequence which group.

`{"plan": 1, "groups": {"<name or number>": "<node>", ...}}`, and maybe what its maker says of it,
of which nothing is made here: an object `expects`, what it will bring; an object `reasons`, why
each group goes; lists of texts `infeasible`, what it cannot mend, and `supposes`, the nodes that it
is for. It is checked whole before any of it is done. Groups that it does not name stay where they
are, so a strict component has to be named whole, unless its other groups are at that node already.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from groupcore.errors import PlanError
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.directory_state import DirectoryState
from groupcore.sequencing.names import GroupId

FORMAT = 1
"""The value of `plan` in every plan."""
PLAN_BYTES_MAX = 16 * 1024 * 1024
"""No plan is longer."""
SAID: Final[Mapping[str, type]] = {
    "expects": dict,
    "reasons": dict,
    "infeasible": list,
    "supposes": list,
}
"""What a plan may say of itself, beside what it does."""
SHOWN_MAX = 40
"""So many characters of what is wrong are shown."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked plan: the node, by name, that shall sequence each group.

    `expects`: what it is to bring, as it says itself; `reasons`: why the groups go.
    """

    targets: dict[GroupId, str]
    expects: Mapping[str, object] = field(default_factory=dict)
    reasons: Mapping[GroupId, str] = field(default_factory=dict)


def check_plan(text: str | bytes, directory: Directory) -> Plan:
    """The plan in a text, fit for the directory as it is now.

    Raises PlanError, which names the first thing that is wrong and its remedy: a text that is no
    plan, an unknown group or node, a group that stands twice, a node that drains, a strict
    component that would be split (S2).
    """
    plan, objections = look_through(text, directory)
    if objections:
        raise objections[0]
    return plan


def look_through(text: str | bytes, directory: Directory) -> tuple[Plan, list[PlanError]]:
    """What of a plan can be carried out as the directory is now, and all that is wrong with it.

    Raises PlanError for a text that is no plan.
    """
    state = directory.state
    targets: dict[GroupId, str] = {}
    objections: list[PlanError] = []
    groups, said = _parse(text)
    whys, reasons = said["reasons"], {}
    for key, node in groups.items():
        try:
            group = _group(state, key)
            if group in targets:
                raise PlanError(_shown(key), "the group stands twice", "name it once", "twice")
            targets[group] = _node(state, key, node)
            if isinstance(why := whys.get(key), str):
                reasons[group] = why[:SHOWN_MAX]
        except PlanError as error:
            objections.append(error)
    split = {group: found for group in targets if (found := _split(state, targets, group))}
    fit = {group: node for group, node in targets.items() if group not in split}
    return Plan(fit, said["expects"], reasons), [*objections, *split.values()]


def _parse(text: str | bytes) -> tuple[dict[str, object], dict[str, dict[str, object]]]:
    """The groups of the plan, as they are written, and the objects of what it says of itself."""
    if len(text) > PLAN_BYTES_MAX:
        raise PlanError("the plan", f"has more than {PLAN_BYTES_MAX} bytes", "split it")
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise PlanError("the plan", f"is no JSON: {str(error)[:80]}", "correct it there") from None
    if not isinstance(value, dict) or {"plan", "groups"} != set(value) - SAID.keys():
        raise PlanError("the plan", "is no object of plan and groups", "give it just these keys")
    if type(value["plan"]) is not int or value["plan"] != FORMAT:
        raise PlanError("plan", "is another format", f"write {FORMAT}")
    groups: object = value["groups"]
    if not isinstance(groups, dict) or not groups:
        raise PlanError("groups", "names no group", "give an object of group to node")
    for key, kind in SAID.items():
        if not isinstance(value.setdefault(key, kind()), kind):
            noun = "object" if kind is dict else "list"
            raise PlanError(key, f"is no {noun}", f"give a {noun}, or leave it out")
    return groups, {key: value[key] for key, kind in SAID.items() if kind is dict}


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise PlanError(_shown(twice), "stands twice", "name it once")
    return made


def _group(state: DirectoryState, key: str) -> GroupId:
    """A name counts before a number."""
    named = state.names.get(key)
    if named is not None:
        return named
    if key.isascii() and key.isdigit() and len(key) <= 20 and int(key) in state.entries:
        return int(key)
    problem = "no group has this name or number"
    raise PlanError(_shown(key), problem, "leave it out", "unknown_group")


def _node(state: DirectoryState, key: str, node: object) -> str:
    if not isinstance(node, str):
        raise PlanError(_shown(key), "its node is no text", "give the node's name", "unknown_node")
    present = sorted(member.name for member in state.members)
    if node not in present:
        remedy = f"name one of {', '.join(present)}"
        problem = f"no node {_shown(node)} is in the view"
        raise PlanError(_shown(key), problem, remedy, "unknown_node")
    if node in state.draining:
        remedy = "end that or name another node"
        raise PlanError(_shown(key), f"{node} is being drained", remedy, "draining")
    return node


def _split(state: DirectoryState, targets: dict[GroupId, str], group: GroupId) -> PlanError | None:
    """What is wrong where not all of the group's strict component is to be at its target."""
    target = targets[group]
    wrong = [
        other
        for other in state.unit_of(group)
        if targets.get(other, state.home_of(other).name) != target
    ]
    if not wrong:
        return None
    groups = ", ".join(map(str, wrong))
    problem = f"it shares two processes or more with {groups}: they need one sequencer (S2)"
    return PlanError(f"group {group}", problem, f"give {groups} to {target} as well", "breaks_s2")


def _shown(text: str) -> str:
    return repr(text[:SHOWN_MAX])
