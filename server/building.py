"""The sample building: three rooms with doors between them, in a folder of the first workspace.

All is asked for by the management address, with keys by which what was broken off is done again.
"""

from __future__ import annotations

from typing import NamedTuple

import aiohttp

from groupcore.shared.places.limits import TURN_MAX, UNIT
from server.accounts.people import HOME
from server.errors import ServerError

BUILDING = "A small building"
"""The folder of the rooms."""

Thing = dict[str, object]


class Room(NamedTuple):
    """`template`: what is in it from the start; `doors`: where to, and where they stand, in units,
    turned by so many degrees."""

    title: str
    template: str
    doors: tuple[tuple[str, int, int, int], ...]


HALL, MEETING, GAME = "Hall", "Meeting room", "Game room"
ROOMS = (
    Room(HALL, "empty", ((MEETING, -420, -300, 0), (GAME, 420, -300, 0))),
    Room(MEETING, "meeting", ((HALL, -640, 420, 0),)),
    Room(GAME, "game", ((HALL, -430, -480, 0),)),
)
WELCOME = "Come in.\nEverybody who opens this place is here with you: as a board, a list or a room."


def hall() -> list[Thing]:
    """What stands in the hall: a wall with a welcome, seats, plants, and a lamp with its switch."""
    wall = {"wall": True}
    lamp = {"on": True}
    return [
        _thing("wall", "frame", 0, -420, (560, 260), "Welcome", order=-1, props=wall),
        _thing("note", "sticky", 0, -420, (360, 180), WELCOME, style={"fill": "yellow"}),
        _thing("rug", "furniture", 0, 60, (420, 300, 1), order=-2, props={"form": "rug"}),
        _thing("sofa", "furniture", 0, 240, (200, 92, 44), turn=180, props={"form": "sofa"}),
        _thing("table", "furniture", 0, 70, (140, 140, 40), order=-1, props={"form": "round"}),
        _thing("plant-1", "furniture", -340, 200, (84, 84, 120), props={"form": "plant"}),
        _thing("plant-2", "furniture", 340, 200, (84, 84, 120), props={"form": "plant"}),
        _thing("lamp", "light", 240, -120, (88, 88), props=lamp),
        _thing("switch", "switch", 560, -120, (64, 104), props=lamp, links=["lamp"]),
    ]


def _thing(
    id: str,
    kind: str,
    x: int,
    y: int,
    size: tuple[int, ...],
    text: str = "",
    turn: int = 0,
    **more: object,
) -> Thing:
    """A thing as `POST /places/ID/things` takes it; lengths in units."""
    width, height, depth = (*size, 0)[:3]
    lengths = {"width": width * UNIT, "height": height * UNIT, "depth": depth * UNIT}
    place = {"x": x * UNIT, "y": y * UNIT, "turn": turn * TURN_MAX // 360 % TURN_MAX}
    return {"id": id, "kind": kind, "text": text, **place, **lengths, **more}


async def build(session: aiohttp.ClientSession, folder: str) -> int:
    """Make the rooms in this folder, and their doors; how many rooms."""
    ids = {room.title: await _place(session, room, folder) for room in ROOMS}
    for room in ROOMS:
        things = hall() if room.title == HALL else []
        for to, x, y, turn in room.doors:
            id = f"door-{to.partition(' ')[0].lower()}"
            size, props = (140, 184), {"place": ids[to]}
            things.append(_thing(id, "door", x, y, size, to, turn, props=props))
        await _put(session, ids[room.title], things)
    return len(ids)


async def _place(session: aiohttp.ClientSession, room: Room, folder: str) -> str:
    body = {"title": room.title, "template": room.template, "workspace": HOME, "folder": folder}
    headers = {"Idempotency-Key": f"sample:{room.title}"}
    try:
        async with session.post("places", json=body, headers=headers) as answer:
            if answer.status != 201:
                raise ServerError(f"no place {room.title}: {await answer.text()}")
            return str((await answer.json())["id"])
    except (aiohttp.ClientError, TimeoutError) as error:
        raise ServerError(f"no place {room.title}: {error!r}") from None


async def _put(session: aiohttp.ClientSession, place: str, things: list[Thing]) -> None:
    """All of them are there then, or were from a try that was broken off."""
    try:
        async with session.post(f"places/{place}/things", json={"things": things}) as answer:
            told = await answer.json()
            if answer.status != 201 and told.get("code") != "thing_exists":
                raise ServerError(f"no things in place {place}: {told}")
    except (aiohttp.ClientError, TimeoutError) as error:
        raise ServerError(f"no things in place {place}: {error!r}") from None
