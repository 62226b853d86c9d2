"""Who is here, as the web sessions of a node are told: each change once, the last one of a flush.

Idea. A node hears a change once. What has changed until the next flush is packed once, and put to
all sessions but the one that it is of; of several changes of one process only the last one.

The more sessions follow, the less often they are told: everybody tells everybody, so the work grows
with the square of their number, and what people write is to have the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from groupcore.frames import Message, pack
from groupcore.gateway.kinds import shown
from groupcore.gateway.outlet import Outlet
from groupcore.sequencing.names import Process
from groupcore.shared.plain import who
from groupcore.shared.types.presence import Crowd, PresenceChanged

if TYPE_CHECKING:
    from groupcore.gateway.gateway import Gateway


CROWD = 20
"""So many sessions of a node are told of each change at once."""
PACE_S = 0.002
"""With more of them, so much time for each of them lies between what they are told,"""
PACE_S_MAX = 0.5
"""up to this."""


class Company:
    """The presence `name`; `crowd` is what the node knows of it."""

    def __init__(self, gateway: Gateway, name: str, crowd: Crowd[object]) -> None:
        self.name = name
        self.crowd = crowd
        self._gateway = gateway
        self._followers: dict[Outlet, None] = {}
        self._changed: dict[Process, object] = {}
        self._told_at_s = float("-inf")
        self._runtime = gateway.runtime
        self._call_off: Callable[[], None] | None = None
        crowd.watchers.append(self._on_changed)

    def follow(self, page: Outlet) -> None:
        """This session is told from here on; what is before is in what it is shown now."""
        self.flush()
        self._followers[page] = None

    def unfollow(self, page: Outlet) -> bool:
        """No more to this session; whether nobody follows it now."""
        self._followers.pop(page, None)
        if not self._followers and self._on_changed in self.crowd.watchers:
            self.crowd.watchers.remove(self._on_changed)
            self._stop_timer()
        return not self._followers

    def _on_changed(self, change: PresenceChanged[object]) -> None:
        self._changed[change.process] = change.value
        if self._call_off is not None:
            return
        wait_s = self._told_at_s + self.pace_s - self._runtime.steady_s
        if wait_s <= 0:
            self._gateway.stir(self)
        else:
            self._call_off = self._runtime.alarm(wait_s, self._on_time)

    @property
    def pace_s(self) -> float:
        """How much time lies between two times that the sessions are told."""
        count = len(self._followers)
        return 0.0 if count <= CROWD else min(PACE_S_MAX, count * PACE_S)

    def _on_time(self) -> None:
        self._call_off = None
        self._gateway.stir(self)

    def _stop_timer(self) -> None:
        if self._call_off is not None:
            self._call_off()
            self._call_off = None

    def flush(self) -> None:
        """Put what has changed to the sessions."""
        self._stop_timer()
        if not self._changed:
            return
        self._told_at_s = self._runtime.steady_s
        changed, self._changed = self._changed, {}
        packed = {process: self._packed(process, value) for process, value in changed.items()}
        everything = list(packed.values())
        for page in self._followers:
            own = page.session.process
            if own in packed:
                page.send_presence(self.name, [one for at, one in packed.items() if at != own])
            else:
                page.send_presence(self.name, everything)

    def _packed(self, process: Process, value: object) -> bytes:
        message: Message = {"t": "presence", "name": self.name, "who": who(process)}
        message["value"] = shown(value)  # type: ignore[assignment]
        return pack(message)
