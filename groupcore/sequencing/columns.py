"""Tables as msgpack hands them over, checked: columns of numbers, texts and bytes, addresses.

What a node takes over of another one, or of a log, is in tables of many rows. A column is looked at
as a whole, not value by value; whatever it should not be raises `WireError`, never anything else.
"""

from __future__ import annotations

from typing import Any, TypeVar

from msgpack import unpackb
from msgpack.exceptions import UnpackException

from groupcore.errors import WireError
from groupcore.sequencing.names import NAME_MAX, SEQNO_MAX, Process
from groupcore.view import Address

T = TypeVar("T")

NUMBER_MAX = (1 << 64) - 1
"""Highest number that travels: of a node's life, or of a request."""

# What msgpack hands over is anything: Any lives here.


def bad(detail: str) -> WireError:
    """What is raised for tables that are none."""
    return WireError("bad_state", detail)


def unpacked(data: object) -> object:
    """The plain values in these bytes."""
    if type(data) is not bytes:
        raise bad("not packed values")
    try:
        value: object = unpackb(data, raw=False, strict_map_key=False, max_ext_len=0, max_map_len=0)
    except (UnpackException, ValueError, TypeError, RecursionError) as error:
        raise bad(str(error)[:80]) from None
    return value


def items(value: object, count: int | None = None) -> list[Any]:
    """A list, of so many values."""
    if type(value) is not list or (count is not None and len(value) != count):
        raise bad("not a list of the right length")
    return value


def number(value: object, most: int = NUMBER_MAX) -> int:
    """An integer from 0 on."""
    if type(value) is not int or not 0 <= value <= most:
        raise bad("not a number, or one that nothing is counted to")
    return value


def counted(*values: object) -> list[int]:
    """Numbers from which is counted on."""
    return numbers(list(values), most=SEQNO_MAX)


def counted_or_none(value: object) -> int | None:
    """A number from which is counted on, or that there is none: nothing else that is empty."""
    return None if value is None else counted(value)[0]


def numbers(value: object, count: int | None = None, most: int = NUMBER_MAX) -> list[int]:
    """A column of integers from 0 on."""
    column = items(value, count)
    if column and (set(map(type, column)) != {int} or min(column) < 0 or max(column) > most):
        raise bad("not a column of numbers, or of some that nothing is counted to")
    return column


def texts(value: object, count: int | None = None) -> list[str]:
    """A column of names."""
    column = items(value, count)
    if column and (set(map(type, column)) != {str} or max(map(len, column)) > NAME_MAX):
        raise bad(f"not a column of texts of up to {NAME_MAX} characters")
    return column


def blobs(value: object, count: int | None = None) -> list[bytes]:
    """A column of bytes."""
    column = items(value, count)
    if column and set(map(type, column)) != {bytes}:
        raise bad("not a column of bytes")
    return column


def blob(value: object) -> bytes:
    """Bytes."""
    if type(value) is not bytes:
        raise bad("not bytes")
    return value


def text(value: object) -> str:
    """A name."""
    return texts([value])[0]


def address(value: object) -> Address:
    """A node's."""
    name, life = items(value, 2)
    if not text(name):
        raise bad("a node without a name")
    return Address(name, number(life))


def process(value: object) -> Process:
    """A process as `[name, incarnation, number]`."""
    name, life, own = items(value, 3)
    return Process(address([name, life]), number(own))


def chosen(column: list[T], index: object) -> T:
    """What stands at this place of a column."""
    if type(index) is not int or not 0 <= index < len(column):
        raise bad("a place that a column does not have")
    return column[index]
