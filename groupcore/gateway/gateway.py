"""The gateway: web sessions on one node, and what is written to them when.

Idea. What the node does gathers in feeds; `flush` closes the entry that is open and writes to each
session what it has to be sent, in one frame where that is possible. A session whose connection is
congested is left out, and gets what it missed, or the state, when there is room again. It never
holds up another one.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Unpack

from groupcore.errors import GroupcoreError
from groupcore.frames import Message, joined, pack
from groupcore.gateway.brake import QUEUED_BYTES_MOST, Brake
from groupcore.gateway.company import Company
from groupcore.gateway.feed import Feed
from groupcore.gateway.figures import Figures
from groupcore.gateway.interest import Interest
from groupcore.gateway.kinds import Kind, kinds_of
from groupcore.gateway.limits import FLUSH_S, FRAME_BYTES_SENT, OPENINGS_PER_TURN, RULES, SERVING
from groupcore.gateway.outlet import Outlet
from groupcore.gateway.page import Page
from groupcore.gateway.settings import Badge, GatewaySettings, Terms
from groupcore.gateway.station import Station
from groupcore.gateway.turnstile import Turnstile
from groupcore.shared.body import Body
from groupcore.shared.pending import Pending
from groupcore.shared.types.presence import Crowd

log = logging.getLogger(__name__)

LAG_CHECK_S = 0.05
PACKED_MAX = 256
"""Messages that are the same for many sessions are kept packed, so many of them."""


class Gateway:
    """Web sessions on `node`, which may open objects of `types`; settings are those of `Terms`.

    `interest`: of which of these a page may follow parts, see `groupcore.gateway.interest`.
    """

    def __init__(
        self,
        node: Station,
        types: Sequence[type[object]] | Mapping[str, type[object]],
        interest: Mapping[type[object], type[Interest[Any]]] = MappingProxyType({}),
        **settings: Unpack[GatewaySettings],
    ) -> None:
        self.node = node
        self.runtime = node.runtime
        self.kinds: dict[str, Kind] = kinds_of(types, interest)
        self.terms = Terms(**settings)
        self.pages: dict[str, Page] = {}
        self.saves = node.is_durable
        self.condition = SERVING
        self.lingering: dict[Page, None] = {}
        self.figures = Figures()
        self.turnstile = Turnstile(self.runtime, OPENINGS_PER_TURN)
        self._feeds: dict[str, Feed] = {}
        self._companies: dict[str, Company] = {}
        self._stirred: dict[Company, None] = {}
        self._open: Feed | None = None
        self.dirty: dict[Outlet, None] = {}
        self._behind: dict[Outlet, None] = {}
        self._packed: OrderedDict[tuple[object, ...], tuple[object, bytes]] = OrderedDict()
        self._call_flush_off: Callable[[], None] | None = None
        self._due = 0.0
        self._frames: dict[bytes | tuple[bytes, ...], list[bytes]] = {}
        self._last_flush = float("-inf")
        self.brake = Brake(self.runtime, self.is_behind, self._slow)

    def is_behind(self) -> bool:
        """Whether the node does not keep up: the order with what it sends, or the disk."""
        return self.node.is_congested or self.node.queued_bytes > QUEUED_BYTES_MOST

    def _slow(self, pause_ms: int) -> None:
        """Pages shall keep this pause between their calls."""
        self.figures.slowed += pause_ms > 0
        for page in self.pages.values():
            page.tell_pause()

    def start(self, coroutine: Coroutine[object, None, None]) -> None:
        """Run a coroutine beside everything else; what its node refuses then, nobody waits for."""
        work = self.runtime.spawn(coroutine)
        work.when_done(partial(self._on_over, work))

    @staticmethod
    def _on_over(work: Pending[None]) -> None:
        if isinstance(work.error, GroupcoreError):
            log.debug("not done for a page: %s", work.error)
        elif work.error is not None:
            log.error("a page's work has failed", exc_info=work.error)

    async def close(self) -> None:
        """End all sessions: the pages go to other nodes."""
        self.brake.stop()
        await self.send_away()
        if self._call_flush_off is not None:
            self._call_flush_off()

    async def send_away(self) -> None:
        """Send all pages to other nodes; their sessions here are over.

        All are told before any session is closed: outside the cluster that lasts until the node is
        back.
        """
        pages = list(self.pages.values())
        for page in pages:
            page.cut(4001, "this node is leaving")
        for page in pages:
            await page.end()

    def become(self, condition: str) -> None:
        """Tell all pages what this node can do for them from now on."""
        if condition == self.condition:
            return
        self.condition = condition
        for page in self.pages.values():
            page.tell_condition()

    def dismiss(self, wanted: Callable[[Badge], bool], code: int, reason: str) -> int:
        """End the sessions of these pages at once; gives how many."""
        badges = [(page, page.badge) for page in self.pages.values()]
        dismissed = [page for page, badge in badges if badge is not None and wanted(badge)]
        for page in dismissed:
            page.dismiss(code, reason)
        return len(dismissed)

    def recheck(self) -> None:
        """Ask `may_open` again about all that is open; what may not be is let go."""
        for page in list(self.pages.values()):
            page.recheck()

    def add(self, page: Page) -> None:
        """A session begins; of those that wait for their page the oldest makes room, if need be."""
        if len(self.pages) >= self.terms.sessions_max and self.lingering:
            next(iter(self.lingering)).end_soon()
        self.pages[page.client] = page
        self.brake.start()
        self.figures.sessions = len(self.pages)

    # --- feeds ----------------------------------------------------------------------------------

    def feed(self, name: str, kind: Kind, body: Body[object]) -> Feed:
        """The feed of an object that is open here."""
        feed = self._feeds.get(name)
        if feed is not None and feed.body is not body:
            feed.end()
            feed = None
        if feed is None:
            feed = self._feeds[name] = Feed(self, name, kind, body)
        return feed

    def unfollow(self, feed: Feed, page: Outlet) -> None:
        """The session follows the object no more."""
        feed.unfollow(page)
        if not feed.followers:
            feed.end()
            if self._open is feed:
                self._open = None
            if self._feeds.get(feed.name) is feed:
                del self._feeds[feed.name]

    def latencies(self) -> dict[str, float]:
        """How long calls take of late, in ms, by the names of the objects that pages follow."""
        feeds = self._feeds.values()
        return {f.name: round(1000 * f.latency_s, 1) for f in feeds if f.latency_s is not None}

    def company(self, name: str, crowd: Crowd[object]) -> Company:
        """What is told of a presence that is open here."""
        company = self._companies.get(name)
        if company is None or company.crowd is not crowd:
            company = self._companies[name] = Company(self, name, crowd)
        return company

    def part(self, company: Company, page: Outlet) -> None:
        """The session follows the presence no more."""
        if company.unfollow(page) and self._companies.get(company.name) is company:
            del self._companies[company.name]

    def stir(self, company: Company) -> None:
        """Somebody shows something else in a presence."""
        self._stirred[company] = None
        self.flush_soon()

    def turn_to(self, feed: Feed | None) -> None:
        """What comes next is of this feed: the entry of another one is closed before."""
        former, self._open = self._open, feed
        if former is not None and former is not feed:
            former.close_entry()
        if feed is not None:
            self.flush_soon()

    def packed(self, key: tuple[object, ...], value: object, message: Message) -> bytes:
        """A message packed, once for all who are sent it: `key` and `value` say which it is."""
        known = self._packed.get(key)
        if known is not None and known[0] == value:
            return known[1]
        packed = pack(message)
        self._packed[key] = (value, packed)
        if len(self._packed) > PACKED_MAX:
            self._packed.popitem(last=False)
        return packed

    def framed(self, messages: list[bytes]) -> list[bytes]:
        """Frames of these messages; what many sessions are sent in one flush is joined once."""
        key = messages[0] if len(messages) == 1 else tuple(messages)
        frames = self._frames.get(key)
        if frames is None:
            frames = self._frames[key] = list(
                joined(messages, RULES.messages_max, FRAME_BYTES_SENT)
            )
        self.figures.frames_out += len(frames)
        return frames

    # --- writing --------------------------------------------------------------------------------

    def touch(self, page: Outlet) -> None:
        """The session has something to be sent."""
        if page not in self.dirty:
            self.dirty[page] = None
            self.flush_soon()

    def behind(self, page: Outlet) -> None:
        """The session's connection is congested: look again later."""
        self._behind[page] = None
        self._schedule(LAG_CHECK_S)

    def forget(self, page: Page) -> None:
        """The session is no more."""
        self.dirty.pop(page, None)
        self._behind.pop(page, None)
        self.lingering.pop(page, None)
        if self.pages.get(page.client) is page:
            del self.pages[page.client]
            self.figures.sessions = len(self.pages)
            if not self.pages:
                self.brake.stop()

    def flush_soon(self) -> None:
        """Flush at the end of this loop turn, or a little later when that was just done."""
        if self._call_flush_off is not None and self._due <= self._last_flush + FLUSH_S:
            return
        self._schedule(max(0.0, self._last_flush + FLUSH_S - self.runtime.steady_s))

    def _schedule(self, delay_s: float) -> None:
        runtime = self.runtime
        due = runtime.steady_s + delay_s
        if self._call_flush_off is not None:
            if self._due <= due:
                return
            self._call_flush_off()
        self._due = due
        late = delay_s > 0
        self._call_flush_off = (
            runtime.alarm(delay_s, self.flush) if late else runtime.soon(self.flush)
        )

    def flush(self) -> None:
        """Write what has gathered."""
        if self._call_flush_off is not None:
            self._call_flush_off()
            self._call_flush_off = None
        now = self._last_flush = self.runtime.steady_s
        self.turn_to(None)
        stirred, self._stirred = self._stirred, {}
        for company in stirred:
            company.flush()
        behind, self._behind = self._behind, {}
        for page in behind:
            page.catch_up(now)
        dirty, self.dirty = self.dirty, {}
        for page in dirty:
            page.write()
        self._frames.clear()
