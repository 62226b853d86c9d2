"""All sessions of this node: heartbeats, the node's state, the end of all."""

from __future__ import annotations

import asyncio

from server.frames import Message
from server.node import Node
from server.sessions import Session, status_message
from server.state import State

PING: Message = {"t": "ping"}
MISSED_MAX = 2
"""Heartbeats without a sign of life before a session is closed with 4003."""


class SessionRegistry:
    """The sessions that are connected now."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._sessions: set[Session] = set()
        self._heartbeat: asyncio.TimerHandle | None = None
        self.opened = 0
        node.on_state = self.tell_state

    def __len__(self) -> int:
        return len(self._sessions)

    def add(self, session: Session) -> None:
        """A session is connected."""
        self._sessions.add(session)
        self.opened += 1
        if self._heartbeat is None:
            self._schedule()

    def remove(self, session: Session) -> None:
        """A session is gone."""
        self._sessions.discard(session)
        session.end()

    def tell_state(self, state: State) -> None:
        """Tell every session what the node's state has become."""
        self._tell(status_message(state))

    def _tell(self, message: Message) -> None:
        subscribers = [s.subscriber for s in self._sessions if s.subscriber is not None]
        self._node.hub.broadcast(subscribers, message)

    def _schedule(self) -> None:
        loop = asyncio.get_running_loop()
        self._heartbeat = loop.call_later(self._node.settings.heartbeat_s, self._beat)

    def _beat(self) -> None:
        """Ping everybody; close those that have been silent for too long."""
        self._heartbeat = None
        silent_s = MISSED_MAX * self._node.settings.heartbeat_s
        now = asyncio.get_running_loop().time()
        for session in list(self._sessions):
            if now - session.last_heard > silent_s:
                session.writer.abort(4003, "no pong")
        self._tell(PING)
        if self._sessions:
            self._schedule()

    def close_all(self) -> None:
        """The node leaves: send the sessions elsewhere, or ask them to come back."""
        if self._heartbeat is not None:
            self._heartbeat.cancel()
        view = self._node.view
        others = view is not None and len(view.members) > 1
        code, reason = (4001, "drained") if others else (1012, "restart")
        self._node.hub.flush()
        for session in list(self._sessions):
            session.writer.abort(code, reason)
