"""What may be missing in a state is a number or nothing: no other value counts as nothing."""

from __future__ import annotations

import pytest
from msgpack import packb, unpackb

from groupcore.errors import WireError
from groupcore.sequencing import directory_snapshot
from groupcore.sequencing.columns import counted_or_none
from groupcore.sequencing.node_state import take_node_state
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.plane import Plane
from groupcore.view import Address
from tests.groupcore.decoders import recorded

EMPTY: tuple[object, ...] = ({}, [], "", b"", False, 0.0)
STREAMS, END = 2, 2
"""Where a node's state has its streams, and a stream its end."""


@pytest.mark.parametrize("empty", EMPTY, ids=repr)
def test_a_stream_ends_at_a_number_or_goes_on(empty: object) -> None:
    state = unpackb(recorded.node_states()[0], strict_map_key=False)
    state[STREAMS][0][END] = empty
    plane = Plane(Address("n", 1), ServiceOptions(durable=True))
    with pytest.raises(WireError):
        take_node_state(plane, packb(state))


@pytest.mark.parametrize("empty", EMPTY, ids=repr)
def test_a_tenure_has_a_last_number_or_none(empty: object) -> None:
    known = directory_snapshot._Known([Address("a", 1)])
    assert directory_snapshot._tenure([1, 0, None], known).last is None
    assert directory_snapshot._tenure([1, 0, 7], known).last == 7
    with pytest.raises(WireError):
        directory_snapshot._tenure([1, 0, empty], known)


@pytest.mark.parametrize("empty", [*EMPTY, -1, 1 << 64], ids=repr)
def test_nothing_else_counts_as_none(empty: object) -> None:
    assert counted_or_none(None) is None
    assert counted_or_none(0) == 0
    with pytest.raises(WireError):
        counted_or_none(empty)
