"""What is behind a page's objects: for who wants to see how the node does it.

A page is told of the groups of the objects that it has open, which it may read, and of no others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

from groupcore.frames import Message
from groupcore.sequencing.service import Service
from groupcore.shared.plain import who

if TYPE_CHECKING:
    from groupcore.gateway.page import Page

Told: TypeAlias = dict[str, object]


def inspection(page: Page) -> Message:
    """The node, the session, and the group of each object that the session has open."""
    found = {"at": _node(page), "session": _session(page), "objects": _objects(page)}
    return cast("Message", found)


def _service(page: Page) -> Service | None:
    """None while the node is outside the cluster."""
    return page.gateway.node.service


def _node(page: Page) -> Told:
    gateway = page.gateway
    view = gateway.node.view
    found: Told = {"node": gateway.node.node_id, "primary": gateway.node.is_primary}
    found["view"] = None if view is None else f"{view.epoch}.{view.number}"
    found["members"] = [] if view is None else list(view.names)
    found["voters"] = [] if view is None else list(view.voters)
    found["coordinator"] = None if view is None else view.coordinator.name
    service = _service(page)
    found["groups"] = 0 if service is None else len(service.plane.records)
    figures = gateway.figures
    found |= {"sessions": figures.sessions, "connections": figures.connections}
    return found


def _session(page: Page) -> Told:
    return {
        "who": who(page.session.process),
        "resumed": page.resumed,
        "buffered_bytes": page.buffered_bytes,
        "withheld": page.withheld,
        "calls": len(page.owed),
        "objects": len(page.opened),
    }


def _objects(page: Page) -> list[Told]:
    service = _service(page)
    found: list[Told] = []
    for name, opened in page.opened.items():
        told: Told = {"name": name, "type": opened.kind.name}
        group = page.session.port(opened.kind.kind, name).group
        facts = None if service is None else service.facts(group)
        if facts is not None:
            told |= facts._asdict() | {"nodes": list(facts.nodes)}
        found.append(told)
    return found
