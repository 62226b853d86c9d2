"""The rules of composition: a stack in which a layer misses something is not created.

State-transfer paper, 3.1.
"""

from __future__ import annotations

import pytest

from groupcore.composition import check_composition
from groupcore.errors import CompositionError
from groupcore.events import Connect, Found, Leave
from groupcore.layer import Layer


class Ground(Layer):
    name = "GROUND"
    provides = frozenset({"ground"})
    answers = (Connect,)


class Roof(Layer):
    name = "ROOF"
    provides = frozenset({"roof"})
    answers = (Leave,)


class House(Layer):
    name = "HOUSE"
    requires_below = frozenset({"ground"})
    requires_above = frozenset({"roof"})
    asks_below = (Connect,)
    asks_above = (Leave,)


class Tent(Layer):
    name = "TENT"
    provides = frozenset({"roof"})
    answers = (Leave,)


class Oracle(Layer):
    name = "ORACLE"
    asks_below = (Found,)


KNOWN = (Ground, House, Roof, Tent)


def complaint(*layers: type[Layer]) -> str:
    with pytest.raises(CompositionError) as caught:
        check_composition(layers, KNOWN)
    return str(caught.value)


def test_when_all_requirements_are_matched_the_stack_is_created() -> None:
    check_composition([Ground, House, Roof])
    check_composition([Ground(), House(), Tent()])


def test_a_missing_service_is_named_with_layer_side_and_who_provides_it() -> None:
    assert complaint(House, Roof) == (
        "HOUSE requires 'ground' from a layer below it in HOUSE:ROOF; add GROUND below HOUSE"
    )
    assert complaint(Ground, House) == (
        "HOUSE requires 'roof' from a layer above it in GROUND:HOUSE; add ROOF or TENT above HOUSE"
    )


def test_a_missing_answer_is_named_with_layer_event_side_and_who_provides_it() -> None:
    class Plot(Layer):
        name = "PLOT"
        provides = frozenset({"ground"})

    class Awning(Layer):
        name = "AWNING"
        provides = frozenset({"roof"})

    assert complaint(Plot, House, Roof) == (
        "HOUSE requires an answer to Connect from a layer below it in PLOT:HOUSE:ROOF; "
        "add GROUND below HOUSE"
    )
    assert complaint(Ground, House, Awning) == (
        "HOUSE requires an answer to Leave from a layer above it in GROUND:HOUSE:AWNING; "
        "add ROOF or TENT above HOUSE"
    )


def test_what_no_known_layer_provides_is_said_without_a_name() -> None:
    assert complaint(Ground, Oracle) == (
        "ORACLE requires an answer to Found from a layer below it in GROUND:ORACLE; "
        "add a layer that provides it, below ORACLE"
    )


def test_a_layer_on_the_wrong_side_is_named_with_its_right_place() -> None:
    assert complaint(House, Ground, Roof) == (
        "HOUSE must stand above GROUND in HOUSE:GROUND:ROOF (lowest first): HOUSE requires "
        "'ground' from a layer below it, and GROUND provides that; change their places"
    )
    assert complaint(Roof, Ground, House).startswith("ROOF must stand above HOUSE in")


def test_a_layer_that_stands_twice_is_refused() -> None:
    assert complaint(Ground, Roof, Ground) == (
        "GROUND stands twice in GROUND:ROOF:GROUND; take one out"
    )
