"""A page's copy of an object: made from a snapshot, kept up by changes, as browsers do it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from groupcore.frames import Message, pack

Items = list[list[object]]


@dataclass(slots=True)
class Copy:
    """The state of an object of this type, as of `position` in the stretch `birth`."""

    kind: str
    birth: str
    position: int
    state: object

    def digest(self) -> bytes:
        """What tells it from another state."""
        return digest_of(self.kind, self.state)

    def change(self, message: Message) -> str:
        """Take changes; gives what is wrong with them. Items that it has are passed over."""
        position, items = cast("int", message["version"]), cast("Items", message["items"])
        if position <= self.position:
            return f"is given changes up to {position}, and has {self.position}"
        places = [cast("int", item[0]) for item in items]
        if any(place > position for place in places) or places != sorted(places):
            return f"is given {places} in changes up to {position}"
        before, self.position = self.position, position
        if "state" in message:
            self.state = message["state"]
            return ""
        news = [told for place, _, _, told in items if cast("int", place) > before]
        for told in news:
            for detail in cast("list[object]", told):
                self._apply(cast("list[object]", detail))
        return ""

    def _apply(self, detail: list[object]) -> None:
        if self.kind == "Map":
            key, _, new = detail
            self.state = _changed_map(cast("Items", self.state), key, new)
        elif self.kind == "List":
            self.state = _changed_list(cast("Items", self.state), detail)


def digest_of(kind: str, state: object) -> bytes:
    """What tells states of an object of this type apart; the order of a map's keys does not."""
    if kind == "Map":
        state = sorted(cast("Items", state), key=str)
    return pack({"t": kind, "state": state})  # type: ignore[dict-item]


def _changed_map(pairs: Items, key: object, new: object) -> Items:
    others = [pair for pair in pairs if pair[0] != key]
    return others if new is None else [*others, [key, new]]


def _changed_list(items: Items, detail: list[object]) -> Items:
    match detail:
        case ["insert", item, after, value]:
            return _with(items, [item, value], after)
        case ["delete", item]:
            return [one for one in items if one[0] != item]
        case ["move", item, after]:
            (moved,) = [one for one in items if one[0] == item] or ([item, None],)
            return _with([one for one in items if one[0] != item], moved, after)
        case ["set", item, value]:
            return [[item, value] if one[0] == item else one for one in items]
    return items


def _with(items: Items, item: list[object], after: object) -> Items:
    """With one more: behind `after`, None: at the beginning."""
    place = 0
    if after is not None:
        place = next((n + 1 for n, one in enumerate(items) if one[0] == after), len(items))
    return [*items[:place], item, *items[place:]]
