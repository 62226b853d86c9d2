"""Operations that this node has taken and not yet seen in the order.

An operation stays here until it is delivered, so that nothing is lost when the node is excluded
with operations under way: on the next fresh view they are sent again, and the documents recognise
those that had been ordered by their client and number. While the channel cannot take them
(another primary, congestion) they wait, up to a bound.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from groupcore.errors import GroupcoreError, MessageTooLargeError

Key = tuple[str, str, int]
"""(document, client, operation number); a creation has an empty client."""


class Submissions:
    """The operations under way, in the order in which they were taken."""

    def __init__(self, send: Callable[[bytes], None], limit: int) -> None:
        self._send = send
        self._limit = limit
        self._waiting: dict[Key, bytes] = {}
        self._taken: dict[Key, float] = {}
        self._unsent: deque[Key] = deque()
        self._open = False

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, key: Key) -> bool:
        return key in self._waiting

    def add(self, key: Key, payload: bytes, now: float) -> bool:
        """Take an operation; False when too many wait. One that is under way is not sent twice."""
        if key in self._waiting:
            return True
        if len(self._waiting) >= self._limit:
            return False
        self._waiting[key] = payload
        self._taken[key] = now
        self._unsent.append(key)
        self._pump()
        return True

    def delivered(self, key: Key, now: float) -> float | None:
        """The operation has its place in the order: the seconds that took, None if not ours."""
        if self._waiting.pop(key, None) is None:
            return None
        return now - self._taken.pop(key)

    def set_open(self, value: bool) -> None:
        """Whether the channel takes operations now."""
        self._open = value
        self._pump()

    def send_all_again(self) -> None:
        """A new life of the channel: nothing of what was sent before counts."""
        self._unsent = deque(self._waiting)
        self._pump()

    def _pump(self) -> None:
        while self._open and self._unsent:
            key = self._unsent[0]
            payload = self._waiting.get(key)
            if payload is not None:
                try:
                    self._send(payload)
                except MessageTooLargeError:
                    del self._waiting[key], self._taken[key]
                except GroupcoreError:
                    # The channel says in an event when it is ready again.
                    self._open = False
                    return
            self._unsent.popleft()
