"""Going on without lost nodes is asked for twice, at a shell or in the command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from server.errors import ServerError, SettingsProblem
from server.recover_cli import GROUPS_SHOWN, agree, lines_of


def answering(*answers: str) -> tuple[Callable[[str], str], list[str]]:
    """Gives these answers one after the other; the questions are noted."""
    left, asked = list(answers), []

    def answer(question: str) -> str:
        asked.append(question)
        return left.pop(0)

    return answer, asked


@pytest.mark.parametrize("names", ["a b", "b a", "a, b", " b,a "])
def test_it_asks_twice_and_names_what_may_be_lost(names: str) -> None:
    answer, asked = answering("yes", names)
    agree(["a", "b"], 0, answer)
    assert [("a, b" in question) for question in asked] == [True, True]
    assert "lost for good" in asked[0]
    assert "may be lost" in asked[1]


@pytest.mark.parametrize("first", ["", "y", "no", "Yes", "yes please"])
def test_without_a_plain_yes_nothing_more_is_asked(first: str) -> None:
    answer, asked = answering(first)
    with pytest.raises(ServerError, match="bring the folder back"):
        agree(["b"], 0, answer)
    assert len(asked) == 1


@pytest.mark.parametrize("second", ["", "yes", "a", "a b c", "b b", "A B"])
def test_other_names_than_those_shown_do_nothing(second: str) -> None:
    answer, _ = answering("yes", second)
    with pytest.raises(ServerError, match="nothing was done"):
        agree(["a", "b"], 0, answer)


def test_said_twice_in_the_command_it_asks_nothing() -> None:
    answer, asked = answering()
    agree(["b"], 2, answer)
    assert asked == []


def test_said_once_in_the_command_is_not_enough() -> None:
    answer, asked = answering("yes", "b")
    with pytest.raises(SettingsProblem, match="twice"):
        agree(["b"], 1, answer)
    assert asked == []


def test_without_a_terminal_it_has_to_stand_in_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    with pytest.raises(SettingsProblem, match="at a shell"):
        agree(["b"], 0)


def shown(count: int) -> dict[str, Any]:
    """What a node shows of this many groups."""
    groups = [{"group": f"doc/{one}", "epoch": 2, "kept_to": one} for one in range(count)]
    return {
        "awaited": ["a", "b"],
        "waiting": {"text": "the last view was [a b c]"},
        "goes_on_with": ["c"],
        "kept_until": 0.0,
        "groups": groups,
    }


def test_it_says_who_is_awaited_what_is_kept_and_what_may_be_lost() -> None:
    lines = lines_of(shown(GROUPS_SHOWN + 3))
    assert lines[0] == "the last view was [a b c]"
    assert "waits for  a, b" in lines
    assert "goes on    with c" in lines
    assert any("13 groups, written until 1970-01-01 00:00:00 UTC" in line for line in lines)
    assert sum("doc/" in line for line in lines) == GROUPS_SHOWN
    assert any("3 more" in line for line in lines)
    assert lines[-1].startswith("may be lost  whatever a, b saved without the others")


def test_where_nobody_is_awaited_it_says_so() -> None:
    assert lines_of({"awaited": None, "waiting": None}) == ["nothing is waited for"]
