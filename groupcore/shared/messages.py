"""What replicas of an object send to their group: operations, and comparisons of their states.

A message is a msgpack array that begins with its kind. Whatever does not decode is a message that
does nothing, at every replica alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from msgpack import Packer, unpackb
from msgpack.exceptions import UnpackException

from groupcore.sequencing.names import Process
from groupcore.shared.errors import MisfitError
from groupcore.shared.scalars import check_int
from groupcore.shared.verdicts import CLIENT_MAX, Call
from groupcore.view import Address

OPERATE, CHECK, TRAIL, VERIFY, ENDED, AUTHORIZED = 1, 2, 3, 4, 5, 6
HASH_BYTES = 8
CALLS_MAX = 1_000
"""Most operations in one transaction."""
HASHES_MAX = 65
"""Most hashes in one TRAIL."""
PRINCIPAL_MAX = 200
"""Most characters of a principal's name."""
AUTHORIZATION_MAX = 2_048
"""Most bytes of an authorization."""

WireCall: TypeAlias = tuple[str, object]
"""Name of an operation and its packed arguments."""

_packer = Packer(use_bin_type=True, autoreset=True)


@dataclass(frozen=True, slots=True)
class Authorized:
    """What the sender's node shows to be let do it: an `authorization` of the bytes in `text`."""

    text: bytes
    authorization: bytes


UNAUTHORIZED = Authorized(b"", b"")
"""Of operations that came with none."""


@dataclass(frozen=True, slots=True)
class Operate:
    """Do these operations, all or none. `stamp_ms` is the sender's estimate of the order's time.

    `principal`: on whose behalf, as the sender's node says; empty where it says nothing. `call`: a
    client's number for it, which is done once however often it comes. `authorized`: for objects
    that ask for it (`SharedObject.check_authorization`).
    """

    stamp_ms: int
    calls: list[WireCall]
    principal: str = ""
    call: Call | None = None
    authorized: Authorized = UNAUTHORIZED


@dataclass(frozen=True, slots=True)
class Check:
    """My state at the cut at `position` has this hash."""

    position: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class Trail:
    """To `process`, whose state at `cut` differs from mine: my hashes at these positions."""

    process: Process
    cut: int
    hashes: dict[int, bytes]


@dataclass(frozen=True, slots=True)
class Verify:
    """Make a cut here, in any case (`asked`) or if enough has happened since the last one."""

    asked: bool


@dataclass(frozen=True, slots=True)
class Ended:
    """The sender has the object open no more: the last word of a session that attends."""


SharedMessage: TypeAlias = Operate | Check | Trail | Verify | Ended


def process_to_wire(process: Process) -> list[object]:
    """A process as plain values."""
    return [process.node.name, process.node.incarnation, process.number]


def process_from_wire(wire: object) -> Process:
    """The process; MisfitError when these are no plain values of one."""
    match wire:
        case [str(name), int(incarnation), int(number)]:
            return Process(Address(name, incarnation), number)
        case _:
            raise MisfitError("not a process")


def pack(value: object) -> bytes:
    """Plain values as bytes."""
    packed: bytes = _packer.pack(value)
    return packed


def unpack(packed: bytes) -> object:
    """The plain values in these bytes; MisfitError when there are none."""
    try:
        value: object = unpackb(packed, raw=False, strict_map_key=True, max_ext_len=0)
    except (UnpackException, ValueError, TypeError, RecursionError) as error:
        raise MisfitError(f"not packed values ({type(error).__name__})") from None
    return value


def encode_operate(
    stamp_ms: int, calls: Sequence[WireCall], principal: str = "", call: Call | None = None
) -> bytes:
    """The message that has these operations done."""
    if call is not None:
        number = [call.client, call.number, call.answered]
        return pack([OPERATE, stamp_ms, calls, principal, *number])
    if principal:
        return pack([OPERATE, stamp_ms, calls, principal])
    return pack([OPERATE, stamp_ms, calls])


def encode_authorized(text: bytes, authorization: bytes) -> bytes:
    """The operations of a message (`encode_operate`) with the authorization of its bytes."""
    return pack([AUTHORIZED, text, authorization])


def encode(message: Check | Trail | Verify | Ended) -> bytes:
    """The bytes of a message that calls nothing."""
    match message:
        case Check(position, digest):
            return pack([CHECK, position, digest])
        case Trail(process, cut, hashes):
            pairs = [[position, digest] for position, digest in hashes.items()]
            return pack([TRAIL, process_to_wire(process), cut, pairs])
        case Verify(asked):
            return pack([VERIFY, asked])
        case Ended():
            return pack([ENDED])


def decode(payload: bytes) -> SharedMessage:
    """The message in these bytes; MisfitError when they are none."""
    match unpack(payload):
        case [1, int(stamp_ms), list(calls)] if len(calls) <= CALLS_MAX:
            return Operate(check_int(stamp_ms), [_call(call) for call in calls])
        case [1, int(stamp_ms), list(calls), str(principal)] if (
            len(calls) <= CALLS_MAX and 0 < len(principal) <= PRINCIPAL_MAX
        ):
            return Operate(check_int(stamp_ms), [_call(call) for call in calls], principal)
        case [1, int(stamp_ms), list(calls), str(principal), str(client), number, answered] if (
            len(calls) <= CALLS_MAX
            and len(principal) <= PRINCIPAL_MAX
            and 0 < len(client) <= CLIENT_MAX
        ):
            call = Call(client, check_int(number), check_int(answered))
            if call.number < 1 or not 0 <= call.answered < call.number:
                raise MisfitError("a call's number and those below it do not fit")
            named = [_call(one) for one in calls]
            return Operate(check_int(stamp_ms), named, principal, call)
        case [2, int(position), bytes(digest)] if len(digest) == HASH_BYTES:
            return Check(position, digest)
        case [3, process, int(cut), list(pairs)] if 0 < len(pairs) <= HASHES_MAX:
            return Trail(process_from_wire(process), cut, _hashes(pairs))
        case [4, bool(asked)]:
            return Verify(asked)
        case [5]:
            return Ended()
        case [6, bytes(text), bytes(authorization)] if 0 < len(authorization) <= AUTHORIZATION_MAX:
            return _authorized(text, authorization)
        case _:
            raise MisfitError("no message of a shared object")


def _authorized(text: bytes, authorization: bytes) -> Operate:
    message = decode(text)
    if not isinstance(message, Operate) or message.authorized is not UNAUTHORIZED:
        raise MisfitError("an authorization is for operations, and for them alone")
    return replace(message, authorized=Authorized(text, authorization))


def _call(wire: object) -> WireCall:
    match wire:
        case [str(name), list(arguments)]:
            return name, arguments
        case _:
            raise MisfitError("not a call of an operation")


def _hashes(pairs: list[object]) -> dict[int, bytes]:
    hashes: dict[int, bytes] = {}
    last = -1
    for pair in pairs:
        match pair:
            case [int(position), bytes(digest)] if position > last and len(digest) == HASH_BYTES:
                hashes[position] = digest
                last = position
            case _:
                raise MisfitError("not a trail of hashes")
    return hashes
