"""The settings of STATE_TRANSFER."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StateTransferOptions:
    """Sizes in bytes, times in seconds.

    At most `window_chunks` chunks are on their way to one taker, of `chunk_bytes` at most: a slow
    link gets smaller ones. A provider from
    whom nothing comes for `silence_s` is given up. `copies`: how many make a copy, so that another
    can go on exactly where one has stopped. `separate_bytes`: from this size on a state is given
    on a connection of its own where that is left open.
    """

    chunk_bytes: int = 59_000
    window_chunks: int = 2
    silence_s: float = 1.0
    copies: int = 1
    separate_bytes: int = 1 << 20
