"""Planted bugs of the gateway for browsers: what pages are told, what is kept for those who come
back, and what becomes of their calls."""

from __future__ import annotations

from groupcore.gateway.company import Company
from groupcore.gateway.feed import Feed, Version
from groupcore.gateway.gateway import Gateway
from groupcore.gateway.outlet import Opened, Outlet, Writer
from groupcore.shared.verdicts import Call, Verdict, Verdicts
from groupcore.sim.planting import Patch, Plant


def _caught_up_one_late() -> list[Patch]:
    original = Feed.since

    def since(self: Feed, version: Version) -> list[bytes] | None:
        missed = original(self, version)
        return missed if missed is None else missed[1:]

    return [(Feed, "since", since)]


def _caught_up_from_the_beginning() -> list[Patch]:
    def since(self: Feed, version: Version) -> list[bytes] | None:
        birth, position = version
        is_kept = birth == self.version[0] and self._kept_from <= position <= self.version[1]
        return [packed for _, packed in self._history] if is_kept else None

    return [(Feed, "since", since)]


def _left_out_for_good() -> list[Patch]:
    def fall_behind(self: Outlet, name: str, version: Version) -> None:
        """What a page that reads too slowly is not sent is not noted, either."""
        self._gateway.behind(self)

    return [(Outlet, "_fall_behind", fall_behind)]


def _told_before_it_has_asked() -> list[Patch]:
    original = Outlet.connect

    def connect(self: Outlet, writer: Writer, resumed: bool) -> None:
        """U1: a page that has come back is told of all that its session had open."""
        original(self, writer, resumed)
        self._withheld = {}

    return [(Outlet, "connect", connect)]


def _open_entry_lost() -> list[Patch]:
    def turn_to(self: Gateway, feed: Feed | None) -> None:
        """What has gathered of an object is left where another one changes."""
        self._open = feed
        if feed is not None:
            self.flush_soon()

    return [(Gateway, "turn_to", turn_to)]


def _done_again() -> list[Patch]:
    def find(self: Verdicts, call: Call, content: bytes) -> Verdict | None:
        """V1: whether it was done before is not asked."""
        return None

    return [(Verdicts, "find", find)]


def _answers_forgotten() -> list[Patch]:
    def done(self: Feed, client: str) -> list[object]:
        """Who opens an object is not told what has become of its calls."""
        return []

    def order_again(self: Verdicts, call: Call, content: bytes) -> Verdict | None:
        """And who asks again is told that it is lost."""
        client = self._clients.get(call.client)
        return None if client is None or call.number > client.last else Verdict([], "lost_call")

    return [(Feed, "done", done), (Verdicts, "find", order_again)]


def _presence_not_shown() -> list[Patch]:
    original = Outlet.show_presence

    def show(self: Outlet, name: str, opened: Opened) -> None:
        """Who has fallen behind is not shown what was shown meanwhile."""
        if name not in self.opened:
            original(self, name, opened)

    def flush(self: Company) -> None:
        """What changes between two times that pages are told is kept for those who ask."""
        self._stop_timer()
        self._changed = {}

    return [(Outlet, "show_presence", show), (Company, "flush", flush)]


PAGE_PLANTS = (
    Plant(
        "pg-caught-up-one-late",
        "who has come back is not told the first change that it missed",
        (32,),
        _caught_up_one_late,
        profile="pages",
    ),
    Plant(
        "pg-caught-up-from-the-beginning",
        "who has come back is told all changes that are kept",
        (32,),
        _caught_up_from_the_beginning,
        profile="pages",
    ),
    Plant(
        "pg-left-out-for-good",
        "what a page that reads too slowly was not sent is never sent",
        (32, 25),
        _left_out_for_good,
        profile="pages",
    ),
    Plant(
        "pg-told-before-it-has-asked",
        "a page that has come back is told of objects that it has not asked for again",
        (32,),
        _told_before_it_has_asked,
        profile="pages",
    ),
    Plant(
        "pg-entry-left-open",
        "what has gathered of an object is not sent where another one changes meanwhile",
        (32, 25),
        _open_entry_lost,
        profile="pages",
    ),
    Plant(
        "pg-done-again",
        "a call that a page asks again at another node is done again",
        (20,),
        _done_again,
        profile="pages",
    ),
    Plant(
        "pg-answers-forgotten",
        "a page is not told what has become of a call that it asks again",
        (32,),
        _answers_forgotten,
        profile="pages",
    ),
    Plant(
        "pg-presence-not-shown",
        "a page is not told what others show while they are told of together",
        (25,),
        _presence_not_shown,
        profile="pages",
    ),
)
"""Those of the gateway; `plants.PLANTS` has all."""
