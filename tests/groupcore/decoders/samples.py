"""Values that are right: of annotations, of headers, of the operations of shared objects."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from groupcore import stacks, wire  # noqa: F401 (all layers are loaded)
from groupcore.batch import Batch, Header, pack_messages
from groupcore.headers import HEADERS
from groupcore.sequencing import headers as sequencing_headers  # noqa: F401 (what the data plane sends)
from groupcore.sequencing.commands import COMMANDS, Command, encode_command
from groupcore.sequencing.names import Process
from groupcore.shared.documents import Block, DocumentOutline
from groupcore.shared.errors import MisfitError
from groupcore.shared.messages import WireCall, encode_operate
from groupcore.shared.object import SharedObject
from groupcore.shared.places import Cell, PlaceOutline, PlaceTalk
from groupcore.shared.types import Counter, Lease, List, Lock, Map, Register, RichText, Text
from groupcore.shared.verdicts import Call
from groupcore.view import Address, View
from server.rebuilding import KINDS

A, B, C = Address("a", 1), Address("b", 1), Address("c", 1)
LEAVES: dict[object, Any] = {
    int: 1,
    bool: True,
    str: "a",
    bytes: b"",
    Address: A,
    View: View(1, 1, 0, 1, (A, B)),
}


def sample(hint: object) -> Any:
    """A value of an annotation."""
    if hint in LEAVES:
        return LEAVES[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple:
        return (sample(arguments[0]),)
    if origin is dict:
        return {sample(arguments[0]): sample(arguments[1])}
    if origin in (Union, UnionType):
        return sample(next(one for one in arguments if one is not type(None)))
    return instance(hint)


def instance(record: Any) -> Any:
    """Of a dataclass or a named tuple."""
    hints = get_type_hints(record)
    names = getattr(record, "_fields", None) or [field.name for field in fields(record)]
    return record(*(sample(hints[name]) for name in names))


def headers() -> list[Header]:
    """One of each kind."""
    return [instance(header) for header in HEADERS.values()]


def packets() -> list[bytes]:
    """One with each header."""
    body = pack_messages([b"one", b"two"])
    return [wire.encode_packet(Batch(A, None, (header,), body, 2)) for header in headers()]


def commands() -> list[Command]:
    """One of each kind."""
    return [instance(command) for command in COMMANDS.values()]


def command_bytes() -> list[bytes]:
    return [encode_command(command) for command in commands()]


# --- operations -----------------------------------------------------------------------------------

OBJECTS: dict[str, type[SharedObject]] = {
    "Counter": Counter,
    "Text": Text,
    "RichText": RichText,
    "List": List[str],
    "Map": Map[str, int],
    "Register": Register[int],
    "Lock": Lock,
    "Lease": Lease,
    "Block": Block,
    "DocumentOutline": DocumentOutline,
    "Cell": Cell,
    "PlaceOutline": PlaceOutline,
    "PlaceTalk": PlaceTalk,
    **{kind.__name__: kind for kind in KINDS.values()},
}
"""Every class of an object that the library or the server has groups of."""

THING = ["a", "ball", *[0] * 8, "", "", False, *[[]] * 5, 0, 0]
"""A thing of a place, as it travels."""

CANDIDATES: tuple[Any, ...] = (
    *([THING], [["a", [["x", 1]], [], ""]], [1, [THING], [["a", True]], [], "a"]),
    *([["2", "user:1", "", 5, "Hello"]],),
    *([1, 0, 0, 1, 1, ["red"]], "r", ["r", "r0"], {"a": "r0"}, "leaf"),
    *("a", 1, 0, True, 1.0, None, b"x", ["x"], [], {}, "b1", "user:1", "viewer", "paragraph"),
    *(["a"], [["a", "b", 1]], {"a": "viewer"}, {"a": 1}, [["b1", "paragraph", "x"]], ["a", 1, "b"]),
    *([["b1", "paragraph", 1]], [1, "x"], [["x", {}]], b"\x00" * 32, "a@b.cc", [["k", "v"]]),
)


@cache
def calls_of(name: str) -> tuple[WireCall, ...]:
    """A call of each operation for which fitting arguments are found."""
    found: list[WireCall] = []
    operations = OBJECTS[name]()._shared.declaration.operations
    for spec in operations.values():
        arguments = [_fitting(codec) for codec in spec._codecs]
        if all(fitting for fitting in arguments):
            found.append((spec.name, [one[0] for one in arguments]))
    return tuple(found)


def _fitting(codec: Any) -> list[Any]:
    for value in CANDIDATES:
        try:
            codec.from_wire(value)
        except (MisfitError, Exception):  # a type of a user may raise anything
            continue
        return [value]
    return []


def operations(name: str) -> list[bytes]:
    """Messages that have these done, of a person, of a client, several at once."""
    calls = calls_of(name)
    each = [encode_operate(1_000 + at, [call]) for at, call in enumerate(calls)]
    named = [encode_operate(2_000, [call], "user:1") for call in calls]
    numbered = [
        encode_operate(3_000, [call], "user:1", Call("client", at, at - 1))
        for at, call in enumerate(calls, 1)
    ]
    return [*each, *named, *numbered, encode_operate(4_000, list(calls[:3]))]


MEMBER = Process(A, 1)
