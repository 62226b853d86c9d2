"""How things react: the same at every replica, from what is ordered and from nothing else.

A reaction is a function of a thing, of what was asked, and of the place in the order where it was
asked. Time is the order's; a die falls by the position in the order. Balls move in fixed point, a
step a tick; a tick is an ordered operation, and only cells in which something moves have any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from groupcore.shared.places.limits import END, START, VOTES_MAX
from groupcore.shared.places.refusals import BadActionError
from groupcore.shared.places.squares import Box
from groupcore.shared.places.thing import Thing

SPEED_MAX = 2_048
"""Fastest that a ball rolls, in 1/64 unit a tick."""
FRICTION = (63, 64)
"""What a ball keeps of its speed in a tick, rounded towards zero."""
TIMER_MAX_MS = 7 * 24 * 3_600 * 1_000
FACES_MAX = 1_000
CHOICES_MAX = 100
GUEST = "guest"
LINK = "link:"
"""Principals that many people share: all where there are no accounts, and those of a share link."""
_WORD = 0xFFFF_FFFF


@dataclass(frozen=True, slots=True)
class Moment:
    """The place in the order where something is asked; `who` asks."""

    position: int
    time_ms: int
    who: str


def mixed(value: int) -> int:
    """32 bits that look like chance (the finaliser of a hash by C. Wellons, 2018)."""
    value &= _WORD
    value ^= value >> 16
    value = value * 0x7FEB352D & _WORD
    value ^= value >> 15
    value = value * 0x846CA68B & _WORD
    return value ^ value >> 16


def chance(thing: str, position: int, rolls: int) -> int:
    """32 bits for the roll of a die, from its place in the order."""
    value = mixed(position)
    for letter in thing:
        value = mixed(value ^ ord(letter))
    return mixed(value ^ rolls)


def acting(principal: str, by: str, process: str) -> str:
    """In whose name a thing is operated: a vote counts once for each such name.

    The principal's, where that is one person. Guests, and those who came by one link, share theirs:
    they are told apart by what they call themselves, else by their process.
    """
    if principal == GUEST or principal.startswith(LINK):
        return f"{principal}/{by or process}"
    return principal or by or process


# --- what people ask things to do -----------------------------------------------------------------


def operated(thing: Thing, action: str, arguments: Sequence[int], moment: Moment) -> Thing:
    """The thing behind an action; BadActionError when it cannot do that."""
    given = tuple(arguments)
    match thing.kind, action:
        case "switch" | "light", "toggle" if not given:
            changed = thing.with_props(on=not thing.prop("on"))
        case "timer", "start" if len(given) == 1 and 0 < given[0] <= TIMER_MAX_MS:
            changed = thing.with_props(due=moment.time_ms + given[0])
        case "timer", "stop" if not given:
            changed = thing.with_props(due=0)
        case "dice", "roll" if not given:
            changed = _rolled(thing, moment)
        case "vote", "choose" if len(given) == 1:
            changed = _voted(thing, given[0], moment.who)
        case "token", "flip" if not given:
            changed = thing.with_props(up=not thing.prop("up"))
        case "ball", "kick" if len(given) == 2 and max(map(abs, given)) <= SPEED_MAX:
            changed = thing.with_props(vx=given[0], vy=given[1])
        case _:
            raise BadActionError(f"a {thing.kind} cannot {action[:40]} with {list(given[:4])}")
    return replace(changed, version=thing.version + 1)


def _rolled(thing: Thing, moment: Moment) -> Thing:
    faces = thing.prop("faces", 6)
    if not 2 <= faces <= FACES_MAX:
        raise BadActionError(f"a die has 2 to {FACES_MAX} faces")
    rolls = thing.prop("rolls") + 1
    face = 1 + chance(thing.id, moment.position, rolls) % faces
    return thing.with_props(face=face, rolls=rolls)


def _voted(thing: Thing, choice: int, who: str) -> Thing:
    """With this choice of theirs in the place of what they chose before; -1 takes it back."""
    votes = dict(thing.votes)
    if choice == -1:
        votes.pop(who, None)
    elif not 0 <= choice < min(thing.prop("choices", 2), CHOICES_MAX):
        raise BadActionError(f"{thing.id} has no choice {choice}")
    elif who not in votes and len(votes) >= VOTES_MAX:
        raise BadActionError(f"{VOTES_MAX} people have voted already")
    else:
        votes[who] = choice
    return replace(thing, votes=tuple(sorted(votes.items())))


def counted(thing: Thing) -> list[int]:
    """How many have chosen what, by choice."""
    counts = [0] * max(0, min(thing.prop("choices", 2), CHOICES_MAX))
    for _, choice in thing.votes:
        if choice < len(counts):
            counts[choice] += 1
    return counts


def lit(thing: Thing, on: bool) -> Thing:
    """A lamp behind a signal; other things, and lamps without the property `on`, stay as they are.

    So a signal never makes a thing larger, and never fails.
    """
    if thing.kind != "light" or all(name != "on" for name, _ in thing.props):
        return thing
    return replace(thing.with_props(on=on), version=thing.version + 1)


# --- ticks ----------------------------------------------------------------------------------------


def rung(thing: Thing, time_ms: int) -> Thing | None:
    """A timer that rings now; None: not yet."""
    if not 0 < thing.prop("due") <= time_ms:
        return None
    return replace(
        thing.with_props(due=0, rings=thing.prop("rings") + 1), version=thing.version + 1
    )


def walls_of(things: Sequence[Thing]) -> list[Box]:
    """What balls bounce off: furniture, and shapes with the property `solid`."""
    return [
        box_of(one)
        for one in things
        if one.kind == "furniture" or (one.kind == "shape" and one.prop("solid"))
    ]


def box_of(thing: Thing, margin: int = 0) -> Box:
    """The rectangle that a thing covers, not turned, and a margin around it."""
    across, down = thing.width // 2 + margin, thing.height // 2 + margin
    return Box(thing.x - across, thing.y - down, thing.x + across, thing.y + down)


def stepped(ball: Thing, walls: Sequence[Box]) -> Thing:
    """A ball one tick on: it rolls, bounces off walls and the place's ends, and gets slower."""
    vx, vy = _slowed(_speed(ball.prop("vx"))), _slowed(_speed(ball.prop("vy")))
    radius = ball.width // 2
    x, y = ball.x + vx, ball.y
    if _hits(x, y, radius, walls):
        x, vx = ball.x, -vx
    y = ball.y + vy
    if _hits(x, y, radius, walls):
        y, vy = ball.y, -vy
    moved = replace(ball.with_props(vx=vx, vy=vy), x=x, y=y)
    return replace(moved, version=ball.version + 1)


def _speed(speed: int) -> int:
    return max(-SPEED_MAX, min(speed, SPEED_MAX))


def _slowed(speed: int) -> int:
    slowed = abs(speed) * FRICTION[0] // FRICTION[1]
    return slowed if speed > 0 else -slowed


def _hits(x: int, y: int, radius: int, walls: Sequence[Box]) -> bool:
    if not (START + radius <= x < END - radius and START + radius <= y < END - radius):
        return True
    return any(
        left - radius < x < right + radius and top - radius < y < bottom + radius
        for left, top, right, bottom in walls
    )
