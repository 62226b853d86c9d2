"""The rules of PROBE: who is answered with what, and how an answer is put together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupcore.batch import Header
from groupcore.errors import WireError
from groupcore.events import PrimaryLost, PrimaryRegained
from groupcore.layers.probe import (
    COUNTER_MAX,
    PIECES_MAX,
    Answer,
    Counted,
    Gathering,
    Probe,
    ProbeOptions,
    Query,
    Report,
)
from groupcore.stacks import encode_report
from groupcore.view import Address
from groupcore.wire import decode_record
from tests.groupcore.layers.building import A, B, C, bare, downs, installed, told

PROBER = Address("probe:1", 7)
OPTIONS = ProbeOptions(answers_per_s=1, answers_at_once=2, piece_bytes=40)


def node(me: Address = A, in_view: bool = True) -> Probe:
    layer = Probe(me, OPTIONS, encode_report)
    layer.sources = {"PROBE": layer.counters, "TOP": lambda: {"things": 4}}
    if in_view:
        layer.on_event(installed(A, B), 0.0)
    return layer


def ask(layer: Probe, number: int = 1, *answered: Address, now: float = 0.0) -> list[Answer]:
    effects = layer.on_up(bare(PROBER, Query(number, answered)), now)
    assert all(batch.destination == PROBER for batch in downs(effects))
    answers = told(effects)
    return [answer for answer in answers if isinstance(answer, Answer)]


def decode(data: bytes) -> Report:
    report: Report = decode_record(data, Report)
    return report


def gathered(*answers: tuple[Address, Answer], number: int = 1) -> Gathering:
    gathering = Gathering(number, decode)
    for sender, answer in answers:
        gathering.add(sender, answer)
    return gathering


def test_a_node_tells_its_view_and_the_counters_of_its_layers_in_order() -> None:
    layer = node()
    gathering = gathered(*((A, answer) for answer in ask(layer)))
    assert gathering.reports[A] == Report(
        A,
        layer.view,
        True,
        (
            Counted("PROBE", {"answered": 1, "throttled": 0, "dropped": 0}),
            Counted("TOP", {"things": 4}),
        ),
    )


def test_a_node_that_is_in_no_view_or_has_no_quorum_says_so() -> None:
    assert node(in_view=False).report().view is None
    layer = node()
    layer.on_event(PrimaryLost(), 1.0)
    assert not layer.report().primary
    layer.on_event(PrimaryRegained(), 2.0)
    assert layer.report().primary


def test_a_question_changes_nothing_but_the_counters() -> None:  # I1
    layer = node()
    before = layer.report()
    ask(layer)
    after = layer.report()
    assert (after.view, after.primary, after.layers[1:]) == (
        before.view,
        before.primary,
        before.layers[1:],
    )


def test_who_is_named_as_having_answered_does_not_answer_again() -> None:  # I2
    layer = node()
    assert ask(layer, 1, A) == []
    assert ask(layer, 1, B)
    assert layer.counters()["answered"] == 1


def test_too_many_questions_are_counted_and_not_answered() -> None:  # I3
    layer = node()
    assert [bool(ask(layer, n)) for n in range(4)] == [True, True, False, False]
    assert layer.counters()["throttled"] == 2
    assert ask(layer, 9, now=1.0)


def test_a_large_answer_is_cut_into_a_bounded_number_of_pieces() -> None:  # I3
    layer = node()
    layer.sources = {"BIG": lambda: {f"counter {n}": n for n in range(1_000)}}
    pieces = ask(layer)
    assert len(pieces) <= PIECES_MAX
    assert {piece.total for piece in pieces} == {len(pieces)}
    small = node()
    assert all(len(piece.piece) <= OPTIONS.piece_bytes for piece in ask(small))


def test_counters_that_no_header_can_carry_are_bounded() -> None:
    layer = node()
    layer.sources = {"ODD": lambda: {"below": -1, "above": 1 << 70}}
    assert layer.report().layers == (Counted("ODD", {"below": 0, "above": COUNTER_MAX}),)


def test_an_answer_at_a_node_is_dropped_and_counted() -> None:
    layer = node()
    answer: Header = Answer(1, 0, 1, b"")
    assert layer.on_up(bare(B, answer), 0.0) == []
    assert layer.counters()["dropped"] == 1


# --- the prober -----------------------------------------------------------------------------------


@given(st.data())
def test_pieces_may_come_in_any_order_and_more_than_once(
    data: st.DataObject,
) -> None:
    pieces = ask(node())
    indices = data.draw(st.permutations(range(len(pieces))))
    twice = [*indices, *indices[:5]]
    assert set(gathered(*((A, pieces[i]) for i in twice)).reports) == {A}


def test_what_answers_another_question_or_claims_too_much_is_left_out() -> None:
    (piece, *_) = ask(node())
    wrong = (
        Answer(2, 0, 1, piece.piece),
        Answer(1, 1, 1, piece.piece),
        Answer(1, 0, PIECES_MAX + 1, piece.piece),
    )
    assert not any(Gathering(1, decode).add(A, answer) for answer in wrong)


def test_whoever_takes_the_last_piece_is_told_that_the_report_is_whole() -> None:
    pieces = ask(node())
    gathering = Gathering(1, decode)
    assert [gathering.add(A, piece) for piece in pieces] == [*[False] * (len(pieces) - 1), True]
    assert not gathering.add(A, pieces[-1]), "it is known"


def test_nobody_answers_for_another() -> None:
    pieces = ask(node())
    assert gathered(*((B, answer) for answer in pieces)).reports == {}


def test_what_is_no_report_is_a_wire_error() -> None:
    with pytest.raises(WireError):
        Gathering(1, decode).add(A, Answer(1, 0, 1, b"\x91"))


def test_it_is_complete_when_all_members_of_all_views_have_answered() -> None:
    gathering = gathered()
    assert not gathering.is_complete()
    for answer in ask(node(A)):
        gathering.add(A, answer)
    assert not gathering.is_complete()
    assert gathering.query() == Query(1, (A,))
    for answer in ask(node(B)):
        gathering.add(B, answer)
    assert gathering.is_complete()
    for answer in ask(node(C, in_view=False)):
        gathering.add(C, answer)
    assert not gathering.is_complete()
