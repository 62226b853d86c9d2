"""The index of the decisions has each with its state, and tells where it is not what they say."""

import re

import pytest

from scripts.index_decisions import INDEX, differing, relations, render
from scripts.tidy.sources import Source


def decision(number: int, below: str = "**Context.** It was so.") -> Source:
    text = f"# {number}. Title {number}\n\n{below}\n\nAmended by [9](0009-a.md).\n"
    return Source(f"docs/decisions/{number:04}-a.md", text)


def states(*texts: Source) -> list[str]:
    rows = re.findall(r"^\| \d.*", render(texts), re.MULTILINE)
    return [row.split(" | ")[2].removesuffix(" |") for row in rows]


def test_who_amends_and_who_is_amended_may_say_it() -> None:
    both = [decision(1), decision(2, "Amends [1](0001-a.md), as it had to.")]
    assert states(*both) == ["amended by [2](0002-a.md)", "in force"]
    both = [decision(1, "Amended by [2](0002-a.md): twice."), decision(2)]
    assert states(*both) == ["amended by [2](0002-a.md)", "in force"]


def test_what_is_superseded_is_not_said_to_be_amended() -> None:
    texts = [
        decision(1),
        decision(2, "Amends [1](0001-a.md)."),
        decision(3, "Supersedes [1](0001-a.md)."),
    ]
    assert states(*texts) == ["superseded by [3](0003-a.md)", "in force", "in force"]


def test_each_verb_has_its_own_links() -> None:
    line = "Supersedes [6](0006-a.md); amends [3](0003-a.md) and [4](0004-a.md)."
    line += "\nAmended by [7](0007-a.md)."
    assert relations(decision(5, line)) == [
        ("supersedes", 6),
        ("amends", 3),
        ("amends", 4),
        ("amended by", 7),
    ]


def test_a_text_that_only_names_others_stands_in_no_relation() -> None:
    assert (
        relations(decision(2, "By decision [1](0001-a.md), which amends nothing, it is so.")) == []
    )


def test_a_decision_that_lacks_in_the_index_is_found() -> None:
    index = Source(INDEX, render([decision(1)]))
    assert differing([decision(1), index]) == []
    (finding,) = differing([decision(1), decision(2), index])
    assert finding.line == len(index.lines) + 1


def test_a_state_that_contradicts_the_text_is_found_with_its_line() -> None:
    texts = [decision(1), decision(2, "Amends [1](0001-a.md).")]
    index = Source(INDEX, render(texts).replace("amended by [2](0002-a.md)", "in force"))
    (finding,) = differing([*texts, index])
    assert "| 1 |" in index.lines[finding.line - 1]


@pytest.mark.parametrize("below", ["Amends [8](0008-a.md).", "Superseded by [8](0008-a.md)."])
def test_a_decision_that_does_not_exist_is_no_relation(below: str) -> None:
    with pytest.raises(ValueError, match=r"\[8\]"):
        render([decision(1, below)])


def test_a_title_has_the_number_of_its_file() -> None:
    with pytest.raises(ValueError, match="# 2"):
        render([Source("docs/decisions/0002-a.md", "# 3. Title\n")])
