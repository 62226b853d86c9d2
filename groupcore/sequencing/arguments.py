"""What the service's calls take; BadArgumentError, before anything has been done, for all else.

What goes into a message of another node's or into a header has to be of the right type when the
call is made: where it is packed, the call is long over, and a turn's messages of other processes
are packed with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from groupcore.errors import BadArgumentError
from groupcore.sequencing.names import NAME_MAX, GroupId, Process
from groupcore.view import Address

NUMBER_MAX = (1 << 64) - 1
SHOWN_MAX = 40
"""So many characters of what is wrong are shown."""
_BYTES_ONLY = {bytes}
_WHOLE = (bytes, bytearray, memoryview, str)


def shown(value: object) -> str:
    """What was given, by its type and the beginning of its text."""
    text = repr(value)
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}…"


def check_payloads(payloads: Sequence[bytes]) -> list[bytes]:
    """The messages of a DO-MULTICAST, which must be `bytes`: they leave later than they are given.

    The batch is the unit: one look at the types of all of them.
    """
    if isinstance(payloads, _WHOLE):
        kind = type(payloads).__name__
        raise BadArgumentError(f"payloads is one {kind}, not a list; send [payload]")
    if not isinstance(payloads, list):
        if not isinstance(payloads, Iterable):
            raise BadArgumentError(f"payloads is {shown(payloads)}, not a list; send [payload]")
        payloads = list(payloads)
    if payloads and set(map(type, payloads)) != _BYTES_ONLY:
        at, wrong = next((at, one) for at, one in enumerate(payloads) if type(one) is not bytes)
        _refuse_payload(f"payloads[{at}]", wrong)
    return payloads


def check_payload(payload: bytes) -> None:
    """A volatile message."""
    if type(payload) is not bytes:
        _refuse_payload("payload", payload)


def _refuse_payload(what: str, wrong: object) -> None:
    remedy = "encode it" if isinstance(wrong, str) else "pack it"
    if isinstance(wrong, bytes | bytearray | memoryview):
        remedy = "copy it with bytes(payload)"
    raise BadArgumentError(f"{what} is {type(wrong).__name__}, a message is bytes; {remedy}")


def check_group(group: GroupId) -> None:
    """A group's number."""
    if type(group) is not int or not 0 <= group <= NUMBER_MAX:
        raise BadArgumentError(
            f"group is {shown(group)}, not a group's number; give what `create` has answered"
        )


def check_process(process: Process) -> None:
    """A process, of whatever node."""
    if (
        type(process) is not Process
        or not is_address(process.node)
        or type(process.number) is not int
    ):
        raise BadArgumentError(
            f"process is {shown(process)}, not a Process; give what `open_process` has answered"
        )


def check_groups(groups: Sequence[GroupId]) -> tuple[GroupId, ...]:
    """Groups of one call."""
    if isinstance(groups, _WHOLE) or not isinstance(groups, Iterable):
        raise BadArgumentError(f"groups is {shown(groups)}, not a list; give [group]")
    given = tuple(groups)
    for group in given:
        check_group(group)
    return given


def is_address(value: object) -> bool:
    """Whether it can be a node's address."""
    return (
        type(value) is Address
        and type(value.name) is str
        and 0 < len(value.name) <= NAME_MAX
        and type(value.incarnation) is int
        and 0 <= value.incarnation <= NUMBER_MAX
    )


def check_target(target: Address) -> None:
    """The node that a group shall move to."""
    if not is_address(target):
        raise BadArgumentError(
            f"target is {shown(target)}, not an Address; give one of the view's members"
        )


def check_text(value: str, what: str) -> None:
    """A short text that travels: a node's name, a reason."""
    objection = wrong_text(value)
    if objection:
        raise BadArgumentError(f"{what} {objection}; give a text of up to {NAME_MAX} characters")


def check_number(value: int, what: str, least: int = 0) -> None:
    """A whole number."""
    if type(value) is not int or not least <= value <= NUMBER_MAX:
        raise BadArgumentError(f"{what} is {shown(value)}; give a whole number from {least}")


def check_flag(value: bool, what: str) -> None:
    """Yes or no."""
    if type(value) is not bool:
        raise BadArgumentError(f"{what} is {shown(value)}; give True or False")


def wrong_text(value: object) -> str:
    """What is wrong with a text that is to travel; empty when nothing is."""
    if type(value) is not str:
        return f"is {shown(value)}, not a text"
    if len(value) > NAME_MAX:
        return f"has {len(value)} characters, above {NAME_MAX}"
    try:
        value.encode()
    except UnicodeEncodeError:
        return f"{shown(value)} is not Unicode text"
    return ""


def wrong_name(name: object) -> str:
    """What is wrong with a group's name, and the remedy; empty when nothing is."""
    objection = wrong_text(name)
    return f"the name {objection}; give one of up to {NAME_MAX} characters" if objection else ""
