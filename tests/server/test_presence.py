"""What a page may show of itself, as the node lets it through."""

from __future__ import annotations

import pytest

from server.accounts.roles import Role
from server.documents.names import Here
from server.documents.presence import CALL_S, CALLERS_MAX, Presences

PLAN = "doc/plan/here"


class Town:
    """Accounts of two people, and a clock."""

    now_s = 100.0

    def __init__(self) -> None:
        self.roles = {"user:ann": Role.EDITOR, "user:bob": Role.COMMENTER, "link:1": Role.EDITOR}
        self.names = {"user:ann": "Ann", "user:bob": "Bob"}

    def shown_name(self, principal: str) -> str | None:
        return self.names.get(principal)

    def role_in(self, principal: str, document: str) -> Role:
        assert document == "plan"
        return self.roles[principal]


def shown(presences: Presences, calls: int, who: str = "a:1", principal: str = "user:ann") -> int:
    value = ["Ann", None, 0, 0, None, False, calls]
    found = presences.presenting(principal, who, PLAN, value)
    assert isinstance(found, list)
    return int(found[6])


def test_a_name_is_the_accounts_and_not_the_pages_choice() -> None:
    town = Town()
    guarded, plain = Presences(town, lambda: 0.0), Presences(None, lambda: 0.0)
    value: list[object] = ["The owner", "b1", 2, 3]
    rest = ["b1", 2, 3, None, False, 0, None, None, None]
    assert guarded.presenting("user:bob", "a:1", PLAN, value) == ["Bob", *rest]
    assert guarded.presenting("link:1", "a:1", PLAN, value) == ["Guest", *rest]
    assert plain.presenting("guest", "a:1", PLAN, value) == ["The owner", *rest]


@pytest.mark.parametrize(
    "value", [None, 1, "x", [], ["Ann"], ["Ann", None, 0, 0, None, False, 0, None, 1, 1, 1]]
)
def test_what_is_of_another_form_is_left_for_the_type_to_refuse(value: object) -> None:
    assert Presences(Town(), lambda: 0.0).presenting("user:ann", "a:1", PLAN, value) is value


def test_a_selection_may_begin_in_another_block() -> None:
    presences = Presences(Town(), lambda: 0.0)
    value = ["Ann", "b2", 1, 2, None, False, 0, "b1", 7, 9]
    assert presences.presenting("user:ann", "a:1", PLAN, value) == value
    assert Here("Ann", "b2", 1, 2, None, False, 0, "b1", 7, 9).start == "b1"
    with pytest.raises(ValueError, match="ids of blocks"):
        Here("Ann", "b2", 1, 2, None, False, 0, "no id", None, None)
    with pytest.raises(ValueError, match="versions"):
        Here("Ann", "b2", 1, 2, None, False, 0, "b1", 7, -1)


def test_only_who_may_write_asks_everybody_to_come() -> None:
    presences = Presences(Town(), lambda: 0.0)
    assert shown(presences, 1, principal="user:ann") == 1
    assert shown(presences, 1, "a:2", "user:bob") == 0
    assert shown(presences, 1, "a:3", "link:1") == 1


def test_nobody_asks_everybody_to_come_again_and_again() -> None:
    town = Town()
    presences = Presences(town, lambda: town.now_s)
    assert [shown(presences, calls) for calls in (1, 2, 3)] == [1, 1, 1]
    assert shown(presences, 1, "a:2") == 1
    town.now_s += CALL_S
    assert [shown(presences, calls) for calls in (4, 5)] == [4, 4]


def test_those_who_have_asked_are_not_remembered_for_ever() -> None:
    presences = Presences(None, lambda: 0.0)
    for number in range(CALLERS_MAX + 5):
        shown(presences, 1, f"a:{number}")
    assert len(presences._callers) == CALLERS_MAX
