"""Resuming: what a new node has got of a giver's state serves with the next giver's, too.

Idea. A giver that dies while it gives leaves the beginning of its state at the taker: directory,
records, and parts of the archive, which is most of it, in the order of the groups' numbers. The
archive of a group is the same at all nodes whose records go equally far with it. So the taker names
the cut of the former giver's state and the last group of which it has the archive, in its request;
the next giver leaves out what nothing has happened to since that cut, and says which groups these
are. Directory and records, which change all the time, come anew.

Place. Values and functions of `arriving` (the taker) and `node_packing` (the giver).
Source. Decision 0093.

Invariants.
  I1  A group is left out only if the next giver has recorded all that the former one had, and
      nothing of the group behind the cut at which the former copy was begun; of a large group its
      last runs come, which have to meet what is kept.
  I2  What was left out is there: a state that names a group of which nothing is kept is not taken.
  I3  The state that is put together is one that the next giver could have given whole: it can be
      logged, and given on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from msgpack import OutOfData, Unpacker, packb, unpackb
from msgpack.exceptions import UnpackException

from groupcore.context import Numbers, decode_context
from groupcore.errors import WireError
from groupcore.sequencing import columns
from groupcore.sequencing.archive import Archived
from groupcore.sequencing.headers import Reach
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.plane import Plane

WHOLE = 1 << 48
"""Stands for all frames of a stream that is over and forgotten."""
HEAD_ITEMS = 8
"""Items of a node's state; one that leaves groups out has one more: which."""
LISTED = bytes([0x90 | HEAD_ITEMS])
"""How msgpack begins an array of so many."""
ARCHIVE_AT = 6
"""Which of them is the archive."""
CONTEXT_AT = 3
"""Which item of a group in a part of the archive is its context; the first is its number."""


class Held(NamedTuple):
    """What a taker has: the archives of all groups up to number `to`, as of a cut.

    Of each stream, how many frames the state contained (`received`), how many when its copy was
    begun (`delivered`), and 1 as `saved` if that was all of it. No reaches: nothing.
    """

    reaches: tuple[Reach, ...] = ()
    to: int = 0

    @property
    def begun(self) -> Numbers:
        """The cut at which the copy was begun: nothing that is older is missing."""
        return {one.stream: one.delivered for one in self.reaches}


NOTHING = Held()


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an archive, the groups in it, and what these depend on."""

    groups: tuple[GroupId, ...]
    contexts: frozenset[bytes]
    packed: bytes


@dataclass(frozen=True, slots=True)
class Kept:
    """The beginning of a giver's state: its archive's first parts."""

    held: Held
    parts: tuple[Part, ...]

    @property
    def size_bytes(self) -> int:
        """How much it is."""
        return sum(len(part.packed) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Resuming:
    """Of a state that can be resumed: `held` is what is kept, `left` is told what a giver left."""

    held: Callable[[], Held]
    left: Callable[[bytes], None]


# --- the taker ------------------------------------------------------------------------------------
# What msgpack hands over is anything, until it has been looked at: Any lives here.


def read_beginning(state: bytes) -> Kept | None:
    """What can be kept of the beginning of a state; None where it is too little.

    A state that leaves groups out is not kept: its parts are no beginning.
    """
    unpacker = Unpacker(strict_map_key=False, max_buffer_size=0)
    unpacker.feed(state)
    parts: list[Part] = []
    try:
        if unpacker.read_array_header() != HEAD_ITEMS:
            return None
        head = unpacker.unpack()
        unpacker.skip()  # the directory
        streams = unpacker.unpack()
        unpacker.skip()  # records
        gone = unpacker.unpack()
        unpacker.skip()  # chains
        left = unpacker.read_array_header()
        while left > 1:  # the last part has groups that were packed before, anew
            packed = unpacker.unpack()
            parts.append(_part(packed))
            left -= 1
    except (OutOfData, ValueError, RecursionError):
        pass
    except (UnpackException, TypeError, WireError):
        return None
    last = max((group for part in parts for group in part.groups), default=0)
    if not last:
        return None
    try:
        return _kept(head, streams, gone, tuple(parts), last)
    except (WireError, IndexError, TypeError):
        return None


def _kept(head: object, streams: object, gone: object, parts: tuple[Part, ...], last: int) -> Kept:
    """What these parts are the beginning of; WireError and others when it cannot be said."""
    begun = {
        columns.address(one): columns.number(frame)
        for one, frame in columns.items(columns.items(head)[4])
    }
    reaches = {}
    for row in columns.items(streams):
        stream, recorded, end = columns.items(row, 3)
        address = columns.address(stream)
        is_over = int(recorded == end)
        columns.number(recorded)
        reaches[address] = Reach(address, recorded, begun.get(address, 0), is_over)
    over = set(map(columns.address, columns.items(gone))) - reaches.keys()
    named = {
        address
        for one in frozenset().union(*(part.contexts for part in parts))
        for address in decode_context(one)
    }
    for address in sorted(over & named):
        # Its frames were all recorded when the copy was complete; were they when it was begun?
        reaches[address] = Reach(address, 0, begun.get(address, WHOLE), 1)
    return Kept(Held(tuple(reaches.values()), last), parts)


def _part(packed: bytes) -> Part:
    """A part whose states and runs are not looked at; WireError when it is none."""
    unpacker = Unpacker(strict_map_key=False, max_buffer_size=0)
    unpacker.feed(columns.blob(packed))
    groups, contexts = [], set()
    for _ in range(unpacker.read_array_header()):
        items = unpacker.read_array_header()
        groups.append(columns.number(unpacker.unpack()))
        for _ in range(CONTEXT_AT - 1):
            unpacker.skip()
        contexts.add(columns.blob(unpacker.unpack()))
        for _ in range(items - 1 - CONTEXT_AT):
            unpacker.skip()
    return Part(tuple(groups), frozenset(contexts), packed)


def completed(state: bytes, kept: Kept | None) -> bytes | None:
    """The whole state, where groups were left out of it; None if one of these is not kept (I2).

    WireError where it is no state.
    """
    if state[:1] == LISTED:  # the common case
        return state
    *items, left_out = columns.items(columns.unpacked(state), HEAD_ITEMS + 1)
    wanted = set(columns.numbers(left_out))
    parts: list[bytes] = []
    for part in () if kept is None else kept.parts:
        if wanted.issuperset(part.groups):
            parts.append(part.packed)
        else:
            packed = unpackb(part.packed, strict_map_key=False)
            parts.append(packb([one for one in packed if one[0] in wanted]))
    known = {group for part in (kept.parts if kept else ()) for group in part.groups}
    if not wanted <= known:
        return None
    items[ARCHIVE_AT] = [*parts, *columns.blobs(items[ARCHIVE_AT])]
    whole: bytes = packb(items)
    return whole


# --- the giver ------------------------------------------------------------------------------------


def is_contained(plane: Plane, held: Held) -> bool:
    """Whether all that the former giver had recorded is recorded here (I1)."""
    for reach in held.reaches:
        stream = plane.streams.get(reach.stream)
        if reach.saved or not reach.received:
            continue
        if stream is None or stream.recorded < reach.received:
            return False
    return True


def is_unchanged(one: Archived, begun: Numbers) -> bool:
    """Whether nothing of the group is behind that cut (I1)."""
    context = one.context
    return bool(context) and all(
        frame <= begun.get(address, 0) for address, frame in context.items()
    )
