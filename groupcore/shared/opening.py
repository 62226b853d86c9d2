"""From a class to what runs it in a group: what both `Node.open` and the test kit need."""

from __future__ import annotations

from typing import get_args, get_origin

from groupcore.sequencing.arguments import wrong_name
from groupcore.sequencing.names import Order
from groupcore.shared.body import Body
from groupcore.shared.errors import DeclarationError, RefusedError
from groupcore.shared.group import GroupPort, GroupUser
from groupcore.shared.object import SharedObject
from groupcore.shared.replica import Replica
from groupcore.shared.schema import codec_of
from groupcore.shared.types.presence import Crowd, Presence
from groupcore.shared.types.topic import Topic


def check_name(name: str) -> None:
    """That an object can have this name; RefusedError `bad_name`. Without one nobody finds it."""
    objection = wrong_name(name) or ("" if name else "the name is empty; give one")
    if objection:
        raise RefusedError("bad_name", objection)


def order_of(kind: object) -> Order:
    """The order that the group of such an object has.

    Raises DeclarationError when it cannot be opened, or is a `Topic` or `Presence` of nothing.
    """
    origin = get_origin(kind) or kind
    if isinstance(origin, type) and issubclass(origin, Topic | Presence) and not get_args(kind):
        name = origin.__name__
        raise DeclarationError(f"{name} needs the type of its values; open {name}[...]")
    if isinstance(origin, type) and issubclass(origin, SharedObject | Topic | Presence):
        return origin.group_order
    raise DeclarationError(
        f"{origin!r} cannot be opened; derive it from SharedObject, or put @shared before it"
    )


def may_attend(kind: type[object], order: Order) -> bool:
    """Whether sessions may have it open without being members (decision 184)."""
    origin = get_origin(kind) or kind
    if order is Order.STRICT:
        return False  # processes count there
    if isinstance(origin, type) and issubclass(origin, SharedObject):
        return not (origin.sessions_join or origin.on_joined is not SharedObject.on_joined)
    return True


def crowd_of(kind: type[object]) -> Crowd[object] | None:
    """What a node knows of a presence of this type, for all its processes; None for others."""
    origin = get_origin(kind) or kind
    if isinstance(origin, type) and issubclass(origin, Presence):
        return Crowd(codec_of(get_args(kind)[0]), origin.expiry_s)
    return None


def user_of(
    kind: type[object],
    port: GroupPort,
    body: Body[object] | None = None,
    crowd: Crowd[object] | None = None,
) -> GroupUser:
    """What is fed the events of the group and gives the object; not opened yet.

    `body`, `crowd`: what the node has of it, where several processes of it may have it open."""
    origin = get_origin(kind) or kind
    if isinstance(origin, type) and issubclass(origin, Presence):
        return origin(port, codec_of(get_args(kind)[0]), crowd)
    if isinstance(origin, type) and issubclass(origin, Topic):
        return origin(port, codec_of(get_args(kind)[0]))
    return Replica(kind, port, body)
