"""The state of a replicated dict: its encoding and its bounds."""

from __future__ import annotations

import pytest

from groupcore.blocks.dict_state import WRITERS_MAX, DictState, Operation
from groupcore.blocks.errors import (
    ValueRefusedError,
)
from groupcore.blocks.values import pack_value


def increment(node: str, number: int = 1, answered: int = 0) -> Operation:
    return Operation((node, 1), number, answered, "increment", ["n", 1])


def test_a_state_survives_its_encoding() -> None:
    state = DictState(1000)
    for number in range(1, 4):
        state.apply(increment("a", number))
    state.apply(increment("b", 2, 1))
    again = DictState.decode(state.encode(), 1000)
    assert again.encode() == state.encode()
    assert again.used_bytes == state.used_bytes
    assert again.apply(increment("a", 3)) == (state.result_of(("a", 1), 3), [])


@pytest.mark.parametrize(
    "packed",
    [
        pack_value([]),
        pack_value([{"k": 1}, []]),
        pack_value([{}, [["a", 1]]]),
        pack_value([{}, [["a", 1, 0, [[1, 9, b""]]]]]),
        b"\xc1",
    ],
)
def test_bytes_that_are_no_state_are_refused(packed: bytes) -> None:
    with pytest.raises(ValueRefusedError):
        DictState.decode(packed, 1000)


def test_of_too_many_writers_the_absent_ones_that_wrote_least_lately_are_forgotten() -> None:
    state = DictState(1000)
    for number in range(WRITERS_MAX + 2):
        state.apply(increment(f"n{number}"))
    state.apply(increment("n1", 2))
    state.forget_writers({"n0"})
    assert len(state.writers) == WRITERS_MAX
    assert ("n0", 1) in state.writers
    assert ("n1", 1) in state.writers
    assert ("n2", 1) not in state.writers
    assert ("n3", 1) not in state.writers
