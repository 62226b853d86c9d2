"""What a new place begins with.

Lengths are units of the plane; a hundred of them are a metre of the room. Whose words are asked for
in a language that there are none in gets English ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import count
from math import cos, pi, sin

from groupcore.shared.places import Thing
from groupcore.shared.places.limits import TURN_MAX, UNIT
from groupcore.shared.places.thing import Value

WIDTH, HEIGHT, GAP = 320, 640, 24
CHAIR, TABLE = (64, 68, 46), 74
"""Width, depth and height of a chair; height of a table."""

WORDS: dict[str, dict[str, str]] = {
    "en": {
        "good": "Went well",
        "better": "To improve",
        "actions": "Actions",
        "todo": "To do",
        "doing": "Doing",
        "done": "Done",
        "stage": "Stage",
        "table": "Table",
        "agenda": "Agenda",
        "decisions": "Decisions",
        "agree": "Do we agree?",
        "agreed": "Yes\nNo\nLater",
        "score": "Score",
        "rules": "Rules",
        "card": "Your turn",
    },
    "de": {
        "good": "Lief gut",
        "better": "Besser machen",
        "actions": "Aufgaben",
        "todo": "Zu tun",
        "doing": "In Arbeit",
        "done": "Fertig",
        "stage": "Bühne",
        "table": "Tisch",
        "agenda": "Tagesordnung",
        "decisions": "Beschlüsse",
        "agree": "Sind wir einig?",
        "agreed": "Ja\nNein\nSpäter",
        "score": "Spielstand",
        "rules": "Regeln",
        "card": "Du bist dran",
    },
}
"""By language, of two letters, and key."""

Words = dict[str, str]


class Plan:
    """Things as they are drawn up: each is given the next id of its kind."""

    def __init__(self) -> None:
        self.things: list[Thing] = []
        self._numbers = count()

    def put(
        self,
        kind: str,
        at: tuple[float, float],
        size: Sequence[int],
        text: str = "",
        turn: float = 0.0,
        fill: str = "",
        links: Iterable[str] = (),
        order: int = 0,
        z: int = 0,
        **props: Value,
    ) -> str:
        """A thing with its middle there, in units, turned by so many degrees; its id."""
        id = f"{kind}-{next(self._numbers)}"
        width, height, depth = (*size, 0)[:3]
        thing = Thing(
            id,
            kind,
            x=round(at[0] * UNIT),
            y=round(at[1] * UNIT),
            z=z * UNIT,
            turn=round(turn * TURN_MAX / 360) % TURN_MAX,
            width=width * UNIT,
            height=height * UNIT,
            depth=depth * UNIT,
            order=order,
            text=text,
            style=(("fill", fill),) if fill else (),
            props=tuple(sorted(props.items())),
            links=tuple(links),
        )
        self.things.append(thing)
        return id

    def chairs_about(
        self, at: tuple[float, float], radius: float, number: int, first: float = 0.0
    ) -> None:
        """So many chairs in a ring, which look to its middle; the first one so many degrees on."""
        for seat in range(number):
            turn = first + 360 * seat / number
            angle = pi * turn / 180
            spot = (at[0] + radius * sin(angle), at[1] - radius * cos(angle))
            self.put("furniture", spot, CHAIR, turn=turn, form="chair")


def _columns(plan: Plan, titles: Sequence[str]) -> None:
    """A frame for each title, beside each other."""
    step = WIDTH + GAP
    first = -step * (len(titles) - 1) / 2
    for number, title in enumerate(titles):
        plan.put("frame", (first + number * step, 0), (WIDTH, HEIGHT), title, order=-1)


def _empty(plan: Plan, words: Words) -> None:
    """Nothing."""


def _retrospective(plan: Plan, words: Words) -> None:
    _columns(plan, [words[key] for key in ("good", "better", "actions")])


def _kanban(plan: Plan, words: Words) -> None:
    _columns(plan, [words[key] for key in ("todo", "doing", "done")])


def _seating(plan: Plan, words: Words) -> None:
    """Four round tables before a stage, six seats each."""
    plan.put("shape", (0, -620), (760, 180), words["stage"], fill="violet", order=-2, solid=True)
    for number, (x, y) in enumerate(((-330, -240), (330, -240), (-330, 260), (330, 260)), 1):
        plan.put("furniture", (x, y), (160, 160, TABLE), form="round")
        plan.chairs_about((x, y), 135, 6)
        plan.put("text", (x, y - 225), (240, 40), f"{words['table']} {number}")


def _meeting(plan: Plan, words: Words) -> None:
    """A long table before two walls for notes, with a clock, a timer, a vote, and light."""
    for x, key in ((-290, "agenda"), (290, "decisions")):
        plan.put("frame", (x, -420), (540, 300), words[key], order=-1, wall=True)
    plan.put("furniture", (0, 120), (420, 150, TABLE), form="table")
    for x in (-130, 0, 130):
        plan.put("furniture", (x, 5), CHAIR, form="chair")
        plan.put("furniture", (x, 235), CHAIR, turn=180, form="chair")
    plan.put("furniture", (-620, 140), (200, 92, 44), turn=270, form="sofa")
    plan.put("furniture", (-640, -420), (84, 84, 120), form="plant")
    lamps = [plan.put("light", (x, -130), (88, 88), on=True) for x in (-480, 480)]
    plan.put("switch", (620, -60), (64, 104), links=lamps, on=True)
    plan.put("clock", (650, -420), (136, 136))
    plan.put("timer", (620, 120), (184, 148), seconds=300)
    plan.put("vote", (560, 400), (280, 200), words["agree"], choices=3, labels=words["agreed"])


def _game(plan: Plan, words: Words) -> None:
    """A round table with dice, pieces and cards, four seats, and a wall for the score."""
    plan.put("frame", (0, -520), (620, 280), words["score"], order=-1, wall=True)
    plan.put("sticky", (-190, -520), (200, 200), words["rules"], fill="yellow")
    plan.put("furniture", (0, 60), (320, 320, TABLE), form="round", order=-1)
    plan.chairs_about((0, 60), 230, 4, first=45)
    for x in (-45, 45):
        plan.put("dice", (x, 60), (56, 56), z=TABLE, faces=6)
    for number, fill in enumerate(("red", "yellow", "green", "blue")):
        angle = pi * (0.25 + number / 2)
        spot = (115 * sin(angle), 60 - 115 * cos(angle))
        plan.put("token", spot, (48, 48), fill=fill, z=TABLE, form="piece", up=True)
    for number in range(3):
        spot = (400 + 12 * number, 60 - 12 * number)
        plan.put("token", spot, (104, 148), order=number, form="card", up=False, back=words["card"])
    plan.put("ball", (-420, 220), (48, 48))
    plan.put("timer", (430, -160), (184, 148), seconds=60)


PLANS: dict[str, Callable[[Plan, Words], None]] = {
    "empty": _empty,
    "retrospective": _retrospective,
    "kanban": _kanban,
    "seating": _seating,
    "meeting": _meeting,
    "game": _game,
}


def _made(draw: Callable[[Plan, Words], None], language: str = "en") -> list[Thing]:
    plan = Plan()
    draw(plan, WORDS.get(language, WORDS["en"]))
    return plan.things


TEMPLATES: dict[str, Callable[[str], list[Thing]]] = {
    name: partial(_made, draw) for name, draw in PLANS.items()
}
"""By name: the things, with words of a language."""
