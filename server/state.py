"""The node's condition, as `/admin/status` and the sessions are told it."""

from __future__ import annotations

from enum import StrEnum


class State(StrEnum):
    """What the node can do for sessions now."""

    REBUILDING = "rebuilding"
    SERVING = "serving"
    STALE = "stale"
    READONLY = "readonly"
    DRAINING = "draining"
