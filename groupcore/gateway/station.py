"""The node that a gateway serves pages at, as the gateway sees it.

A `groupcore.aio.Node` is one, and so is the program of a simulated node.
"""

from __future__ import annotations

from typing import Protocol

from groupcore.sequencing.service import Service
from groupcore.shared.runtime import Runtime
from groupcore.shared.session import Session
from groupcore.view import View


class Station(Protocol):
    """One node, in whichever of its lives."""

    @property
    def node_id(self) -> str:
        """The name of the node."""

    @property
    def runtime(self) -> Runtime:
        """What runs coroutines and timers there."""

    @property
    def is_durable(self) -> bool:
        """Whether what is saved there survives the loss of all nodes."""

    @property
    def is_congested(self) -> bool:
        """Whether too much of what the node sends has not been accepted by the order."""

    @property
    def queued_bytes(self) -> int:
        """How much of the log is not on the disk yet."""

    @property
    def view(self) -> View | None:
        """The view that the node is in; None while it is in none."""

    @property
    def is_primary(self) -> bool:
        """Whether that is the primary view."""

    @property
    def service(self) -> Service | None:
        """The sequencing service of the present life; None outside the cluster."""

    def session(self, principal: str = "", *, attends: bool = False) -> Session:
        """Another process of the node; ClosedError, ChannelClosedError."""
