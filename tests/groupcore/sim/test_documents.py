"""Documents on simulated nodes: what schedules do, what the checkers say, and what was found."""

from __future__ import annotations

from collections import Counter

import pytest

from groupcore.sim.checkers import Violation
from groupcore.sim.checkers.documents import DOCUMENT_CHECKERS
from groupcore.sim.documents.drawing import draw_documents
from groupcore.sim.plants import PLANTS
from groupcore.sim.profiles import PROFILES
from groupcore.sim.trace import HEALED, Happened, Record, Trace
from groupcore.sim.trace_documents import (
    DocumentAnswered,
    DocumentCalled,
    DocumentDropped,
    DocumentEnd,
    DocumentGone,
    DocumentHash,
    DocumentParted,
    DocumentSaved,
    DocumentTwice,
    DocumentWaits,
)
from groupcore.sim.trace_groups import GroupOwned

A, B = ("a", 1), ("b", 1)
ANN = "person-1"
BLOCK = "doc/plan/x"


def judged(*records: Record) -> list[Violation]:
    """What the checkers say of these, behind the healing."""
    trace = Trace([Happened(0, HEALED, ""), *records])
    return [violation for checker in DOCUMENT_CHECKERS for violation in checker().check(trace)]


def call(number: int, typed: str, operation: str = "edit", erased: str = "") -> DocumentCalled:
    return DocumentCalled(number, ANN, BLOCK, number, operation, typed, erased)


def answer(number: int, code: str = "", draft: str = "") -> DocumentAnswered:
    return DocumentAnswered(number, ANN, BLOCK, number, code, draft)


def end(text: str, node: tuple[str, int] = A, drafts: str = "", *wrong: str) -> DocumentEnd:
    return DocumentEnd(99, *node, "plan", (("x", text),), drafts, wrong)


SAVED = DocumentSaved(50, ANN, BLOCK, 1)


def test_what_is_saved_is_in_the_document() -> None:
    assert judged(call(1, "q"), answer(1), SAVED, end("aq")) == []
    (lost,) = judged(call(1, "q"), answer(1), SAVED, end("a"))
    assert (lost.number, "q of person-1" in lost.text) == (18, True)


@pytest.mark.parametrize(
    "why",
    [
        [],  # nobody said that it is saved
        [SAVED, call(2, "", erased="q")],
        [SAVED, DocumentGone(5, *B, BLOCK, "deleted", "pq")],
        [SAVED, DocumentDropped(5, ANN, BLOCK, 1)],
    ],
)
def test_what_was_deleted_or_given_back_is_not_lost(why: list[Record]) -> None:
    assert judged(call(1, "q"), answer(1), *why, end("a")) == []


def test_a_draft_is_with_its_author_and_not_in_the_document_too() -> None:
    assert judged(call(1, "q"), answer(1, draft="q"), SAVED, end("a")) == []
    assert judged(call(1, "q"), answer(1), SAVED, end("a", A, "q")) == []
    assert {one.number for one in judged(call(1, "q"), answer(1), end("q", A, "q"))} == {20}


def test_no_text_is_in_two_places() -> None:
    (twice,) = judged(call(1, "q"), answer(1), end("qaq"))
    assert (twice.number, "q 2 times" in twice.text) == (20, True)
    assert [one.number for one in judged(DocumentTwice(7, *A, "q"))] == [20]


@pytest.mark.parametrize("said", [answer(1, "too_large"), DocumentDropped(5, ANN, BLOCK, 1)])
def test_what_was_refused_or_given_back_is_not_there(said: Record) -> None:
    assert [one.number for one in judged(call(1, "q"), said, end("q"))] == [20]
    again = call(2, "q")
    assert judged(call(1, "q"), said, again, answer(2), end("q")) == []


def test_a_call_has_one_answer_for_ever() -> None:
    assert judged(answer(1), answer(1)) == []
    assert [one.number for one in judged(answer(1), answer(1, "skipped"))] == [20]


def test_copies_are_equal_at_equal_places_of_one_stretch() -> None:
    here = DocumentHash(1, *A, BLOCK, 1, "birth", 8, "one")
    there = here._replace(n="b", sh="two")
    assert [one.number for one in judged(here, there)] == [17]
    assert judged(here, there._replace(birth="other")) == []
    assert judged(here, there._replace(epoch=2)) == []
    assert [one.number for one in judged(end("p"), end("q", B))] == [17]
    assert [one.number for one in judged(DocumentParted(1, *A, "parted"))] == [17]


def test_in_the_end_nobody_waits_and_all_fits_together() -> None:
    assert [one.number for one in judged(DocumentWaits(9, ANN, "no answer"))] == [25]
    assert [one.number for one in judged(end("", A, "", "x has no text here"))] == [25]


def test_people_write_on_simulated_nodes_and_nothing_is_lost() -> None:
    operations: Counter[str] = Counter()
    saved = moved = 0
    for seed in (2, 3, 6):
        played = PROFILES["documents"].play(draw_documents(seed))
        assert played.violations == []
        operations.update(one.operation for one in played.trace.of(DocumentCalled))
        saved += len(played.trace.of(DocumentSaved))
        moved += len({one.group for one in played.trace.of(GroupOwned) if one.epoch > 1})
        assert all(one.blocks for one in played.trace.of(DocumentEnd))
    assert {"insert", "edit", "split", "join"} <= set(operations)
    assert min(sum(operations.values()), saved) > 20
    assert moved, "groups have had other sequencers"


@pytest.mark.parametrize("name", ["doc-taken-twice", "doc-planted-unwoken"])
def test_a_planted_bug_of_documents_is_found(name: str) -> None:
    plant = PLANTS[name]
    for seed in (3, 2, 6):
        with plant.planted():
            violations = PROFILES["documents"].play(draw_documents(seed)).violations
        found = {violation.number for violation in violations}
        assert found <= {*plant.caught_by, 25}
        if plant.caught_by[0] in found:
            return
    pytest.fail(f"{name} has broken nothing")
