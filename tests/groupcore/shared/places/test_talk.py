"""The chat of a place: order, bounds, who takes what back, and who may."""

from __future__ import annotations

import pytest

from groupcore.shared.access import Right
from groupcore.shared.errors import ForbiddenError
from groupcore.shared.places import PlaceTalk
from groupcore.shared.places.limits import (
    REMARK_MAX,
    REMARKS_MAX,
    SPEAKER_MAX,
    TALK_BYTES_MAX,
)
from groupcore.shared.places.minding import Minding
from groupcore.shared.places.refusals import BadRemarkError, NotYoursError
from groupcore.shared.places.talk import Remark, Remarked, Withdrawn
from groupcore.shared.testing import World
from tests.groupcore.shared.places.test_place import enter

NAME = "place/p/talk"


def texts(talk: PlaceTalk) -> list[str]:
    return [one.text for one in talk.remarks.values()]


def test_r1_remarks_stand_in_the_order_for_all_and_ids_are_never_given_again() -> None:
    async def main(world: World) -> None:
        ann = await world.node("ann").open(PlaceTalk, NAME)
        bob = await world.node("bob").open(PlaceTalk, NAME)
        ids = [await one.say(text, by=text) for one, text in ((ann, "a"), (bob, "b"), (ann, "c"))]
        assert await ann.take_back(ids[2], "c")
        ids.append(await bob.say("d"))
        await ann.refresh()
        assert len(set(ids)) == 4
        assert texts(ann) == texts(bob) == ["a", "b", "d"]
        late = await world.node("cyd").open(PlaceTalk, NAME)
        assert late.remarks == ann.remarks  # who comes late has all of it
        times = [one.time_ms for one in late.remarks.values()]
        assert times == sorted(times)

    World(1).run(main)


def test_r2_the_oldest_make_room_by_number_and_by_bytes() -> None:
    talk = PlaceTalk()
    for number in range(REMARKS_MAX + 3):
        talk.say(str(number)).result()
    assert len(talk.remarks) == REMARKS_MAX
    assert texts(talk)[0] == "3"
    large = "é" * REMARK_MAX
    for _ in range(TALK_BYTES_MAX // (2 * REMARK_MAX) + 5):
        talk.say(large).result()
    assert sum(len(one.encode()) for one in texts(talk)) <= TALK_BYTES_MAX
    assert set(texts(talk)) == {large}


def test_what_drives_others_out_says_so() -> None:
    async def main(world: World) -> None:
        talk = await world.node("ann").open(PlaceTalk, NAME)
        for _ in range(REMARKS_MAX):
            await talk.say("x")
        stream = talk.changes()
        told: list[object] = []
        stream.tap = lambda change: told.extend(getattr(change, "details", ()))
        number = await talk.say("y")
        await talk.remove([number, "never"])
        [said, gone] = told
        assert isinstance(said, Remarked)
        assert (said.remark.text, said.dropped) == ("y", ("1",))
        assert gone == Withdrawn((number,))

    World(2).run(main)


@pytest.mark.parametrize(
    "said",
    [("", "Ann"), (" \n ", "Ann"), ("x" * (REMARK_MAX + 1), "Ann"), ("\x00", ""), ("a", "n" * 81)],
)
def test_what_says_nothing_or_too_much_is_refused(said: tuple[str, str]) -> None:
    assert SPEAKER_MAX == 80
    talk = PlaceTalk()
    with pytest.raises(BadRemarkError):
        talk.say(*said).result()
    with pytest.raises(BadRemarkError):
        talk.say("a", "Ann", "b" * 201).result()
    assert (talk.remarks, talk.said) == ({}, 0)


def test_r3_only_who_made_a_remark_takes_it_back() -> None:
    async def main(world: World) -> None:
        ann = await world.node("ann", principal="guest").open(PlaceTalk, NAME)
        bob = await world.node("bob", principal="guest").open(PlaceTalk, NAME)
        mine = await ann.say("mine", "Ann", "browser-1")
        with pytest.raises(NotYoursError):
            await bob.take_back(mine, "browser-2")
        assert texts(bob) == ["mine"]
        assert await ann.take_back(mine, "browser-1")
        assert not await ann.take_back(mine, "browser-1")
        assert texts(ann) == []

    World(3).run(main)


def test_by_the_list_readers_read_writers_say_managers_take_away() -> None:
    async def main(world: World) -> None:
        node = await world.node("node").open(PlaceTalk, NAME)
        rights = {"user:w": Right.WRITE, "user:r": Right.READ, "boss": Right.MANAGE}
        await node.follow(1, rights)
        writer, reader, boss = [
            await world.node(name, principal=name).open(PlaceTalk, NAME)
            for name in ("user:w", "user:r", "boss")
        ]
        said = await writer.say("Hello", "Somebody else")
        await reader.refresh()
        # Whoever has an account is called by it.
        assert [(one.author, one.name) for one in reader.remarks.values()] == [("user:w", "")]
        for refused in (reader.say("no"), writer.remove([said]), writer.follow(2, {})):
            with pytest.raises(ForbiddenError):
                await refused
        with pytest.raises(ForbiddenError):
            await writer.bring_back([Remark("9", "user:r", "", 1, "forged")], 9)
        with pytest.raises(NotYoursError):
            await boss.take_back(said)
        assert await boss.remove([said, said]) == [said]
        await node.follow(1, {})  # an older list does nothing
        await node.follow(2, {"boss": Right.MANAGE})
        with pytest.raises(ForbiddenError):
            await writer.say("again")
        assert not node.may_read("user:r")

    World(4).run(main)


def test_what_is_brought_back_keeps_its_ids_and_no_new_one_takes_them() -> None:
    talk = PlaceTalk()
    said = [Remark("2", "user:a", "", 5, "two"), Remark("f", "guest/b", "Bob", 6, "fifteen")]
    talk.bring_back(said, 15).result()
    talk.bring_back(said, 15).result()  # an attempt before was broken off
    assert list(talk.remarks.values()) == said
    assert talk.say("next").result() == "10"
    for wrong in ("", "x", "A", "1" * 13):
        with pytest.raises(BadRemarkError):
            talk.bring_back([Remark(wrong, "a", "", 1, "t")], 1).result()
    with pytest.raises(BadRemarkError):
        talk.bring_back([Remark("1", "a", "", 1, "t")] * (REMARKS_MAX + 1), 1).result()
    with pytest.raises(BadRemarkError):
        talk.remove(["1"] * (REMARKS_MAX + 1)).result()


def test_a_chat_is_told_who_may_before_it_is_given_to_anybody_and_follows_then() -> None:
    async def main(world: World) -> None:
        place = await enter(world, "ann")
        await place.outline.entitle(5, {"user:b": Right.READ, "k": Right.MANAGE})
        talk = await place.talking.open()
        assert (talk.rights_version, talk.may_read("user:c")) == (5, False)
        await place.outline.entitle(6, {"user:c": Right.WRITE, "k": Right.MANAGE})
        await world.elapse(1.0)
        assert (talk.may_read("user:b"), talk.may_call("user:c", "say")) == (False, True)

    World(5).run(main)


def test_m4_where_no_disk_has_it_the_chat_outlives_who_opened_it() -> None:
    async def main(world: World) -> None:
        first = Minding(await enter(world, "ann"), world._schedule, keeps_all=True)
        second = Minding(await enter(world, "bob"), world._schedule, keeps_all=True)
        await world.elapse(2.0)
        await (await first.place.talking.open()).say("Hello")
        await world.elapse(2.0)
        first.end()
        await first.place.close()
        assert second.place.talking.is_open
        assert texts(await second.place.talking.open()) == ["Hello"]

    World(6).run(main)
