"""What a page's messages must look like; BadRequestError says what is wrong with one."""

from __future__ import annotations

import re
from collections.abc import Mapping

from groupcore.frames import Message
from groupcore.gateway.errors import BadRequestError
from groupcore.gateway.limits import NAME_MAX, RULES
from groupcore.gateway.parts import Sight
from groupcore.shared.errors import ArgumentsError, MisfitError
from groupcore.shared.handle import Call
from groupcore.shared.messages import CALLS_MAX
from groupcore.shared.object import SharedObject, declaration

_CLIENT = re.compile(r"[A-Za-z0-9_-]{16,64}")

TICKET_MAX = 1_000
"""Most characters of what a page shows in its hello."""

FIELDS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "hello": (frozenset({"v", "client"}), frozenset({"ticket"})),
    "open": (frozenset({"name", "type"}), frozenset({"birth", "version", "base", "sight"})),
    "look": (frozenset({"name", "sight"}), frozenset()),
    "close": (frozenset({"name"}), frozenset()),
    "call": (frozenset({"name", "n", "answered", "calls"}), frozenset()),
    "publish": (frozenset({"name", "n", "value"}), frozenset()),
    "present": (frozenset({"name", "value"}), frozenset()),
    "inspect": (frozenset({"n"}), frozenset()),
    "pong": (frozenset(), frozenset()),
}
"""Required and optional fields of each kind, beside `t`."""


def check_fields(message: Message) -> None:
    """All required fields, and no unknown ones."""
    kind = str(message["t"])
    known = FIELDS.get(kind)
    if known is None:
        raise BadRequestError("unknown_message", f"no message is called {kind[:40]!r}")
    required, optional = known
    given = message.keys() - {"t"}
    if missing := sorted(required - given):
        raise BadRequestError("bad_message", f"{kind} needs {missing[0]}")
    if unknown := sorted(given - required - optional):
        raise BadRequestError("bad_message", f"{kind} knows no field {unknown[0][:40]!r}")


def client_of(value: object) -> str:
    """A client's id: long enough that nobody guesses it."""
    if type(value) is not str or not _CLIENT.fullmatch(value):
        raise BadRequestError("bad_message", "client must be 16 to 64 of A-Za-z0-9_-")
    return value


def ticket_of(message: Message) -> str:
    """What a page shows in its hello, empty where it shows nothing."""
    ticket = message.get("ticket", "")
    if type(ticket) is not str or len(ticket) > TICKET_MAX:
        raise BadRequestError("bad_message", f"ticket must have at most {TICKET_MAX} characters")
    return ticket


def name_of(value: object, what: str = "name") -> str:
    """An object's or a type's name."""
    if type(value) is not str or not 0 < len(value) <= NAME_MAX:
        code = "bad_name" if what == "name" else "bad_message"
        raise BadRequestError(code, f"{what} must have 1 to {NAME_MAX} characters")
    return value


def number_of(value: object, what: str, least: int = 0) -> int:
    """A whole number."""
    if type(value) is not int or not least <= value <= RULES.integer_max:
        raise BadRequestError("bad_message", f"{what} must be a whole number from {least}")
    return value


def sight_of(value: object) -> Sight:
    """A rectangle that somebody sees, of some size."""
    match value:
        case [int(left), int(top), int(right), int(bottom)] if left < right and top < bottom:
            sides = (left, top, right, bottom)
            if all(type(one) is int and abs(one) <= RULES.integer_max for one in sides):
                return sides
    raise BadRequestError("bad_message", "sight must be left, top, right, bottom")


def calls_of(value: object, target: SharedObject) -> list[Call]:
    """The operations that a page calls, with arguments that fit."""
    if type(value) is not list or not 1 <= len(value) <= CALLS_MAX:
        raise BadRequestError("bad_message", f"calls must be 1 to {CALLS_MAX} operations")
    operations = declaration(target).operations
    calls: list[Call] = []
    for one in value:
        match one:
            case [str(name), list(arguments)]:
                spec = operations.get(name)
                if spec is None:
                    raise BadRequestError("unknown_operation", f"there is no operation {name!r}")
                if name in target.for_nodes:
                    raise BadRequestError("forbidden", f"{name!r} is for nodes, not for pages")
                try:
                    calls.append((spec, spec.completed(arguments)))
                except (ArgumentsError, MisfitError) as error:
                    raise BadRequestError("arguments", str(error)) from None
            case _:
                raise BadRequestError("bad_message", "a call is [operation, [argument, ...]]")
    return calls
