"""The protocol's limits, told to every client in `welcome`."""

from __future__ import annotations

from groupcore.objects.changes import DEFAULT_LIMITS

FRAME_MESSAGES_MAX = 64
"""Most messages in a frame, both ways."""

FRAME_BYTES_SENT = 1_000_000
"""Messages are joined into frames up to this; a larger message stands alone."""

CHANGES_MAX = DEFAULT_LIMITS.changes
"""Most changes in a transaction."""

BLOCK_TEXT_MAX = DEFAULT_LIMITS.block_text
"""Most code points in a block."""

BLOCKS_MAX = DEFAULT_LIMITS.blocks
"""Most blocks in a document."""

NESTING_MAX = 8
"""Deepest nesting of arrays and maps in a frame, the frame itself included."""

ITEMS_MAX = 200_000
"""Most items in one array or map of a frame."""

TITLE_MAX = DEFAULT_LIMITS.title
"""Most code points in a title."""

NAME_MAX = 80
"""Most code points in a display name."""

SUBMIT_BYTES_MAX = 900_000
"""Largest transaction that is ordered: its update must fit a frame."""

CREATE_BYTES_MAX = 8_000_000
"""Largest new document that is ordered: an imported one of 4 MiB with its block headers."""

INTEGER_MAX = 2**53 - 1
"""Largest integer: what a browser holds exactly."""
