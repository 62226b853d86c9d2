"""A node that hears others but cannot open what they send has the wrong key, or the wrong name.

It would look for its cluster for ever. What does not open may also come from another cluster on
the same multicast address, or from somebody who has no key at all; so nothing is concluded while
a single node is known, and a node that has a view goes on and only says it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from server.errors import KeyProblem

logger = logging.getLogger("server")

LOOK_S = 1.0
PATIENCE_S = 8.0
CLOSED = ("forged", "unknown_key_epoch")
"""Why what others send is dropped where their key is not this node's."""
CLOSED_LEAST = 20
REMEDY = (
    "other nodes are heard, but nothing of theirs opens: all nodes of a cluster have the same "
    "--key-file and --cluster; another cluster needs another --multicast"
)

STRANGE = ("no_certificate", "has_certificate", "foreign_certificate")
"""Why it is dropped where they have certificates that are not good here, or this node's are not."""
STRANGE_REMEDY = (
    "other nodes are heard, but they have certificates of another operator, or none: all nodes of "
    "a cluster have the same --key-file and --operator-key, or none of them has; then they are of "
    "one user of one machine"
)


@dataclass(slots=True)
class KeyWatch:
    """Judges the channel's counters, second by second; `in_view` says whether there is a view."""

    since: float | None = None
    remedy: str = f"--key-file: {REMEDY}"
    told: bool = False

    def look(self, counters: Mapping[str, int], in_view: bool, now: float) -> bool:
        """Whether this node has to end because its key is not the others'."""
        closed, strange = _dropped(counters, CLOSED), _dropped(counters, STRANGE)
        if strange > closed:
            closed, self.remedy = strange, f"--key-file, --operator-key: {STRANGE_REMEDY}"
        if closed < CLOSED_LEAST or counters.get("transport.peers", 0) > 0:
            self.since = None
            return False
        if self.since is None:
            self.since = now
        if now - self.since < PATIENCE_S:
            return False
        if in_view and not self.told:
            logger.warning("%s", self.remedy)
            self.told = True
        return not in_view


async def watch_key(
    counters: Callable[[], Mapping[str, int]],
    in_view: Callable[[], bool],
    fail: Callable[[KeyProblem], None],
) -> None:
    """Look from time to time, until the node ends."""
    watch, loop = KeyWatch(), asyncio.get_running_loop()
    while True:
        await asyncio.sleep(LOOK_S)
        if watch.look(counters(), in_view(), loop.time()):
            fail(KeyProblem(watch.remedy))
            return


def _dropped(counters: Mapping[str, int], reasons: tuple[str, ...]) -> int:
    return sum(counters.get(f"transport.drops.{reason}", 0) for reason in reasons)
