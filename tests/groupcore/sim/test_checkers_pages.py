"""The checker of what pages are given (21), on traces written by hand."""

from __future__ import annotations

from groupcore.sim.checkers.document_pages import PageStream
from groupcore.sim.trace import Record, Trace
from groupcore.sim.trace_documents import (
    DocumentCalled,
    DocumentDone,
    DocumentSaved,
    DocumentShown,
)


def shown(position: int, what: str = "edit", whole: bool = False, visit: int = 1) -> DocumentShown:
    return DocumentShown(position, "p", visit, "doc", 1, "born", position, whole, what)


def done(position: int, what: str = "edit") -> DocumentDone:
    return DocumentDone(position, "a", 1, "doc", 1, "born", position, what)


def judged(*records: Record) -> list[str]:
    return [violation.text for violation in PageStream().check(Trace(list(records)))]


def test_a_page_is_given_a_state_and_every_position_behind_it() -> None:
    assert judged(done(5), done(6), shown(4, whole=True), shown(5), shown(6)) == []


def test_a_gap_and_a_repetition_are_breaches() -> None:
    history = (done(5), done(6), shown(4, whole=True))
    assert judged(*history, shown(6)) == ["p is shown 6 behind 4 of doc"]
    assert judged(*history, shown(5), shown(5)) == ["p is shown 5 behind 5 of doc"]


def test_nothing_is_shown_without_a_state_in_each_visit() -> None:
    assert judged(done(5), shown(4, whole=True), shown(5, visit=2)) == [
        "p is shown 5, and has no state of it of doc"
    ]


def test_a_state_that_is_older_than_what_the_page_has_is_a_breach() -> None:
    history = (done(5), shown(4, whole=True), shown(5))
    assert judged(*history, shown(4, whole=True)) == [
        "p is given the state as of 4, and has that of 5 of doc"
    ]
    other = shown(1, whole=True)._replace(birth="again")
    assert judged(*history, other) == []


def test_what_is_shown_is_what_nodes_have_done() -> None:
    assert judged(done(5, "split"), shown(4, whole=True), shown(5)) == [
        "p is shown 'edit' at 5 of doc, where nodes have done 'split'"
    ]


def test_nothing_is_called_saved_that_was_not_called() -> None:
    call = DocumentCalled(1, "p", "doc", 3, "insert", "words", "")
    assert judged(call, DocumentSaved(2, "p", "doc", 3)) == []
    assert judged(call, DocumentSaved(2, "p", "doc", 4)) == [
        "p is told that 4 of doc is saved, and has called 3 times"
    ]
    assert len(judged(DocumentSaved(2, "p", "doc", 1))) == 1
