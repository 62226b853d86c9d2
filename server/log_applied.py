"""What comes of a log when it is done again, as at a restart: how far it goes, what is set aside.

For `verify-log`. A command that is none, a frame that cannot be read and a message that is no
operation change nothing, at every node alike: they do no harm, and say who has sent them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from groupcore.sequencing.events import SetAside
from groupcore.sequencing.judging import COUNTER
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.service import Service
from server.dump import READER, LogReader
from server.outcomes import NO_OPERATION, Outcomes
from server.rebuilding import kind_of

FRAMES = "bad_frame."
GROUPS_SHOWN = 20
"""So many groups are named, one a line."""


def told_of(parts: Sequence[bytes]) -> Iterator[str]:
    """Does it, and gives what is to be said of it, one line each; raises before the first line."""
    service = Service(READER, ServiceOptions(durable=True), Random(0), parts)
    outcomes = Outcomes(kind_of).rows(LogReader().entries(parts))
    wrong = Counter(str(row["group"]) for row in outcomes if is_set_aside(str(row["verdict"])))
    return iter([*_commands(service), *_messages(wrong)])


def is_set_aside(verdict: str) -> bool:
    """Whether a row is of a message that is no operation of an object."""
    return verdict.startswith(NO_OPERATION)


def _commands(service: Service) -> Iterator[str]:
    plane = service.plane
    place, groups = plane.ordered, len(plane.directory.entries)
    yield f"done again: up to command {place.commands} of view {place.view}, {groups} groups"
    told = 0
    for event in plane.events:
        if isinstance(event, SetAside):
            told += 1
            at = f"command {event.place.commands} of view {event.place.view}"
            yield f"set aside: {at}, by {event.by}: {event.detail}"
    counted = {name: n for name, n in plane.counters.items() if name.startswith(COUNTER)}
    if sum(counted.values()) > told:
        yield f"set aside: {sum(counted.values()) - told} commands more"
    frames = sum(n for name, n in plane.counters.items() if name.startswith(FRAMES))
    if frames:
        yield f"set aside: {frames} frames that cannot be read"


def _messages(wrong: Counter[str]) -> Iterator[str]:
    for group, count in wrong.most_common(GROUPS_SHOWN):
        yield f"set aside: {count} messages of group {group} that are no operations"
    if len(wrong) > GROUPS_SHOWN:
        left = sum(wrong.values()) - sum(n for _, n in wrong.most_common(GROUPS_SHOWN))
        yield f"set aside: {left} messages of {len(wrong) - GROUPS_SHOWN} groups more"
