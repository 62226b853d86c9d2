"""What goes through the total order: operations as msgpack arrays, checked on both ends.

`["create", id, title, blocks, key]` makes a document. `["submit", doc, client, op, epoch, base,
changes, name]` submits one transaction. `["void", doc, client, op, code, message]` takes the
place of a submit that was refused before it was ordered, so that the client's numbers go on.

Every replica decodes the same bytes, so decoding is a pure function: bytes that do not decode are
a no-op at all of them alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from msgpack import Packer, unpackb
from msgpack.exceptions import UnpackException

from server.errors import BadMessageError
from server.frames import Json, check_values
from server.limits import (
    BLOCKS_MAX,
    CHANGES_MAX,
    CREATE_BYTES_MAX,
    INTEGER_MAX,
    NAME_MAX,
    SUBMIT_BYTES_MAX,
    TITLE_MAX,
)
from server.settings import IDENTIFIER

Block = tuple[str, dict[str, Json], str]
"""A block: id, attributes, text."""

_packer = Packer(use_bin_type=True, autoreset=True)


@dataclass(frozen=True, slots=True)
class Create:
    """Make a document with these blocks; `key` is the caller's Idempotency-Key or empty."""

    doc: str
    title: str
    blocks: list[Block]
    key: str = ""


@dataclass(frozen=True, slots=True)
class Submit:
    """One transaction of one edit stream, made against version `base` of `epoch`."""

    doc: str
    client: str
    op: int
    epoch: int
    base: int
    changes: list[Json]
    name: str


@dataclass(frozen=True, slots=True)
class Void:
    """The number `op` of this client is refused with this code."""

    doc: str
    client: str
    op: int
    code: str
    message: str


Operation = Create | Submit | Void


def encode_operation(operation: Operation) -> bytes:
    """The bytes that are ordered; BadMessageError `too_large` when they are too many."""
    match operation:
        case Create(doc, title, blocks, key):
            fields: list[object] = ["create", doc, title, blocks, key]
        case Void(doc, client, op, code, message):
            fields = ["void", doc, client, op, code, message]
        case Submit():
            fields = ["submit", operation.doc, operation.client, operation.op, operation.epoch]
            fields += [operation.base, operation.changes, operation.name]
    packed: bytes = _packer.pack(fields)
    most = CREATE_BYTES_MAX if isinstance(operation, Create) else SUBMIT_BYTES_MAX
    if len(packed) > most:
        raise BadMessageError("too_large", f"the operation is over {most} bytes")
    return packed


def decode_operation(payload: bytes) -> Operation:
    """The operation; BadMessageError `bad_change` when the bytes are not one."""
    try:
        fields = unpackb(payload, raw=False, use_list=True, strict_map_key=True)
    except (UnpackException, ValueError, TypeError, RecursionError) as error:
        bad(f"not msgpack: {type(error).__name__}")
    try:
        check_values(fields)
    except BadMessageError as error:
        bad(error.message)
    if type(fields) is not list or not fields:
        bad("not an array")
    match fields:
        case ["create", doc, title, blocks, str(key)]:
            return Create(identifier(doc), text(title, TITLE_MAX), read_blocks(blocks), key[:200])
        case ["submit", doc, client, op, epoch, base, changes, name]:
            return read_submit(doc, client, op, epoch, base, changes, name)
        case ["void", doc, client, op, str(code), str(message)]:
            return Void(
                identifier(doc), identifier(client), number(op, 1), code[:64], message[:500]
            )
        case _:
            bad("unknown operation")


def read_submit(
    doc: object,
    client: object,
    op: object,
    epoch: object,
    base: object,
    changes: object,
    name: object,
) -> Submit:
    """A checked Submit; the document judges the changes themselves."""
    if type(changes) is not list or not 1 <= len(changes) <= CHANGES_MAX:
        bad(f"changes must be an array of 1 to {CHANGES_MAX}")
    return Submit(
        identifier(doc),
        identifier(client),
        number(op, 1),
        number(epoch),
        number(base),
        changes,
        text(name, NAME_MAX),
    )


def read_blocks(blocks: object) -> list[Block]:
    """Blocks as (id, attributes, text); the document judges attributes and text."""
    if type(blocks) is not list or len(blocks) > BLOCKS_MAX:
        bad(f"blocks must be an array of at most {BLOCKS_MAX}")
    read: list[Block] = []
    for block in blocks:
        match block:
            case [block_id, dict(attributes), str(content)]:
                read.append((identifier(block_id), attributes, content))
            case _:
                bad("a block is [id, attributes, text]")
    return read


def identifier(value: object) -> str:
    """1 to 64 characters of the identifier alphabet."""
    if type(value) is not str or not IDENTIFIER.fullmatch(value):
        bad("an identifier is 1 to 64 characters of A-Z a-z 0-9 _ -")
    return value


def number(value: object, lowest: int = 0) -> int:
    """An integer from `lowest` to 2^53 - 1."""
    if type(value) is not int or not lowest <= value <= INTEGER_MAX:
        bad(f"a number must be an integer from {lowest} to 2^53 - 1")
    return value


def text(value: object, longest: int) -> str:
    """1 to `longest` characters, none of them U+0000 or a line break."""
    if type(value) is not str or not 1 <= len(value) <= longest:
        bad(f"text must have 1 to {longest} characters")
    if any(character in value for character in "\x00\r\n"):
        bad("text must be one line")
    return value


def bad(message: str) -> NoReturn:
    """Raise BadMessageError `bad_change`."""
    raise BadMessageError("bad_change", message)
