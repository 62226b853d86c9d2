"""What new places begin with: things that a place accepts, in each language."""

from __future__ import annotations

import pytest

from groupcore.shared.places.thing import check_thing
from server.places.templates import TEMPLATES, WORDS


@pytest.mark.parametrize("language", WORDS)
@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_has_things_that_a_place_accepts(name: str, language: str) -> None:
    things = TEMPLATES[name](language)
    for thing in things:
        check_thing(thing)
    ids = {thing.id for thing in things}
    assert len(ids) == len(things)
    assert {link for thing in things for link in thing.links} <= ids, "a loose end"
    assert bool(things) == (name != "empty")


def test_each_language_has_a_word_for_everything() -> None:
    for words in WORDS.values():
        assert words.keys() == WORDS["en"].keys()
        assert all(words.values())
    german = {thing.text for thing in TEMPLATES["kanban"]("de")}
    assert german == {"Zu tun", "In Arbeit", "Fertig"}
    assert TEMPLATES["kanban"]("xx") == TEMPLATES["kanban"]("en")


def test_a_meeting_room_has_a_switch_for_its_lamps() -> None:
    things = {thing.id: thing for thing in TEMPLATES["meeting"]("en")}
    (switch,) = (thing for thing in things.values() if thing.kind == "switch")
    assert [things[lamp].kind for lamp in switch.links] == ["light", "light"]
