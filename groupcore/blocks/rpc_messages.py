"""What dispatchers send each other: requests, answers, and the wish to stop.

Each travels as one packed list that begins with its kind. What is not one raises
ValueRefusedError; of a request that can be read as far as its number, the number is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from groupcore.blocks.errors import ValueRefusedError
from groupcore.blocks.values import pack_value, unpack_value
from groupcore.view import Address

REQUEST, ANSWER, STOP = 0, 1, 2
RETURNED, RAISED, REFUSED = 0, 1, 2
"""How a function ended: with a value, with an exception, or it was not run."""
TEXT_MAX = 2_000
"""Characters of an exception's text that travel."""
NAME_MAX = 200


@dataclass(frozen=True, slots=True)
class Request:
    """Run the function `name` with these arguments; `members` None means all members.

    `number` is the caller's own; `answer` says whether the caller waits for one.
    """

    number: int
    answer: bool
    members: tuple[Address, ...] | None
    name: str
    arguments: list[object]


@dataclass(frozen=True, slots=True)
class Answer:
    """How call `number` ended here. `kind` and `text` describe an exception or a refusal."""

    number: int
    how: int
    value: object = None
    kind: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Stop:
    """The caller of `number` does not wait any more."""

    number: int


RpcMessage: TypeAlias = Request | Answer | Stop


class BadRequestError(ValueRefusedError):
    """A request that cannot be read beyond its number."""

    def __init__(self, number: int, text: str) -> None:
        super().__init__(text)
        self.number = number


def encode(message: RpcMessage) -> bytes:
    """The message as bytes; ValueRefusedError when an argument or result cannot travel."""
    match message:
        case Request(number, answer, members, name, arguments):
            to = None if members is None else [list(member) for member in members]
            return pack_value([REQUEST, number, answer, to, name, arguments])
        case Answer(number, how, value, kind, text):
            return pack_value([ANSWER, number, how, value, kind, text[:TEXT_MAX]])
        case Stop(number):
            return pack_value([STOP, number])


def decode(payload: bytes) -> RpcMessage:
    """The message in these bytes; ValueRefusedError (of a request: BadRequestError)."""
    match unpack_value(payload):
        case [0, int(number), bool(answer), to, str(name), list(arguments)]:
            if len(name) > NAME_MAX:
                raise BadRequestError(number, f"the name is longer than {NAME_MAX}")
            return Request(number, answer, _members(number, to), name, arguments)
        case [0, int(number), *_]:
            raise BadRequestError(number, "a request is [0, number, answer, members, name, list]")
        case [1, int(number), int(how), value, str(kind), str(text)] if how in (0, 1, 2):
            return Answer(number, how, value, kind, text)
        case [2, int(number)]:
            return Stop(number)
        case _:
            raise ValueRefusedError("not a request, an answer or a stop")


def _members(number: int, to: object) -> tuple[Address, ...] | None:
    if to is None:
        return None
    members = []
    for member in to if isinstance(to, list) else [to]:
        match member:
            case [str(name), int(incarnation)]:
                members.append(Address(name, incarnation))
            case _:
                raise BadRequestError(number, "members are [name, incarnation] pairs, or nil")
    return tuple(members)
