"""The hub: which sessions follow which document, and one frame for all of them.

Idea. What is published about a document gathers until the end of the loop turn, is joined into
one frame, and that frame is written to every session (hot path, rules 18 and 19). Between two
flushes pass at least `flush_s` seconds, so a session costs a bounded number of writes a second
whatever the rate; when nothing was flushed lately the delay is zero.

A session whose transport is congested is skipped and the position where it stopped is noted.
When it has drained, it is resumed from there; past a bound of time or bytes it is cut with 4002
(reliability, row 43). It never holds up another session.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

from server.fanout import Writer
from server.frames import Frame, Message, join_messages, pack

LAZY_S = 0.1
"""How long a message that nobody waits for may wait for company: a write costs more than it."""

LAG_CHECK_S = 0.05
"""Between two looks at sessions that are behind."""

Position = tuple[int, int]
"""(epoch, version) of a document."""


class Subscriber:
    """A session as the hub sees it."""

    __slots__ = ("allowance", "client", "docs", "lag_since", "lagging", "session_id", "writer")

    def __init__(self, session_id: str, client: str, writer: Writer) -> None:
        self.session_id = session_id
        self.client = client
        self.writer = writer
        self.docs: set[str] = set()
        self.lagging: dict[str, Position] = {}
        self.lag_since = 0.0
        self.allowance = 0


class Topic:
    """One document's followers and what waits for them."""

    __slots__ = ("flushed", "newest", "pending", "skipping", "subscribers")

    def __init__(self, position: Position) -> None:
        self.subscribers: dict[str, Subscriber] = {}
        self.pending: list[tuple[bytes, str | None]] = []
        self.skipping: set[str] = set()
        self.newest = position
        self.flushed = position


class Hub:
    """Documents to sessions.

    `resume(subscriber, doc, position)` gives the packed messages that bring a session from a
    position to the present; `position(doc)` is the present.
    """

    def __init__(
        self,
        *,
        flush_s: float,
        outbox_bytes: int,
        lag_s: float,
        resume: Callable[[Subscriber, str, Position], list[bytes]],
        position: Callable[[str], Position],
    ) -> None:
        self.flush_s = flush_s
        self.outbox_bytes = outbox_bytes
        self.lag_s = lag_s
        self.topics: dict[str, Topic] = {}
        self.frames_written = 0
        self.resumed = 0
        self.cut = 0
        self._resume = resume
        self._position = position
        self._dirty: set[str] = set()
        self._behind: dict[str, Subscriber] = {}
        self._scheduled: asyncio.Handle | None = None
        self._due = 0.0
        self._lag_timer: asyncio.TimerHandle | None = None
        self._last_flush = float("-inf")

    # --- who follows what -----------------------------------------------------------------------

    def subscribe(self, subscriber: Subscriber, doc: str, position: Position) -> None:
        """From here on the subscriber gets what is published about the document.

        What waits is flushed first, so the caller can send the state as of `position` and no
        update comes twice.
        """
        topic = self.topics.get(doc)
        if topic is None:
            topic = self.topics[doc] = Topic(position)
        else:
            self._flush_topic(doc, topic, asyncio.get_running_loop().time())
        topic.subscribers[subscriber.session_id] = subscriber
        subscriber.docs.add(doc)
        subscriber.lagging.pop(doc, None)

    def unsubscribe(self, subscriber: Subscriber, doc: str) -> None:
        """No more about this document."""
        subscriber.docs.discard(doc)
        subscriber.lagging.pop(doc, None)
        topic = self.topics.get(doc)
        if topic is not None:
            topic.subscribers.pop(subscriber.session_id, None)
            if not topic.subscribers:
                del self.topics[doc]
                self._dirty.discard(doc)

    def remove(self, subscriber: Subscriber) -> None:
        """The session has ended."""
        for doc in list(subscriber.docs):
            self.unsubscribe(subscriber, doc)
        self._behind.pop(subscriber.session_id, None)

    # --- what is told ---------------------------------------------------------------------------

    def publish(
        self,
        doc: str,
        message: Message,
        position: Position | None = None,
        skip: str | None = None,
        lazy: bool = False,
    ) -> None:
        """Tell all followers of a document but the session `skip`.

        `position` is the document's after this message, where it moves. `lazy`: it may wait up to
        LAZY_S to share a frame with what comes next.
        """
        topic = self.topics.get(doc)
        if topic is None:
            return
        topic.pending.append((pack(message), skip))
        if skip is not None:
            topic.skipping.add(skip)
        if position is not None:
            topic.newest = position
        self._dirty.add(doc)
        now = asyncio.get_running_loop().time()
        due = max(now, self._last_flush + self.flush_s)
        self._schedule(max(due, now + LAZY_S) if lazy else due)

    def _schedule(self, due: float) -> None:
        """Flush at this time, or when it was going to be flushed if that is sooner."""
        if self._scheduled is not None:
            if self._due <= due:
                return
            self._scheduled.cancel()
        loop = asyncio.get_running_loop()
        self._due = due
        late = due > loop.time()
        self._scheduled = loop.call_at(due, self.flush) if late else loop.call_soon(self.flush)

    def send(self, subscriber: Subscriber, messages: Iterable[bytes]) -> None:
        """Write to one session, behind everything that was published before."""
        if self._dirty:
            self.flush()
        for frame in join_messages(list(messages)):
            self._write(subscriber, frame)

    def broadcast(self, subscribers: Iterable[Subscriber], message: Message) -> None:
        """The same message to these sessions, congested ones left out."""
        [frame] = join_messages([pack(message)])
        for subscriber in subscribers:
            if not subscriber.writer.congested:
                subscriber.writer.write(frame)

    def flush(self) -> None:
        """Write what has gathered."""
        if self._scheduled is not None:
            self._scheduled.cancel()
            self._scheduled = None
        now = self._last_flush = asyncio.get_running_loop().time()
        dirty, self._dirty = self._dirty, set()
        for doc in sorted(dirty):
            topic = self.topics.get(doc)
            if topic is not None:
                self._flush_topic(doc, topic, now)

    def _flush_topic(self, doc: str, topic: Topic, now: float) -> None:
        if not topic.pending:
            return
        pending, topic.pending = topic.pending, []
        skipping, topic.skipping = topic.skipping, set()
        frames = join_messages([message for message, _ in pending])
        before, topic.flushed = topic.flushed, topic.newest
        for subscriber in topic.subscribers.values():
            if subscriber.lagging and doc in subscriber.lagging:
                continue
            if subscriber.writer.congested:
                self._fall_behind(subscriber, doc, before, now)
                continue
            mine = frames
            if skipping and subscriber.session_id in skipping:
                me = subscriber.session_id
                mine = join_messages([message for message, skip in pending if skip != me])
            for frame in mine:
                subscriber.writer.write(frame)
            self.frames_written += len(mine)

    # --- sessions that do not read --------------------------------------------------------------

    def _write(self, subscriber: Subscriber, frame: Frame) -> None:
        """Write a private frame; a session that piles them up is cut."""
        if subscriber.writer.buffered() > self.outbox_bytes + subscriber.allowance:
            self._cut(subscriber)
            return
        if len(frame.payload) > self.outbox_bytes:
            # One large snapshot is not a session's fault; it may wait as long as others.
            subscriber.allowance = max(subscriber.allowance, len(frame.payload))
        subscriber.writer.write(frame)
        self.frames_written += 1

    def _fall_behind(
        self, subscriber: Subscriber, doc: str, position: Position, now: float
    ) -> None:
        if not subscriber.lagging:
            subscriber.lag_since = now
        subscriber.lagging[doc] = position
        self._behind[subscriber.session_id] = subscriber
        if self._lag_timer is None:
            self._lag_timer = asyncio.get_running_loop().call_later(LAG_CHECK_S, self._check_lag)

    def _check_lag(self) -> None:
        """Resume those that have drained, cut those past the bound."""
        self._lag_timer = None
        loop = asyncio.get_running_loop()
        for subscriber in list(self._behind.values()):
            writer = subscriber.writer
            if not writer.congested:
                self._catch_up(subscriber)
            elif (
                loop.time() - subscriber.lag_since > self.lag_s
                or writer.buffered() > self.outbox_bytes + subscriber.allowance
            ):
                self._cut(subscriber)
        if self._behind:
            self._lag_timer = loop.call_later(LAG_CHECK_S, self._check_lag)

    def _catch_up(self, subscriber: Subscriber) -> None:
        self._behind.pop(subscriber.session_id, None)
        # What waits is part of the state that is sent now; those behind are left out of it.
        self.flush()
        lagging, subscriber.lagging = subscriber.lagging, {}
        for doc, position in lagging.items():
            self.resumed += 1
            for frame in join_messages(self._resume(subscriber, doc, position)):
                self._write(subscriber, frame)

    def resume_all(self) -> None:
        """The documents have been replaced as a whole: bring every session to the present."""
        for doc, topic in self.topics.items():
            topic.pending.clear()
            topic.skipping.clear()
            before = topic.flushed
            topic.flushed = topic.newest = self._position(doc)
            for subscriber in topic.subscribers.values():
                if doc not in subscriber.lagging:
                    for frame in join_messages(self._resume(subscriber, doc, before)):
                        self._write(subscriber, frame)

    def _cut(self, subscriber: Subscriber) -> None:
        self.cut += 1
        self._behind.pop(subscriber.session_id, None)
        subscriber.writer.abort(4002, "fell behind")

    def close(self) -> None:
        """Stop the timers."""
        for timer in (self._scheduled, self._lag_timer):
            if timer is not None:
                timer.cancel()
        self._scheduled = self._lag_timer = None
