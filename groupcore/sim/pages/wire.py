"""The connection of a page to the gateway of a node: frames take their time, in their order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, cast

from msgpack import unpackb

from groupcore.frames import Message
from groupcore.gateway.errors import SessionEndError
from groupcore.gateway.limits import RULES
from groupcore.gateway.page import Page, greet
from groupcore.sim.clock import Clock
from groupcore.sim.pages.copies import digest_of
from groupcore.sim.pages.program import snapshot_of

if TYPE_CHECKING:
    from groupcore.sim.pages.browser import Browser
    from groupcore.sim.pages.program import PageProgram

CONGESTED_FRAMES = 2
Seen = dict[str, tuple[str, int, bytes]]
"""Of an object: birth, position, and what tells its state apart, as the node had it."""
Step = Callable[[], None]


class Wire:
    """The `Writer` of a page's session, and its way back. `is_slow`: the page reads nothing now.

    With each frame travels what the node had of the page's objects when it was written (`Seen`), to
    be compared with the page's copies when it has come.
    """

    def __init__(
        self, browser: Browser, program: PageProgram, clock: Clock, delay_ns: int, client: str
    ) -> None:
        self.program = program
        self.page: Page | None = None
        self.is_open = True
        self.is_slow = False
        self._browser = browser
        self._clock = clock
        self._delay_ns = delay_ns
        self._client = client
        self._held: deque[Step] = deque()
        self._up: deque[Step] = deque()
        self._unread: deque[Message] = deque()
        self._down: deque[Step] = deque()

    # --- to the node ----------------------------------------------------------------------------

    def say(self, message: Message) -> None:
        """A message to the gateway; the first one is the hello."""
        self._travel(self._up, partial(self._hear, message))

    def _hear(self, message: Message) -> None:
        if self.program.tasks.is_over:
            self._lost()
        elif self.program.node.paused:
            self._unread.append(message)  # read in this order when the node runs again
            self.program.tasks.after(0.0, lambda: self._hear(self._unread.popleft()))
        elif self.is_open:
            try:
                self._take(message)
            except SessionEndError:
                self.break_off()

    def _take(self, message: Message) -> None:
        if self.page is None:
            self.page = greet(self.program.gateway, message, "", self)
        else:
            self.page.receive(message)

    # --- as a writer ----------------------------------------------------------------------------

    @property
    def congested(self) -> bool:
        """See `Writer`."""
        return len(self._held) >= CONGESTED_FRAMES

    def buffered(self) -> int:
        """See `Writer`."""
        return len(self._held)

    def write(self, frame: bytes) -> None:
        """See `Writer`."""
        if not self.is_open:
            return
        messages = cast("list[Message]", unpackb(frame))
        seen = self._seen() if len(messages) < RULES.messages_max else {}
        self._pass(partial(self._arrive, messages, seen))

    def _arrive(self, messages: list[Message], seen: Seen) -> None:
        if self.is_open:
            self._browser.receive(self, messages, seen)

    def abort(self, code: int, reason: str) -> None:
        """See `Writer`: what was written before still comes."""
        del code, reason
        self._pass(self._lost)

    def _pass(self, step: Step) -> None:
        if self.is_slow:
            self._held.append(step)
        else:
            self._travel(self._down, step)

    def _travel(self, way: deque[Step], step: Step) -> None:
        """It arrives later, behind what is on this way before it."""
        way.append(step)
        self._clock.after(self._delay_ns, lambda: way.popleft()())

    def _seen(self) -> Seen:
        """What the node has of what this page is told all of, up to now."""
        seen: Seen = {}
        page = self.page
        for name, opened in {} if page is None else page.opened.items():
            feed = opened.feed
            assert page is not None
            if feed is None or name in page.withheld_names:
                continue
            birth, position = feed.version
            if feed.body.machine.position == position and feed.body.machine.birth == birth:
                state = snapshot_of(name, feed.body.machine.target)
                seen[name] = birth, position, digest_of(opened.kind.name, state)
        return seen

    # --- its end --------------------------------------------------------------------------------

    def read_on(self) -> None:
        """The page reads again."""
        self.is_slow = False
        held, self._held = self._held, deque()
        for step in held:
            self._travel(self._down, step)

    def break_off(self) -> None:
        """The connection breaks; both sides notice."""
        if not self.is_open:
            return
        self._lost()
        if self.page is not None and not self.program.tasks.is_over:
            self.page.disconnect(self)

    def _lost(self) -> None:
        if self.is_open:
            self.is_open = False
            self._browser.on_lost(self)
