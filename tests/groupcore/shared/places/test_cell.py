"""One cell: things, grabs, behaviours, roles, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groupcore.shared.access import Right
from groupcore.shared.errors import ForbiddenError
from groupcore.shared.places import Cell, Edit, Thing
from groupcore.shared.places.behaviours import Moment, acting, counted, operated, rung, stepped
from groupcore.shared.places.digest import CellDigest, digest_of, is_news
from groupcore.shared.places.handover import portions
from groupcore.shared.places.limits import (
    EDITS_MAX,
    PARCEL_BYTES,
    POINTS_MAX,
    SIZE_MAX,
    TEXT_MAX,
    THINGS_MAX,
)
from groupcore.shared.places.parts import Parcel, Signal
from groupcore.shared.places.refusals import (
    BadActionError,
    BadPathError,
    BadThingError,
    CellFullError,
    NoSuchThingError,
    NotHereError,
    NotMemberError,
    PlaceRefusalError,
    ThingExistsError,
    ThingHeldError,
    ThingLockedError,
)
from groupcore.shared.places.squares import ROOT
from groupcore.shared.places.thing import check_thing, edited, size_bytes
from tests.groupcore.shared.places.table import Table

FAR = 300_000_000


def leaf(*things: Thing) -> Cell:
    cell = Cell()
    cell.become(ROOT, 1, "leaf")
    if things:
        cell.put(list(things)).result()
    return cell


def ball(**changes: int) -> Thing:
    return Thing("ball", "ball", width=64, height=64).with_props(**changes)


# --- things ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        Thing("a b", "sticky"),
        Thing("", "sticky"),
        Thing("a", "bomb"),
        Thing("a", "sticky", x=1 << 40),
        Thing("a", "sticky", width=SIZE_MAX + 1),
        Thing("a", "sticky", width=-1),
        Thing("a", "sticky", turn=23_040),
        Thing("a", "sticky", text="x" * (TEXT_MAX + 1)),
        Thing("a", "sticky", text="🙂" * TEXT_MAX),
        Thing("a", "ink", points=(1, 2, 3)),
        Thing("a", "ink", points=(0,) * (POINTS_MAX + 2)),
        Thing("a", "ink", points=(0, SIZE_MAX + 1)),
        Thing("a", "sticky", style=(("b", 1), ("a", 1))),
        Thing("a", "sticky", style=tuple((f"p{n:02}", n) for n in range(33))),
        Thing("a", "sticky", props=(("a", 1 << 60),)),
        Thing("a", "sticky", props=(("", 1),)),
        Thing("a", "arrow", links=("a b",)),
        Thing("a", "arrow", links=("b",) * 33),
        Thing("a", "vote", votes=(("ann", 100),)),
        Thing("a", "sticky", version=-1),
    ],
)
def test_what_is_no_thing_is_refused_and_nothing_of_its_message_is_done(wrong: Thing) -> None:
    cell = leaf()
    with pytest.raises(BadThingError):
        cell.put([Thing("good", "sticky"), wrong]).result()
    assert cell.things == {}


def test_a_cell_takes_so_many_things_and_no_more() -> None:
    cell = leaf()
    for start in range(0, THINGS_MAX, EDITS_MAX):
        cell.put([Thing(f"t{n}", "sticky") for n in range(start, start + EDITS_MAX)]).result()
    with pytest.raises(CellFullError):
        cell.put([Thing("more", "sticky")]).result()
    with pytest.raises(BadThingError):
        cell.put([Thing(f"u{n}", "sticky") for n in range(EDITS_MAX + 1)]).result()
    assert cell.accept("r0", Parcel(1, (Thing("moved", "sticky"),))).result()  # P3


def test_an_id_is_given_once() -> None:
    cell = leaf(Thing("a", "sticky"))
    with pytest.raises(ThingExistsError):
        cell.put([Thing("a", "sticky")]).result()
    cell.delete(["a"]).result()
    with pytest.raises(ThingExistsError):
        cell.put([Thing("a", "sticky")]).result()
    cell.put([Thing("a", "sticky", hops=1)]).result()


def test_a_thing_that_comes_under_an_id_of_another_one_is_kept_too() -> None:
    cell = leaf(Thing("a", "sticky", text="mine"))
    cell.accept("r0", Parcel(1, (Thing("a", "sticky", text="yours"),))).result()
    assert sorted(thing.text for thing in cell.things.values()) == ["mine", "yours"]


def test_an_edit_changes_what_is_as_expected_and_nothing_else() -> None:
    cell = leaf(Thing("a", "sticky", x=5, text="old"))
    edit = Edit("a", (("text", "new"), ("x", 9)), expected=(("text", "other"), ("x", 5)))
    assert cell.change([edit]).result() == ["a"]
    assert (cell.things["a"].text, cell.things["a"].x, cell.things["a"].version) == ("old", 9, 1)
    assert cell.change([Edit("a", (("x", 9),))]).result() == []


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ((("x", "far"),), BadThingError),
        ((("x", True),), BadThingError),
        ((("votes", 1),), BadThingError),
        ((("__class__", 1),), BadThingError),
        ((("props.a", 1 << 60),), BadThingError),
    ],
)
def test_edits_that_cannot_be_are_refused_together(
    changes: tuple[tuple[str, str | int | bool | None], ...], error: type[Exception]
) -> None:
    cell = leaf(Thing("a", "sticky"), Thing("b", "sticky"))
    with pytest.raises(error):
        cell.change([Edit("b", (("x", 1),)), Edit("a", changes)]).result()
    assert cell.things["b"].x == 0


def test_a_locked_thing_is_unlocked_first() -> None:
    cell = leaf(Thing("a", "sticky", locked=True))
    for asked in (cell.change([Edit("a", (("x", 1),))]), cell.delete(["a"]), cell.grab(["a"])):
        with pytest.raises(ThingLockedError):
            asked.result()
    cell.change([Edit("a", (("locked", False), ("x", 1)))]).result()
    assert cell.things["a"].x == 1


# --- grabs ----------------------------------------------------------------------------------------


def test_the_first_has_it_and_the_loser_is_told_who() -> None:  # C1
    cell = leaf(Thing("a", "sticky"), Thing("b", "sticky"))
    cell.grab(["a"], "ann").result()
    cell.grab(["a"], "ann").result()
    with pytest.raises(ThingHeldError) as told:
        cell.grab(["b", "a"], "bob").result()
    assert (told.value.holder, told.value.code) == ("ann", "thing_held")
    assert set(cell.grabs) == {"a"}
    with pytest.raises(ThingHeldError):
        cell.change([Edit("a", (("x", 1),))], "bob").result()
    cell.change([Edit("a", (("x", 1),))], "ann").result()
    cell.release(["a"], "bob").result()
    assert "a" in cell.grabs
    cell.part("ann").result()
    cell.grab(["a"], "bob").result()


def test_a_grab_ends_with_its_thing_its_process_and_at_the_border() -> None:  # C2
    cell = leaf(Thing("a", "sticky"), Thing("b", "sticky"))
    cell.grab(["a", "b"], "ann")
    cell.delete(["a"], "ann").result()
    cell.become(ROOT, 2, "inner").result()
    assert cell.grabs == {}
    table = Table(Random(1))
    ann, bob = table.sit([ROOT]), table.sit([ROOT])
    ann.told(ROOT, ann.ask(ROOT, "become", ROOT, 1, "leaf"))
    ann.told(ROOT, ann.ask(ROOT, "put", [Thing("a", "sticky")]))
    ann.told(ROOT, ann.ask(ROOT, "grab", ["a"]))
    lost = bob.told(ROOT, bob.ask(ROOT, "grab", ["a"]))
    assert isinstance(lost.error, ThingHeldError)
    table.leave(ann)
    assert bob.told(ROOT, bob.ask(ROOT, "grab", ["a"])).error is None


def test_who_is_not_in_the_group_can_hold_nothing() -> None:  # C2, J3
    table = Table(Random(1))
    ann, bob = table.sit([ROOT]), table.sit([ROOT])
    ann.told(ROOT, ann.ask(ROOT, "become", ROOT, 1, "leaf"))
    ann.told(ROOT, ann.ask(ROOT, "put", [Thing("a", "sticky")]))
    table.leave(bob)
    edits = [Edit("a", (("x", 1),))]
    for asked in (("grab", ["a"]), ("prepare", "j", [ROOT, "r0"], edits)):
        told = ann.told(ROOT, bob.ask(ROOT, *asked))
        assert isinstance(told.error, NotMemberError)


# --- behaviours -----------------------------------------------------------------------------------


def test_a_switch_lights_its_lamps_here_and_elsewhere() -> None:
    switch = Thing("s", "switch", links=("near", "far", "gone"))
    near = Thing("near", "light").with_props(on=False)
    cell = leaf(switch, near)
    cell.operate("s", "toggle", [], "", {"far": "r3", "gone": "nowhere"}).result()
    assert cell.things["near"].prop("on") == 1
    assert [one.signals for one in cell.owes["r3"]] == [(Signal("far", True),)]
    assert set(cell.owes) == {"r3"}


def test_a_signal_follows_a_lamp_that_was_handed_over() -> None:
    cell = leaf(Thing("lamp", "light", x=-FAR).with_props(on=False))
    cell.become(ROOT, 2, "inner").result()
    cell.accept("r3", Parcel(1, signals=(Signal("lamp", True),))).result()
    (target,) = cell.owes
    assert [bool(one.signals) for one in cell.owes[target]] == [False, True]


def test_a_signal_fails_for_nothing() -> None:
    full = Thing("lamp", "light", props=tuple((f"p{n:02}", n) for n in range(32)))
    cell = leaf(full)
    cell.accept("r3", Parcel(1, signals=(Signal("lamp", True), Signal("none", True)))).result()
    assert cell.things["lamp"] == full


def test_a_timer_rings_once_and_not_before_its_time() -> None:
    moment = Moment(7, 5_000, "ann")
    started = operated(Thing("t", "timer"), "start", [100], moment)
    cell = leaf(started)
    assert cell.next_tick_ms(0) == 5_100
    cell.tick(1).result()
    assert cell.things["t"].prop("due") == 5_100  # the order's time stands at 0 here
    assert rung(started, 5_099) is None
    rang = rung(started, 5_100)
    assert rang is not None
    assert (rang.prop("rings"), rung(rang, 9_000)) == (1, None)


def test_ticks_are_done_once_and_only_where_something_moves() -> None:  # C4
    cell = leaf(ball(vx=64, vy=0))
    for number in (1, 1, 3):
        cell.tick(number).result()
    assert (cell.ticks, cell.things["ball"].x) == (1, 63)
    assert leaf(ball(), Thing("a", "sticky")).next_tick_ms(5) is None
    for number in range(2, 200):
        cell.tick(number)
    assert cell.next_tick_ms(0) is None
    assert cell.active == {}


def test_a_ball_bounces_off_a_wall() -> None:
    wall = Thing("wall", "furniture", x=640, width=64, height=6_400)
    cell = leaf(ball(vx=200, vy=10), wall)
    seen = []
    for number in range(1, 30):
        cell.tick(number)
        seen.append(cell.things["ball"].x)
    assert max(seen) < 640 - 32
    assert seen[-1] < max(seen)


@given(
    st.integers(-3_000, 3_000),
    st.integers(-3_000, 3_000),
    st.lists(st.tuples(st.integers(-999, 999), st.integers(-999, 999)), max_size=4),
)
@settings(max_examples=60, deadline=None)
def test_a_ball_stays_in_its_place_and_comes_to_rest(
    vx: int, vy: int, walls: list[tuple[int, int]]
) -> None:
    boxes = [(x, y, x + 40, y + 40) for x, y in walls]
    now = ball(vx=vx, vy=vy)
    for _ in range(600):
        now = stepped(now, boxes)  # type: ignore[arg-type]
        check_thing(now)
    assert (now.prop("vx"), now.prop("vy")) == (0, 0)


def test_a_vote_counts_each_once() -> None:
    vote = Thing("v", "vote").with_props(choices=3)
    for who, choice in (("ann", 1), ("bob", 2), ("ann", 2)):
        vote = operated(vote, "choose", [choice], Moment(1, 1, who))
    assert counted(vote) == [0, 0, 2]
    with pytest.raises(BadActionError):
        operated(vote, "choose", [3], Moment(1, 1, "ann"))


def test_who_shares_a_principal_is_told_apart_by_what_they_call_themselves() -> None:
    assert acting("user:ann", "somebody else", "a/1") == "user:ann"
    assert [acting("guest", by, "a/1") for by in ("x", "y", "")] == [
        "guest/x",
        "guest/y",
        "guest/a/1",
    ]
    assert acting("link:abc", "x", "a/1") == "link:abc/x"
    assert acting("guesthouse", "x", "a/1") == "guesthouse"
    assert [acting("", by, "a/1") for by in ("x", "")] == ["x", "a/1"]


def test_a_die_falls_by_its_place_in_the_order() -> None:
    die = Thing("d", "dice")
    faces = [operated(die, "roll", [], Moment(n, 1, "")).prop("face") for n in range(600)]
    assert faces == [operated(die, "roll", [], Moment(n, 9, "x")).prop("face") for n in range(600)]
    assert all(60 < faces.count(face) < 140 for face in range(1, 7))


# --- roles and parcels ----------------------------------------------------------------------------


def test_what_is_no_leaf_holds_nothing_and_says_so() -> None:
    cell = Cell()
    with pytest.raises(NotHereError):
        cell.put([Thing("a", "sticky")]).result()
    with pytest.raises(BadPathError):
        cell.accept("r0", Parcel(1)).result()
    for path in ("", "x", "r4", "r" * 3, "r" + "0" * 20):
        with pytest.raises(BadPathError):
            cell.become(path, 1, "leaf").result()


def test_roles_are_those_of_the_latest_version() -> None:
    cell = leaf(Thing("a", "sticky"))
    cell.become(ROOT, 1, "inner").result()
    assert cell.role == "leaf"
    with pytest.raises(BadPathError):
        cell.become("r0", 9, "leaf").result()


def test_a_divided_cell_gives_everything_away_in_parcels_that_fit() -> None:
    things = [Thing(f"t{n}", "text", x=n * 1_000, text="x" * 9_000) for n in range(20)]
    cell = leaf(*things)
    cell.become(ROOT, 2, "inner").result()
    parcels = [one for some in cell.owes.values() for one in some]
    assert sum(len(parcel.things) for parcel in parcels) == 20
    assert len(parcels) > 1
    assert all(sum(map(size_bytes, one.things)) <= PARCEL_BYTES for one in parcels)
    (target,) = cell.owes
    cell.handed(target, parcels[-1].number).result()
    assert cell.owes == {}
    again = cell.accept(target, Parcel(1, parcels[0].things))
    assert (again.result(), cell.accept(target, Parcel(1)).result()) == (True, False)  # P2


def test_things_are_portioned_without_losing_any() -> None:
    things = [Thing(f"t{n}", "text", text="x" * (n * 37 % 9_000)) for n in range(200)]
    assert [one for some in portions(things) for one in some] == things


def test_who_may_not_write_changes_nothing() -> None:
    cell = leaf()
    cell.follow(1, {"nobody": Right.READ, "ann": Right.MANAGE}).result()
    with pytest.raises(ForbiddenError):
        cell.put([Thing("a", "sticky")]).result()
    assert not cell.may_call("ann", "accept")
    assert cell.may_call("", "accept")


def test_digests_say_how_many_where_and_in_which_colours() -> None:
    red = Thing("a", "sticky", x=10, width=20, height=20, style=(("colour", "red"),))
    cell = leaf(red, replace(red, id="b", x=100), Thing("c", "sticky", style=(("colour", 3),)))
    digest = digest_of(cell)
    assert digest == CellDigest(3, 0, -10, 110, 10, ("red",))
    assert is_news(None, digest.count)
    assert not is_news(digest, digest.count)
    assert is_news(digest, 5)


# --- super-linear input ---------------------------------------------------------------------------


def test_work_grows_with_the_input_and_not_with_its_square(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Edits of a full cell look at the things that they name; counted, not timed."""
    looked = 0

    def counting(thing: Thing, edit: Edit) -> Thing:
        nonlocal looked
        looked += 1
        return edited(thing, edit)

    monkeypatch.setattr("groupcore.shared.places.cell.edited", counting)
    cell = leaf()
    for start in range(0, 2_000, EDITS_MAX):
        cell.put([Thing(f"t{n}", "sticky") for n in range(start, start + EDITS_MAX)]).result()
    cell.change([Edit(f"t{n}", (("x", n),)) for n in range(EDITS_MAX)]).result()
    assert looked == EDITS_MAX


def test_every_refusal_has_a_code_of_its_own() -> None:
    kinds = PlaceRefusalError.__subclasses__()
    assert len({kind.code for kind in kinds}) == len(kinds)
    assert NoSuchThingError in kinds
