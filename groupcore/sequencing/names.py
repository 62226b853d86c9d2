"""What the service calls things: groups, processes, messages, and the orders to choose from."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from groupcore.view import Address

NAME_MAX = 64
"""Longest name of a group, or of a node, in characters."""
SEQNO_MAX = (1 << 62) - 1
"""No group and no stream comes to a higher number; there is room for what is counted from there."""
GroupId = int
"""A group's number, given by the directory when it is created; 64 bits, never used again."""


class Process(NamedTuple):
    """An endpoint that sends and is given messages; `number` is its node's own, from 1."""

    node: Address
    number: int

    def __str__(self) -> str:
        return f"{self.node}/{self.number}"


class MessageId(NamedTuple):
    """Which message: the `number`-th that `process` sends to a group, from 1 (paper, section 4)."""

    process: Process
    number: int


class Place(NamedTuple):
    """A place in the control plane's order: so many commands after the install of a view.

    Equal at all nodes, and greater is later. Commands that a power cut has taken with it are before
    every place of a later view.
    """

    view: int
    commands: int


BEGINNING = Place(0, 0)
"""The place before everything: what names it rests on nothing of the order."""


class Order(IntEnum):
    """What a group's creator asks for.

    CAUSALLY_TOTAL: one order per group, causal across groups (CT1, CT2). STRICT: groups that share
    two or more processes are one order as well (T1, T2, S2). FIFO: one order per group and nothing
    across groups. VOLATILE: no order and no repair, the latest of each sender wins.
    """

    CAUSALLY_TOTAL = 0
    STRICT = 1
    FIFO = 2
    VOLATILE = 3
