"""A document gives the same verdicts and the same content at every replica, and never raises."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgpack import packb, unpackb

from groupcore.objects import (
    Applied,
    Document,
    InsertChange,
    Limits,
    Refused,
    SetChange,
    StateError,
    TextChange,
    TitleChange,
    Transaction,
    Verdict,
    parse_transaction,
    submit_digest,
    transaction_to_wire,
)
from groupcore.objects.refusal import BadChangeError, BlockExistsError, NoSuchBlockError
from tests.groupcore.objects.plays import after, content, some_submits

SMALL = Limits(history=6, clients=8, block_text=40, blocks=9, history_bytes=4_000)
BLOCKS = [("a", {"kind": "paragraph"}, "one"), ("b", {}, "two"), ("c", {}, "three")]


def document(limits: Limits | None = None) -> Document:
    if limits is None:
        return Document("d", "title", 1, BLOCKS)
    return Document("d", "title", 1, BLOCKS, limits)


def typed(text: str, block: str = "a") -> Transaction:
    return (TextChange(block, (text,)),)


@settings(max_examples=150)
@given(st.integers(0, 2**32), st.integers(0, 25))
def test_replicas_agree_and_a_copy_judges_as_the_original(seed: int, copied_at: int) -> None:
    draw = random.Random(seed)
    state, submits = some_submits(draw, 25, SMALL)
    one = Document("d", state[0], 1, state[1], SMALL)
    two = Document("d", state[0], 1, state[1], SMALL)
    for number, submit in enumerate(submits):
        if number == copied_at:
            two = Document.from_state(unpackb(packb(two.to_state())), SMALL)
        before = content(one), one.version
        verdict = one.submit(*submit)
        assert two.submit(*submit) == verdict
        assert one.state_hash() == two.state_hash()
        if isinstance(verdict, Refused) or verdict.repeated:
            assert (content(one), one.version) == before
        else:
            # What is handed on is exact: it leads from the version before to this one.
            wire = unpackb(packb(transaction_to_wire(verdict.changes)))
            changes = parse_transaction(wire) if wire else ()
            assert after(before[0], changes) == content(one)
    assert one.to_state() == two.to_state()


def test_a_current_edit_is_applied_at_the_next_version() -> None:
    replica = document()
    applied = replica.submit("x", 1, 1, 0, typed("!"), 1)
    assert applied == Applied("x", 1, 1, 1, typed("!"))
    assert (replica.version, replica.block("a").text) == (1, "!one")
    assert len(replica) == 3


def test_an_edit_of_an_older_version_is_rebased() -> None:
    replica = document()
    replica.submit("x", 1, 1, 0, typed("1"), 1)
    assert replica.submit("y", 1, 1, 0, typed("2"), 1) == Applied(
        "y", 1, 1, 2, (TextChange("a", (1, "2")),)
    )


def test_a_transaction_that_becomes_empty_takes_a_version() -> None:
    replica = document()
    delete = parse_transaction([["delete", "b", "a"]])
    replica.submit("x", 1, 1, 0, delete, 1)
    assert replica.submit("y", 1, 1, 0, delete, 1) == Applied("y", 1, 1, 2, ())


CASES: list[tuple[list[object], str]] = [
    (["text", "x", ["a"]], "no_such_block"),
    (["text", "a", [4, "a"]], "out_of_range"),
    (["text", "a", ["x" * 38]], "too_large"),
    (["insert", "a", None, {}, ""], "block_exists"),
    (["insert", "n", "x", {}, ""], "no_such_block"),
    (["delete", "x", None], "no_such_block"),
    (["move", "a", "x", None], "no_such_block"),
    (["move", "x", "a", None], "no_such_block"),
    (["set", "x", {}], "no_such_block"),
    (["split", "a", 4, "n", {}], "out_of_range"),
    (["split", "a", 1, "b", {}], "block_exists"),
    (["split", "x", 1, "n", {}], "no_such_block"),
    (["join", "a", "x", 0, None], "no_such_block"),
    (["join", "x", "a", 0, None], "no_such_block"),
]
GOOD: list[list[object]] = [
    ["title", "other"], ["text", "a", [1, "x"]], ["split", "a", 2, "m", {"kind": "code"}],
    ["move", "c", None, "b"], ["set", "b", {"kind": "todo"}], ["join", "b", "a", 2, "m"],
    ["insert", "k", "c", {}, "new"], ["delete", "m", "a"],
]  # fmt: skip


@pytest.mark.parametrize(("change", "code"), CASES)
def test_a_change_that_does_not_apply_is_refused_with_its_code(
    change: list[object], code: str
) -> None:
    replica = document(SMALL)
    verdict = replica.submit("x", 1, 1, 0, parse_transaction([change]), 1)
    assert isinstance(verdict, Refused)
    assert verdict.code == code


@pytest.mark.parametrize("count", range(1, len(GOOD) + 1))
def test_a_transaction_is_applied_as_a_whole_or_not_at_all(count: int) -> None:
    replica = document(SMALL)
    before = content(replica)
    wire = [*GOOD[:count], ["set", "nowhere", {}]]
    assert isinstance(replica.submit("x", 1, 1, 0, parse_transaction(wire), 1), Refused)
    assert (content(replica), replica.version) == (before, 0)
    assert isinstance(replica.submit("x", 2, 1, 0, parse_transaction(GOOD[:count]), 1), Applied)
    assert content(replica) != before


def test_limits_of_the_document_refuse_a_change() -> None:
    replica = document(Limits(blocks=3, block_text=5))
    for op, wire in enumerate((["insert", "n", None, {}, ""], ["join", "a", "b", 3, None]), 1):
        verdict = replica.submit("x", op, 1, 0, parse_transaction([wire]), 1)
        assert isinstance(verdict, Refused)
        assert verdict.code == "too_large"


def test_a_misguided_join_into_itself_is_refused() -> None:
    replica = document()
    replica.submit("x", 1, 1, 0, parse_transaction([["split", "a", 1, "n", {}]]), 1)
    verdict = replica.submit("y", 1, 1, 0, parse_transaction([["join", "n", "a", 1, None]]), 1)
    assert isinstance(verdict, Refused)
    assert verdict.code == "bad_change"


def test_changes_that_do_nothing_are_left_out() -> None:
    replica = document()
    idle = parse_transaction([["text", "a", []], ["move", "b", "a", "c"], ["set", "b", {}]])
    assert replica.submit("x", 1, 1, 0, idle, 1) == Applied("x", 1, 1, 1, ())


def test_an_operation_sent_again_gets_the_earlier_verdict() -> None:
    replica = document(SMALL)
    applied = replica.submit("x", 1, 1, 0, typed("1"), 1)
    refused = replica.submit("y", 1, 1, 0, typed("1", "nowhere"), 1)
    hash_before = replica.state_hash()
    for verdict, block in ((applied, "a"), (refused, "nowhere")):
        again = replica.submit(verdict.client, 1, 1, 0, typed("1", block), 5)
        assert again == _repeated(verdict)
    assert replica.state_hash() == hash_before


def _repeated(verdict: Verdict) -> Verdict:
    if isinstance(verdict, Refused):
        return Refused(verdict.client, verdict.op, verdict.code, verdict.message, repeated=True)
    return Applied(
        verdict.client, verdict.op, verdict.epoch, verdict.version, verdict.changes, repeated=True
    )


def test_a_given_digest_decides_what_is_the_same_submit() -> None:
    replica = document()
    digest = submit_digest(1, 0, typed("1"))
    replica.submit("x", 1, 1, 0, typed("1"), 1)
    assert replica.submit("x", 1, 1, 0, typed("1"), 1, digest).repeated
    other = replica.submit("x", 1, 1, 0, typed("1"), 1, b"another1")
    assert isinstance(other, Refused)
    assert other.code == "op_reused"


def test_a_repeat_from_before_the_history_still_names_its_version() -> None:
    replica = document(SMALL)
    replica.submit("x", 1, 1, 0, typed("1"), 1)
    for op in range(1, 9):
        replica.submit("y", op, 1, replica.version, typed("2"), 1)
    assert replica.submit("x", 1, 1, 0, typed("1"), 1) == Applied("x", 1, 1, 1, (), repeated=True)


@pytest.mark.parametrize(
    ("op", "base", "text", "code"),
    [(1, 0, "other", "op_reused"), (3, 1, "1", "op_out_of_order"), (0, 0, "1", "op_out_of_order")],
)
def test_operation_numbers_are_kept(op: int, base: int, text: str, code: str) -> None:
    replica = document()
    replica.submit("x", 1, 1, 0, typed("1"), 1)
    state = replica.to_state()
    verdict = replica.submit("x", op, 1, base, typed(text), 1)
    assert isinstance(verdict, Refused)
    assert verdict.code == code
    assert replica.to_state() == state


def test_a_base_that_the_history_does_not_hold_is_refused() -> None:
    replica = document(SMALL)
    for op in range(1, 9):
        replica.submit("x", op, replica.epoch, replica.version, typed("1"), 1 if op < 6 else 2)
    codes = []
    bases = [(1, 1), (1, 2), (2, 2), (1, 5), (2, 5), (1, 6), (2, 6), (2, 8), (2, 99)]
    for op, (epoch, base) in enumerate(bases, 1):
        verdict = replica.submit("y", op, epoch, base, typed("2"), 2)
        codes.append(verdict.code if isinstance(verdict, Refused) else "")
    changed, old = "epoch_changed", "base_too_old"
    # Each applied one drops the oldest entry; version 2 is the floor at first.
    assert codes == [old, "", old, "", changed, changed, "", "", changed]


def test_too_much_work_counts_as_too_old_a_base() -> None:
    replica = document(Limits(rebase_work=20))
    wire = [["text", "a", ["x"]]] * 4
    replica.submit("x", 1, 1, 0, parse_transaction(wire), 1)
    verdict = replica.submit("y", 1, 1, 0, parse_transaction(wire), 1)
    assert isinstance(verdict, Refused)
    assert verdict.code == "base_too_old"


def test_history_since_a_position_is_what_was_applied_behind_it() -> None:
    replica = document(SMALL)
    applied = [
        replica.submit("x", op, replica.epoch, op - 1, typed("1"), 1 + op // 2)
        for op in range(1, 4)
    ]
    assert replica.history_since(1, 0) == applied
    assert replica.history_since(1, 1) == applied[1:]
    assert replica.history_since(2, 3) == []
    assert replica.history_since(1, 3) is None
    assert replica.history_since(2, 4) is None
    assert (replica.epoch, replica.version) == (2, 3)


def test_the_history_is_bounded_by_its_size() -> None:
    replica = document(Limits(history_bytes=1_000))
    for op in range(1, 9):
        replica.submit("x", op, 1, op - 1, (TitleChange("t" * op),), 1)
    assert replica.history_since(1, 8) == []
    assert replica.history_since(1, 4) is None


def test_a_client_that_only_was_refused_is_forgotten_first() -> None:
    replica = document(Limits(clients=2))
    replica.submit("writer", 1, 1, 0, typed("1"), 1)
    for client in ("x", "y", "z"):
        replica.submit(client, 1, 1, 0, typed("1", "nowhere"), 1)
    assert replica.applied_op("writer") == 1
    assert [replica.last_op(client) for client in ("x", "y", "z")] == [0, 0, 1]
    replica.submit("second", 1, 1, 1, typed("1"), 1)
    replica.submit("writer", 2, 1, 1, typed("1", "nowhere"), 1)
    replica.submit("third", 1, 1, 2, typed("1"), 1)
    assert [replica.applied_op(client) for client in ("writer", "second", "third")] == [0, 1, 1]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (lambda: Document("a b", "t"), BadChangeError),
        (lambda: Document("d", ""), BadChangeError),
        (lambda: Document("d", "t", 0, [("a b", {}, "")]), BadChangeError),
        (lambda: Document("d", "t", 0, [("a", {"kind": "x"}, "")]), BadChangeError),
        (lambda: Document("d", "t", 0, [("a", {}, ""), ("a", {}, "")]), BlockExistsError),
        (lambda: document().block("x"), NoSuchBlockError),
    ],
)
def test_a_document_is_well_formed_from_the_start(
    wrong: Callable[[], object], error: type[Exception]
) -> None:
    with pytest.raises(error):
        wrong()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("form", 2), ("id", 1), ("title", ""), ("version", 7), ("epoch", 9), ("epoch", -1),
        ("blocks", None), ("blocks", [["a"]]), ("blocks", [["a b", {}, ""]]), ("floor", [1]),
        ("history", [["x", 1, 1, [["nothing"]]]]), ("history", []), ("clients", [[]]),
        ("clients", [["x", 1, "digest", "", "", 0, 0, 0]]),
    ],
)  # fmt: skip
def test_a_damaged_state_is_refused(name: str, value: object) -> None:
    replica = document()
    replica.submit("x", 1, 1, 0, (SetChange("a", (("kind", "code"),)),), 1)
    replica.submit("x", 2, 1, 1, (InsertChange("n", None, (), "text"),), 1)
    state = replica.to_state()
    assert Document.from_state(state).state_hash() == replica.state_hash()
    with pytest.raises(StateError):
        Document.from_state({**state, name: value})
    del state[name]
    for damaged in (state, None):
        with pytest.raises(StateError):
            Document.from_state(damaged)
