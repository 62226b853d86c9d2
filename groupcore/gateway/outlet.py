"""What one page is told, and when: changes in their order, then answers; nothing while it is slow.

A page whose connection is congested is sent no changes. When there is room again it gets those that
it missed, or the state; past a bound it is cut off, to come back.

Invariants.
  U1  A page is told every change behind the version that it was told, or none: one that has come
      back is told nothing of an object before it has asked for it again.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from groupcore.frames import Message, pack
from groupcore.gateway import limits
from groupcore.gateway.errors import BadRequestError, InterestError
from groupcore.gateway.feed import Feed, Version
from groupcore.gateway.kinds import Kind, shown
from groupcore.gateway.settings import Traffic
from groupcore.shared.plain import who
from groupcore.shared.session import Session
from groupcore.shared.types import Presence, Subscription
from groupcore.shared.verdicts import code_of

if TYPE_CHECKING:
    from groupcore.gateway.company import Company
    from groupcore.gateway.gateway import Gateway

TEMPORARY = {
    "behind",
    "busy",
    "closed",
    "outcome_unknown",
    "not_open",
    "not_ready",
    "not_primary",
    "left",
    "moving",
    "unknown_group",
    "transfer_busy",
    "channel_closed",
    "internal",
}
"""Codes behind which the same may be asked again: what comes of a node that joins, has lost its
view or leaves, and of a group that moves or is made."""


class Writer(Protocol):
    """Where a session's frames are written."""

    @property
    def congested(self) -> bool:
        """Whether much of what was written has not left."""

    def buffered(self) -> int:
        """Bytes that have not left."""

    def write(self, frame: bytes) -> None:
        """Send a frame."""

    def abort(self, code: int, reason: str) -> None:
        """Give the connection up with this close code."""


@dataclass(slots=True)
class Opened:
    """An object that the page has open; `feed` of one with a state, `company` of a presence."""

    kind: Kind
    user: object
    feed: Feed | None = None
    company: Company | None = None
    subscription: Subscription[object] | None = None
    is_released: bool = False


class Outlet:
    """The way to the page that calls itself `client`, over one connection after the other."""

    def __init__(self, gateway: Gateway, client: str, session: Session) -> None:
        self.client = client
        self.session = session
        self.opened: dict[str, Opened] = {}
        self._gateway = gateway
        self._writer: Writer | None = None
        self._outbox: list[bytes] = []
        self._answers: list[bytes] = []
        self._withheld: dict[str, Version | None] = {}
        self._lag_since = 0.0
        self.resumed = 0
        self.bytes_in = self.bytes_out = 0
        self.code: int | None = None

    # --- the connection -------------------------------------------------------------------------

    def connect(self, writer: Writer, resumed: bool) -> None:
        """The page is here (again)."""
        if self._writer is not None:
            self._writer.abort(4409, "the same client has connected again")
        self._writer, self.code = writer, None
        self._outbox, self._answers = [], []
        self._withheld = dict.fromkeys(self.opened)  # U1
        self.resumed += resumed
        gateway = self._gateway
        self.tell(
            {
                "t": "welcome",
                "v": limits.VERSION,
                "node": gateway.node.node_id,
                "who": who(self.session.process),
                "principal": self.session.principal,
                "resumed": resumed,
                "saves": gateway.saves,
                "heartbeat_s": gateway.terms.heartbeat_s,
                "limits": {
                    "frame_bytes": limits.FRAME_BYTES_MAX,
                    "objects": limits.OBJECTS_MAX,
                    "calls": limits.CALLS_MAX,
                },
            }
        )
        if gateway.condition != limits.SERVING:
            self.tell_condition()
        if gateway.brake.pause_ms:
            self.tell_pause()

    def tell_pause(self) -> None:
        """Tell the page how long to pause between its calls, ms; 0: not at all."""
        self.tell({"t": "slow", "pause_ms": self._gateway.brake.pause_ms})

    def tell_condition(self) -> None:
        """Tell the page what the node can do."""
        self.tell({"t": "condition", "condition": self._gateway.condition})

    @property
    def gateway(self) -> Gateway:
        """Where it is a session of."""
        return self._gateway

    @property
    def buffered_bytes(self) -> int:
        """How much of what the page was written has not left."""
        return 0 if self._writer is None else self._writer.buffered()

    @property
    def is_connected(self) -> bool:
        """Whether its page is here now; it may come back to the session."""
        return self._writer is not None

    @property
    def withheld(self) -> int:
        """Of how many objects it is told nothing now, as it reads too slowly or has not asked."""
        return len(self._withheld)

    @property
    def lag(self) -> int:
        """How many changes of its objects it has not been sent, as it reads too slowly."""
        lag = 0
        for name, version in self._withheld.items():
            opened = self.opened.get(name)
            if version is not None and opened is not None and opened.feed is not None:
                lag += max(0, opened.feed.version[1] - version[1])
        return lag

    @property
    def withheld_names(self) -> Collection[str]:
        """Those objects."""
        return self._withheld

    @property
    def traffic(self) -> Traffic:
        """What has passed."""
        return Traffic(self.bytes_in, self.bytes_out, self.code)

    def is_connected_by(self, writer: Writer) -> bool:
        """Whether this is the page's present connection."""
        return self._writer is writer

    def unplug(self) -> None:
        """The connection is gone: nothing can be told."""
        self._writer = None
        self._outbox, self._answers, self._withheld = [], [], {}

    def cut(self, code: int, reason: str) -> None:
        """Close the connection."""
        if self._writer is not None:
            self._gateway.figures.cut[code] += 1
            self.code = code
            self._writer.abort(code, reason)

    # --- what the page is told ------------------------------------------------------------------

    def tell(self, message: Message) -> None:
        """Tell this page something, behind all changes up to now."""
        if self._writer is not None:
            self._answers.append(pack(message))
            self._gateway.touch(self)

    def refuse(self, error: Exception, **about: str | int) -> None:
        """Tell the page why something was not done."""
        code = error.code if isinstance(error, BadRequestError) else code_of(error)
        self._gateway.figures.refused[code] += 1
        temporary = code in TEMPORARY
        message: Message = {"t": "error", "code": code, "message": str(error)[:500]}
        self.tell({**message, "temporary": temporary, **about})

    def put(self, packed: bytes) -> None:
        """Something that has its place among the changes."""
        if not self._outbox:
            self._gateway.touch(self)
        self._outbox.append(packed)

    def send_changes(self, feed: Feed, packed: bytes, before: int) -> None:
        """Changes of an object, made behind the version `before`."""
        writer = self._writer
        if writer is None or (self._withheld and feed.name in self._withheld):
            return
        if writer.congested:
            self._fall_behind(feed.name, (feed.version[0], before))
            return
        if not self._outbox:
            self._gateway.dirty[self] = None  # a feed with changes has asked for a flush
        self._outbox.append(packed)

    def send_snapshot(self, feed: Feed, base: int) -> None:
        """The whole state of an object."""
        if self._writer is None:
            return
        self._withheld.pop(feed.name, None)
        try:
            snapshot = feed.snapshot(base, self.client, feed.followers.get(self))
        except InterestError as error:
            self.take_away(feed.name, error)
        else:
            self.put(pack(snapshot))

    def send_parts(self, feed: Feed, message: Message) -> None:
        """Parts of an object that the page has come to follow, or has left; F2."""
        if self._writer is not None and feed.name not in self._withheld:
            self.put(pack(message))

    def take_away(self, name: str, error: Exception) -> None:
        """The page must not, or cannot, have the object open any more."""
        raise NotImplementedError

    def _fall_behind(self, name: str, version: Version) -> None:
        if not any(self._withheld.values()):
            self._lag_since = self._gateway.runtime.steady_s
            self._gateway.figures.fell_behind += 1
        self._withheld[name] = version
        self._gateway.behind(self)

    def catch_up(self, now: float) -> None:
        """If there is room again, send what was left out."""
        writer = self._writer
        if writer is None:
            return
        if writer.congested:
            if now > self._lag_since + limits.LAG_S_MAX:
                self.cut(4002, "too slow; come back")
            else:
                self._gateway.behind(self)
            return
        for name, version in list(self._withheld.items()):
            opened = self.opened.get(name)
            if version is None or opened is None:
                continue
            del self._withheld[name]
            if opened.feed is None:
                self.show_presence(name, opened)
            elif (missed := opened.feed.missed(self, version)) is not None:
                self._gateway.figures.caught_up["stream"] += 1
                self._outbox += missed
            else:
                self._gateway.figures.caught_up["snapshot"] += 1
                self.send_snapshot(opened.feed, -1)
        self._gateway.touch(self)

    def write(self) -> None:
        """Write what there is: changes in their order, then answers."""
        messages = self._outbox
        if self._answers:
            messages += self._answers
            self._answers = []
        self._outbox = []
        writer = self._writer
        if writer is None:
            return
        if writer.congested and writer.buffered() > limits.OUTBOX_BYTES_MAX:
            self.cut(4002, "too slow; come back")
            return
        for frame in self._gateway.framed(messages):
            writer.write(frame)
            self.bytes_out += len(frame)

    def send_presence(self, name: str, packed: list[bytes]) -> None:
        """What others show now; left out while the connection is congested."""
        writer = self._writer
        if writer is None or name in self._withheld or not packed:
            return
        if writer.congested:
            self._fall_behind(name, ("", 0))
            return
        self.put(packed[0])
        self._outbox += packed[1:]

    def show_presence(self, name: str, opened: Opened) -> None:
        """What all others show in a presence."""
        assert isinstance(opened.user, Presence)
        others = [[who(process), shown(value)] for process, value in opened.user.others.items()]
        message: Message = {"t": "people", "name": name}
        message["others"] = others  # type: ignore[assignment]
        self.put(pack(message))
