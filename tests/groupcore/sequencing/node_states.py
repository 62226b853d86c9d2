"""What tests do with the state of a whole node."""

from __future__ import annotations

from groupcore.sequencing.node_state import Place, Taking
from groupcore.sequencing.plane import Plane


def take_node_state(plane: Plane, state: bytes) -> Place:
    """Become what the state says, at once; the place of its directory."""
    taking = Taking(plane, state)
    while not taking.step():
        pass
    return taking.finish()
