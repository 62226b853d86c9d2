"""The robustness run: what its judge finds, and a short run of real nodes."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests.robust.disks import Disks
from tests.robust.evidence import explained, keep
from tests.robust.faults import FAULTS, LASTS_S
from tests.robust.history import Calls, is_whole, judge
from tests.robust.network import Network
from tests.robust.run import Chapter, Run, robust
from tests.robust.spaces import Spaces

DOC = "doc/d/b1"


def line(place: int, client: str, number: int, **more: object) -> dict[str, Any]:
    """A line of a dump: a call that was done."""
    operation = f"{client}:{number}"
    base: dict[str, Any] = {
        "group": DOC,
        "sequence_number": place,
        "settled": True,
        "verdict": "done",
    }
    return {**base, "process": "a#1/1", "client_operation_id": operation, **more}


def two_calls() -> Calls:
    """p's call is answered, then q's is made and answered."""
    calls = Calls()
    for at_s, client in ((1.0, "p"), (2.0, "q")):
        calls.submit(at_s, client, 1)
        calls.answer(at_s + 0.5, client, 1)
    return calls


def numbers(dumps: dict[str, list[dict[str, Any]]]) -> set[int]:
    return {violation.number for violation in judge(two_calls(), dict(dumps), DOC)}


RIGHT = [line(1, "p", 1), line(2, "q", 1)]
COMPACTED: dict[str, Any] = {
    "group": DOC,
    "sequence_number": 1,
    "settled": True,
    "verdict": "compacted",
    "calls": {"p": 1},
}
"""A line of a state that stands for p's call."""


def test_a_history_that_is_right_breaks_nothing() -> None:
    joined = line(3, "", 0, verdict="joined", client_operation_id=None)
    assert numbers({"a": [*RIGHT, joined], "b": [*RIGHT, joined]}) == set()


def test_an_answered_call_that_is_in_no_log_is_found() -> None:
    assert 20 in numbers({"a": [line(1, "p", 1)], "b": [line(1, "p", 1)]})


def test_a_call_that_stands_twice_is_found() -> None:
    assert 2 in numbers({"a": [*RIGHT, line(3, "p", 1)], "b": RIGHT})


def test_logs_that_disagree_on_a_number_are_found() -> None:
    assert 3 in numbers({"a": RIGHT, "b": [line(1, "q", 1), line(2, "p", 1)]})


def test_a_gap_is_found_and_a_compacted_stretch_is_none() -> None:
    later = line(4, "", 0, verdict="joined", client_operation_id=None)
    assert 5 in numbers({"a": [*RIGHT, later]})
    compacted = {"group": DOC, "sequence_number": 3, "settled": True, "verdict": "compacted"}
    assert numbers({"a": [*RIGHT, compacted, later]}) == set()


def test_calls_that_a_state_stands_for_are_not_missed_and_others_are() -> None:
    assert numbers({"a": [COMPACTED, line(2, "q", 1)]}) == set()
    assert 20 in numbers({"a": [{**COMPACTED, "calls": {"p": 0}}, line(2, "q", 1)]})


def test_a_call_that_came_again_behind_the_state_that_has_it_is_not_missed() -> None:
    again = line(2, "p", 1, verdict="repeated")
    assert numbers({"a": [COMPACTED, again, line(3, "q", 1)]}) == set()


def test_a_line_that_is_not_settled_does_not_make_a_call_missed_that_states_have() -> None:
    late = line(1, "p", 1, settled=False)
    assert numbers({"a": [COMPACTED, line(2, "q", 1)], "b": [late]}) == set()


def test_logs_are_whole_when_all_is_settled_and_they_end_alike() -> None:
    unsettled = [RIGHT[0], {**RIGHT[1], "settled": False}]
    assert is_whole({"a": RIGHT, "b": RIGHT}, DOC)
    assert not is_whole({"a": RIGHT, "b": unsettled}, DOC)
    assert not is_whole({"a": RIGHT, "b": RIGHT[:1]}, DOC)


def test_a_problem_says_what_each_log_has_of_its_call() -> None:
    dumps = {"a": [line(1, "p", 1)], "b": [line(1, "p", 1), line(2, "q", 1, settled=False)]}
    missed = [one for one in judge(two_calls(), dict(dumps), DOC) if one.number == 20]
    said = explained(missed[0], dumps)
    assert "q#0/0:1.1 has number 0 of group 1; it has none" in said
    assert "a: 1 lines from 1 to 1" in said
    assert '"sequence_number": 2' in said
    assert '"settled": false' in said


def test_what_a_run_has_found_is_kept_with_its_calls_and_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cluster = Spaces(tmp_path / "run", Network(3), Disks(tmp_path / "disks", 3))
    (tmp_path / "run" / "a.0.log").write_text("what a node said")
    run = Run(cluster, 1, LASTS_S)
    run.problems.append("18: p0001. was answered and stands 0 times")
    run.played.append((1.0, 2.0, "kill", "a"))
    chapter = Chapter("d", two_calls(), [])
    chapter.dumps = {"a": RIGHT}
    run.chapters.append(chapter)
    kept = keep(run, tmp_path / "run")
    assert "p0001." in (kept / "problems.txt").read_text()
    assert (kept / "a.0.log").read_text() == "what a node said"
    assert json.loads((kept / "faults.json").read_text()) == [[1.0, 2.0, "kill", "a"]]
    said = json.loads((kept / "chapter0.json").read_text())
    assert said["calls"]["answered"] == [[1.5, "p", 1], [2.5, "q", 1]]
    assert said["dumps"] == {"a": RIGHT}


def test_a_call_that_stands_before_one_that_was_answered_when_it_was_made_is_found() -> None:
    wrong = [line(1, "q", 1), line(2, "p", 1)]
    assert numbers({"a": wrong, "b": wrong}) == {19}


def swapped(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with the first two calls of different clients in each other's places."""
    done = [one for one in lines if one["verdict"] == "done" and one.get("client_operation_id")]
    first = done[0]
    other = next(one for one in done if client_of(one) != client_of(first))
    places = {id(first): other, id(other): first}
    return [
        {**places.get(id(one), one), "sequence_number": one["sequence_number"]} for one in lines
    ]


def client_of(line: dict[str, Any]) -> str:
    """Whose call it is."""
    return str(line["client_operation_id"]).rpartition(":")[0]


def doctored(chapter: Chapter) -> dict[str, set[int]]:
    """What is found when the logs of a run are not what they were, by what was done to them."""
    dumped = chapter.dumps
    lines_of_a = dumped["a"]
    lost = next(one for one in reversed(lines_of_a) if one.get("client_operation_id"))
    without = {
        name: [one for one in lines if one["sequence_number"] != lost["sequence_number"]]
        for name, lines in dumped.items()
    }
    end = max(one["sequence_number"] for lines in dumped.values() for one in lines)
    again = {**lost, "sequence_number": end + 1}
    cases = {
        "an answered call is in no log": without,
        "a log has two calls in each other's places": {**dumped, "b": swapped(dumped["b"])},
        "a call stands twice": {name: [*lines, again] for name, lines in dumped.items()},
    }
    return {
        what: {violation.number for violation in chapter.judged(dumps)}
        for what, dumps in cases.items()
    }


@pytest.mark.process
@pytest.mark.slow
def test_real_nodes_under_faults_keep_the_rules_of_the_simulator() -> None:
    """Every kind of fault once, disks among them; and what is planted in the logs is found.

    Without root or `ip` this fails with what is missing: nothing would be judged.
    """
    run, _ = asyncio.run(robust(0.0, 3, seed=4, lasts_s=(0.3, 1.2)))
    assert run.problems == []
    assert set(run.happened) == set(FAULTS)
    chapter = run.chapters[0]
    assert len(chapter.calls.answered) > 20
    found = doctored(chapter)
    assert {5, 20} & found["an answered call is in no log"]
    assert 3 in found["a log has two calls in each other's places"]
    assert 2 in found["a call stands twice"]
