"""Plans from outside: checked whole before any of them is done."""

from __future__ import annotations

import json

import pytest

from groupcore.errors import PlanError
from groupcore.sequencing.commands import Drain
from groupcore.sequencing.plan import PLAN_BYTES_MAX, Plan, check_plan, look_through
from tests.groupcore.sequencing.directories import NODES, A, P, Q, create, directory, strict


def written(**groups: str) -> str:
    return json.dumps({"plan": 1, "groups": groups})


def test_a_plan_names_groups_by_name_or_number() -> None:
    made = directory()
    create(made, name="prices")
    create(made, name="7")
    create(made)
    assert check_plan(written(**{"prices": "b", "3": "c"}), made) == Plan({1: "b", 3: "c"})
    assert check_plan(written(**{"7": "b"}), made) == Plan({2: "b"})  # a name counts first
    assert check_plan(written(prices="a").encode(), made) == Plan({1: "a"})


def test_what_a_plan_says_of_itself_changes_nothing_of_it() -> None:
    made = directory()
    create(made, name="prices")
    create(made)
    said = {"reasons": {"prices": "load", "2": 7, "9": "drain"}, "infeasible": ["Add nodes."]}
    text = json.dumps({"plan": 1, "groups": {"prices": "b", "2": "c"}, **said, "supposes": ["d"]})
    assert check_plan(text, made) == Plan({1: "b", 2: "c"}, reasons={1: "load"})


BAD_PLANS: list[tuple[str | bytes, str, str]] = [
    ("", "the plan", "no JSON"),
    (b"\xff", "the plan", "no JSON"),
    ("[" * 100_000, "the plan", "no JSON"),
    ("[]", "the plan", "no object"),
    ('{"plan": 1}', "the plan", "no object"),
    ('{"plan": 1, "groups": {"1": "b"}, "more": 1}', "the plan", "no object"),
    ('{"plan": 1, "groups": {"1": "b"}, "expects": []}', "expects", "no object"),
    ('{"plan": 1, "groups": {"1": "b"}, "reasons": []}', "reasons", "no object"),
    ('{"plan": 1, "groups": {"1": "b"}, "infeasible": {}}', "infeasible", "no list"),
    ('{"plan": 1, "groups": {"1": "b"}, "supposes": "a"}', "supposes", "no list"),
    ('{"plan": 2, "groups": {"1": "b"}}', "plan", "format"),
    ('{"plan": true, "groups": {"1": "b"}}', "plan", "format"),
    ('{"plan": 1, "groups": {}}', "groups", "no group"),
    ('{"plan": 1, "groups": ["1"]}', "groups", "no group"),
    ('{"plan": 1, "groups": {"1": "b", "1": "c"}}', "'1'", "twice"),
    ('{"plan": 1, "groups": {"1": "b", "prices": "c"}}', "'prices'", "twice"),
    ('{"plan": 1, "groups": {"other": "b"}}', "'other'", "no group"),
    ('{"plan": 1, "groups": {"99": "b"}}', "'99'", "no group"),
    ('{"plan": 1, "groups": {"-1": "b"}}', "'-1'", "no group"),
    ('{"plan": 1, "groups": {"\\u0661": "b"}}', "'\u0661'", "no group"),
    ('{"plan": 1, "groups": {"1": "x"}}', "'1'", "no node"),
    ('{"plan": 1, "groups": {"1": 2}}', "'1'", "no text"),
    ('{"plan": 1, "groups": {"1": "c"}}', "'1'", "drained"),
]


@pytest.mark.parametrize(("text", "item", "problem"), BAD_PLANS)
def test_what_is_wrong_with_a_plan_is_named(text: str | bytes, item: str, problem: str) -> None:
    made = directory()
    create(made, name="prices")
    made.apply(Drain(1, "c", True), A)
    before = made.fingerprint()
    with pytest.raises(PlanError, match=problem) as caught:
        check_plan(text, made)
    assert caught.value.item == item
    assert caught.value.remedy
    assert made.fingerprint() == before


def test_a_plan_is_bounded() -> None:
    with pytest.raises(PlanError, match="bytes"):
        check_plan(" " * (PLAN_BYTES_MAX + 1), directory())


def test_an_unknown_node_is_answered_with_those_that_there_are() -> None:
    made = directory()
    create(made)
    with pytest.raises(PlanError, match="name one of a, b, c"):
        check_plan(written(**{"1": "x"}), made)


def test_a_plan_that_splits_a_component_names_what_must_go_along() -> None:
    made = directory()
    strict(made, A, P, Q)
    strict(made, A, P, Q)
    for targets in ({"1": "b"}, {"1": "b", "2": "c"}):
        with pytest.raises(PlanError, match="S2") as caught:
            check_plan(written(**targets), made)
        assert caught.value.item == "group 1"
        assert caught.value.remedy == "give 2 to b as well"
    assert check_plan(written(**{"1": "b", "2": "b"}), made).targets == {1: "b", 2: "b"}
    assert check_plan(written(**{"1": "a"}), made).targets == {1: "a"}  # 2 is there


def test_all_that_is_wrong_with_a_plan_is_found_and_what_is_fit_of_it() -> None:
    made = directory(*NODES)
    create(made, name="prices")
    strict(made, A, P, Q)
    strict(made, A, P, Q)
    made.apply(Drain(1, "c", True), A)
    text = written(**{"1": "b", "prices": "b", "9": "b", "2": "b", "3": "c", "7": "x"})
    plan, objections = look_through(text, made)
    assert plan.targets == {1: "b"}
    assert [(one.code, one.item) for one in objections] == [
        ("twice", "'prices'"),
        ("unknown_group", "'9'"),
        ("draining", "'3'"),
        ("unknown_group", "'7'"),
        ("breaks_s2", "group 2"),
    ]
    with pytest.raises(PlanError) as caught:
        check_plan(text, made)
    assert caught.value.code == "twice"
    with pytest.raises(PlanError, match="no JSON"):
        look_through("[", made)
