"""How far a node's log goes: what of the control plane's order, and which view last."""

from __future__ import annotations

from typing import NamedTuple


class LogEnd(NamedTuple):
    """How far a log goes: in the control plane's order, and the last view in it; 0 for no log.

    Of two ends of one chain the greater one's log has everything that the other one has.
    """

    epoch: int = 0
    position: int = 0
    view: int = 0


NO_LOG = LogEnd()
"""Before everything, and what every node has where there are no logs."""
