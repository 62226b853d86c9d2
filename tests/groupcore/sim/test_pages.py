"""Pages at the gateways of simulated nodes: what the checkers say, and how copies are kept."""

from __future__ import annotations

from typing import cast

import pytest

from groupcore.frames import Message
from groupcore.sim.checkers.pages import PAGE_CHECKERS
from groupcore.sim.jobs import Job
from groupcore.sim.pages.copies import Copy
from groupcore.sim.trace import HEALED, Happened, Record, Trace
from groupcore.sim.trace_pages import (
    PageAnswered,
    PageCalled,
    PageEnd,
    PageLost,
    PageWaits,
    PageWrong,
)

A = ("a", 1)
CALLED = PageCalled(1, "ann", "list", 1, "append", "w1")
DONE = PageAnswered(2, "ann", "list", 1, "", "w1", "birth")
EMPTY = PageEnd(9, *A, "list", "birth", ())


def judged(*records: Record) -> list[int]:
    """The invariants that these break, behind the healing."""
    trace = Trace([Happened(0, HEALED, ""), *records])
    return [one.number for checker in PAGE_CHECKERS for one in checker().check(trace)]


def test_what_a_page_was_told_to_be_done_is_there_once() -> None:
    assert judged(CALLED, DONE, EMPTY._replace(words=("w1",))) == []
    assert judged(CALLED, DONE, EMPTY) == [20]
    assert judged(CALLED, DONE, EMPTY._replace(words=("w1", "w1"))) == [20]
    assert judged(CALLED, EMPTY) == []
    assert judged(CALLED, EMPTY._replace(words=("w1", "w2"))) == [20]


def test_what_began_anew_without_it_is_no_breach_nor_what_was_not_put() -> None:
    assert judged(CALLED, DONE, EMPTY._replace(birth="another")) == []
    assert judged(CALLED, DONE, PageLost(3, "ann", "list", 1, "w1"), EMPTY) == []
    assert judged(CALLED, DONE._replace(code="no_such_item"), EMPTY) == []
    assert judged(CALLED._replace(operation="move"), DONE, EMPTY) == []


def test_what_a_page_waits_for_in_the_end_and_has_wrongly_is_a_breach() -> None:
    assert judged(PageWaits(9, "ann", "waits for an answer")) == [25]
    assert judged(PageWrong(5, "ann", "has another state")) == [32]


def changes(version: int, *items: list[object]) -> Message:
    message: dict[str, object] = {"t": "changes", "name": "list", "version": version}
    return cast("Message", {**message, "items": list(items)})


def inserted(position: int, item: str, after: str | None) -> list[object]:
    return [position, "a#1/1", "insert", [["insert", item, after, item.upper()]]]


def test_a_copy_of_a_list_follows_its_changes_and_passes_over_what_it_has() -> None:
    copy = Copy("List", "birth", 4, [["a", "A"]])
    assert copy.change(changes(6, inserted(4, "a", None), inserted(6, "b", "a"))) == ""
    assert copy.state == [["a", "A"], ["b", "B"]]
    move: list[object] = [7, "a#1/1", "move", [["move", "b", None]]]
    delete: list[object] = [8, "a#1/1", "delete", [["delete", "a"]]]
    assert copy.change(changes(8, move, delete)) == ""
    assert (copy.position, copy.state) == (8, [["b", "B"]])


def test_a_copy_of_a_map_is_the_same_whatever_the_order_of_its_keys() -> None:
    copy = Copy("Map", "birth", 1, [["k", 1]])
    other = Copy("Map", "birth", 1, [["l", 2], ["k", 1]])
    assert copy.change(changes(2, [2, "a#1/1", "set", [["l", None, 2]]])) == ""
    assert copy.digest() == other.digest()
    assert copy.change(changes(3, [3, "a#1/1", "pop", [["k", 1, None]]])) == ""
    assert copy.state == [["l", 2]]


@pytest.mark.parametrize(
    ("message", "word"),
    [
        (changes(4), "up to 4"),
        (changes(6, inserted(7, "b", None)), "[7]"),
        (changes(7, inserted(7, "b", None), inserted(6, "c", None)), "[7, 6]"),
    ],
)
def test_changes_that_do_not_follow_are_told(message: Message, word: str) -> None:
    assert word in Copy("List", "birth", 4, []).change(message)


@pytest.mark.parametrize("index", range(6))
def test_pages_have_what_their_nodes_have(index: int) -> None:
    verdict = Job("pages", 2, index, "").verdict()
    assert verdict.violations == []
    assert verdict.trace.of(PageCalled)
