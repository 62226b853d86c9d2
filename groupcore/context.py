"""Contexts: what had been given to a process before it sent, as a label that receivers compare.

Pure values. A context is a set of pairs `<S, n>` with one pair for any S (paper, section 4.1): the
process had been given things of stream S up to number n. The paper's S are groups; ours are the
streams of sequencers, of which there are as many as nodes however many groups there are
(`docs/decisions/0018`). Numbers only: what the sender sent before and does not know the place of is
in the chain of its messages (`docs/decisions/0025`), and the sequencer puts the places in.

Source. T. Kindberg, sections 4.1 and 5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgpack import Packer, unpackb
from msgpack.exceptions import UnpackException

from groupcore.errors import WireError
from groupcore.view import Address

Numbers = dict[Address, int]
"""The pairs `<S, n>` of a context."""

NUMBER_MAX = (1 << 64) - 1
ENTRIES_MAX = 256
NAME_MAX = 64


def component(context: Mapping[Address, int], stream: Address) -> int:
    """C.S: the number for a stream; 0, which is less than every number, without one."""
    return context.get(stream, 0)


def restrict(context: Mapping[Address, int], streams: Iterable[Address]) -> Numbers:
    """C|S: the pairs of these streams."""
    kept = frozenset(streams)
    return {stream: n for stream, n in context.items() if stream in kept}


def merge(one: Mapping[Address, int], other: Mapping[Address, int]) -> Numbers:
    """merge(C1, C2): of each stream the larger number."""
    merged = dict(one)
    merge_into(merged, other)
    return merged


def merge_into(context: Numbers, other: Mapping[Address, int]) -> None:
    """C := merge(C, other)."""
    for stream, n in other.items():
        if n > context.get(stream, 0):
            context[stream] = n


def precedes_or_equals(one: Mapping[Address, int], other: Mapping[Address, int]) -> bool:
    """C1 <= C2: no stream has a larger number in C1."""
    return all(n <= other.get(stream, 0) for stream, n in one.items())


def precedes(one: Mapping[Address, int], other: Mapping[Address, int]) -> bool:
    """C1 < C2: C1 <= C2, and some stream has a smaller number in C1."""
    return precedes_or_equals(one, other) and not precedes_or_equals(other, one)


# --- on the wire ----------------------------------------------------------------------------------

_packer = Packer(use_bin_type=True, autoreset=True)


def encode_context(numbers: Mapping[Address, int]) -> bytes:
    """The bytes of a context; none for an empty one."""
    if not numbers:
        return b""
    packed: bytes = _packer.pack([(*stream, n) for stream, n in numbers.items()])
    return packed


def decode_context(data: bytes) -> Numbers:
    """The pairs of a context; WireError `bad_context` when the bytes are anything else."""
    if not data:
        return {}
    try:
        pairs = unpackb(data, raw=False, max_ext_len=0, max_map_len=0)
        if type(pairs) is not list or len(pairs) > ENTRIES_MAX:
            raise WireError("bad_context", f"not a list of up to {ENTRIES_MAX} entries")
        return {Address(_name(a), _number(i)): _number(n) for a, i, n in pairs}
    except (UnpackException, ValueError, TypeError, RecursionError) as error:
        raise WireError("bad_context", str(error)[:80]) from None


def _number(value: object) -> int:
    if type(value) is not int or not 0 <= value <= NUMBER_MAX:
        raise WireError("bad_context", "not an unsigned 64-bit integer")
    return value


def _name(value: object) -> str:
    if type(value) is not str or not 0 < len(value) <= NAME_MAX:
        raise WireError("bad_context", "not a node id")
    return value
