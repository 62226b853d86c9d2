"""Only documented arrays become changes; everything else is a typed refusal."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgpack import packb, unpackb

from groupcore.objects import (
    InsertChange,
    Limits,
    RefusalError,
    parse_change,
    parse_transaction,
    transaction_to_wire,
)
from groupcore.objects.refusal import BadChangeError, OutOfRangeError, TooLargeError
from tests.groupcore.objects.plays import some_state, some_transaction

scalars = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text("ab\r\0")
    | st.binary(max_size=3) | st.sampled_from(["b", "kind", "paragraph", "level"])
)  # fmt: skip
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("ab") | st.sampled_from(["kind", "level"]), inner, max_size=3)
    ),
    max_leaves=10,
)
kinds = st.sampled_from(
    ["text", "insert", "delete", "move", "set", "split", "join", "title", "other"]
)
near_changes = st.tuples(kinds, st.lists(values, max_size=5)).map(lambda pair: [pair[0], *pair[1]])


@given(values | st.lists(near_changes | values, max_size=3))
def test_parsing_any_value_gives_changes_or_a_refusal(wire: object) -> None:
    try:
        changes = parse_transaction(wire)
    except RefusalError:
        return
    assert parse_transaction(transaction_to_wire(changes)) == changes


@given(st.integers(0, 2**32))
def test_a_transaction_survives_the_wire(seed: int) -> None:
    draw = random.Random(seed)
    changes = some_transaction(draw, some_state(draw), "n", 6)
    if changes:
        packed = packb(transaction_to_wire(changes))
        assert parse_transaction(unpackb(packed)) == changes
        assert parse_transaction(unpackb(packed, use_list=False)) == changes


BAD = [
    [], ["text"], ["text", "b"], ["text", "b", [], 1], ["text", "", ["x"]], ["text", "b c", ["x"]],
    ["text", "b" * 65, ["x"]], ["text", None, ["x"]], ["text", "b\n", ["x"]], [["text"], "b", []],
    ["nothing", "b"], ["insert", "b", "b", {}, ""], ["insert", "b", None, {"kind": None}, ""],
    ["insert", "b", None, [], ""], ["insert", "b", None, {}, None],
    ["insert", "b", None, {"kind": "table"}, ""], ["insert", "b", None, {"level": True}, ""],
    ["insert", "b", None, {"level": 7}, ""], ["insert", "b", None, {"depth": -1}, ""],
    ["insert", "b", None, {"checked": 1}, ""], ["insert", "b", None, {"colour": "red"}, ""],
    ["insert", "b", None, {"language": "a\nb"}, ""], ["insert", "b", None, {1: 2}, ""],
    ["insert", "b", None, {"language": "x" * 41}, ""], ["insert", "b", None, {"language": 1}, ""],
    ["delete", "b", "b"], ["delete", "b", 1], ["move", "b", "b", None], ["move", "b", None, "b"],
    ["set", "b", None], ["split", "b", -1, "n", {}], ["split", "b", True, "n", {}],
    ["split", "b", 1.0, "n", {}], ["split", "b", 1, "b", {}], ["join", "b", "b", 0, None],
    ["join", "b", None, 0, None], ["join", "b", "c", None, None], ["title", ""], ["title", "a\nb"],
]  # fmt: skip


@pytest.mark.parametrize("wire", BAD)
def test_what_is_not_of_the_form_is_a_bad_change(wire: list[object]) -> None:
    with pytest.raises(BadChangeError):
        parse_change(wire)


@pytest.mark.parametrize("wire", [None, {}, [], "text", [[]], ["text"]])
def test_a_transaction_is_an_array_of_changes(wire: object) -> None:
    with pytest.raises(BadChangeError):
        parse_transaction(wire)


def test_limits_are_kept() -> None:
    limits = Limits(changes=2, block_text=3, title=3)
    with pytest.raises(TooLargeError):
        parse_transaction([["title", "a"]] * 3, limits)
    with pytest.raises(TooLargeError):
        parse_change(["title", "abcd"], limits)
    with pytest.raises(TooLargeError):
        parse_change(["insert", "b", None, {}, "abcd"], limits)
    with pytest.raises(OutOfRangeError):
        parse_change(["split", "b", 4, "n", {}], limits)
    parsed = parse_change(["insert", "b", "a", {"level": 1, "kind": "heading"}, "abc"], limits)
    assert parsed == InsertChange("b", "a", (("kind", "heading"), ("level", 1)), "abc")
