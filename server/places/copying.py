"""Things for a place that is made like another one.

Idea. Ids follow from the new place and from the old ids, so an attempt that was broken off is
brought to its end by the next one, and nothing is there twice. What runs lies still in the copy: a
timer rings, and a ball rolls, in the place where somebody has set it going. Nobody has voted there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from hashlib import blake2b

from groupcore.shared.places import Thing
from server.pictures.service import PictureService
from server.places.reading import named_in

LOOSE = "-"
"""How an arrow names an end that is bound to nothing."""
RUNNING = {"timer": ("due",), "ball": ("vx", "vy")}
"""What says that a thing of this kind runs: 0 where it does not."""


def copies(things: Iterable[Thing], place: str) -> list[Thing]:
    """The things under ids of their own in a new place, bound to each other as they were."""
    some = list(things)
    ids = {one.id: _named(place, "thing", one.id) for one in some}
    return [_copy(one, place, ids) for one in some]


def _named(place: str, what: str, name: str) -> str:
    return blake2b(f"{what} {name}".encode(), key=place.encode()[:64], digest_size=9).hexdigest()


def _copy(thing: Thing, place: str, ids: dict[str, str]) -> Thing:
    is_arrow = thing.kind == "arrow"
    links = (ids.get(one, LOOSE if is_arrow else "") for one in thing.links)
    stopped = RUNNING.get(thing.kind, ())
    return replace(
        thing,
        id=ids[thing.id],
        group=_named(place, "group", thing.group) if thing.group else "",
        links=tuple(one for one in links if one),
        props=tuple((name, 0 if name in stopped else value) for name, value in thing.props),
        votes=(),
        version=0,
        hops=0,
    )


async def copy_pictures(
    pictures: PictureService, source: str, place: str, things: Iterable[Thing]
) -> None:
    """Let the pictures that things name belong to the new place, too; what is gone stays gone."""
    for name in sorted(named_in(things)):
        if pictures.register.of(source, name) is not None:
            await pictures.copy(source, place, name)
