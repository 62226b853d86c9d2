"""The protocol's limits and times; the page needs them, too, and is told in `welcome`."""

from __future__ import annotations

from groupcore.frames import FrameRules
from groupcore.sequencing.names import NAME_MAX as GROUP_NAME_MAX

PROTOCOL = "groupcore.objects.v1"
SCOPE_KEY = "groupcore.fanout"
"""Where a server puts a connection's `Writer` among the extensions of the ASGI scope."""
VERSION = 1

FRAME_BYTES_MAX = 256 * 1024
"""Largest frame from a browser."""
FRAME_BYTES_SENT = 1_000_000
"""Messages to a browser are joined up to this; a larger one stands alone."""
RULES = FrameRules(messages_max=64, items_max=100_000, nesting_max=40, rich=True)

OBJECTS_MAX = 512
"""Most objects that a session has open: what a page shows of a document, with margins."""
PARTS_MAX = 4_096
"""Most parts of an object, by a program's own interest, that a page sees at once."""
OPENINGS_PER_TURN = 16
"""Most objects that sessions begin to open or to close in one turn of the loop."""
INSPECTED_S = 0.4
"""Least time between two looks of a session at what is behind its objects."""
CALLS_MAX = 64
"""Most calls of a session that are not answered; as many as an object remembers of a client."""
NAME_MAX = GROUP_NAME_MAX
"""Most characters of an object's name: it is that of its group."""

CONGESTED_BYTES = 64 * 1024
"""With so much unwritten a session is given no changes; it gets them, or the state, later."""
OUTBOX_BYTES_MAX = 4 << 20
"""With so much unwritten it is cut off."""
LAG_S_MAX = 30.0
"""After so long it is cut off, too."""

HISTORY_BYTES_MAX = 256 * 1024
"""Changes of an object that are kept for those who come back."""
HISTORY_MAX = 1_000
"""Most messages of changes that are kept of one object."""

FLUSH_S = 0.005
"""Least time between two writes to the sessions."""
HEARTBEAT_S = 15.0
LINGER_S = 15.0
"""How long a session waits for its page to come back: its locks are its own meanwhile."""
HELLO_S = 10.0
SESSIONS_MAX = 10_000
"""Most sessions of a gateway."""
RATE = 200.0
"""Messages a second that a session may send lasting; above it, it is closed."""
BURST = 1_000
"""Messages that a session may send at once: all its objects, and its calls, after a reconnect."""
CATCH_UP_S = 5.0
"""How long an `open` waits until this node is as far as the page was."""
TRY_AGAIN = 1013
"""Closes the connection of who comes to a node that is not ready; see `retry_reason`."""
RETRY_MS = 1_000
"""After so long such a page may try the same node again."""
SERVING = "serving"
"""The condition of a node of which pages are told nothing: it does all that they ask."""


def retry_reason(delay_ms: int = RETRY_MS) -> str:
    """What a close frame with `TRY_AGAIN` says: when to come again."""
    return f'{{"retry_after_ms": {delay_ms}}}'
