"""What an operator does at the management address, in the audit log."""

from __future__ import annotations

from server.accounts.roles import ADMIN
from server.errors import BadMessageError
from server.node import Node
from server.routes.gate import MANAGEMENT


def note_soon(node: Node, what: str, about: str, by: str = ADMIN, origin: str = MANAGEMENT) -> None:
    """Have it written down. Nobody waits for that: a node that is cut off may be told to leave."""
    try:
        node.files.accounts.note(by, what, about, origin)
    except BadMessageError:
        return  # it is in no cluster yet, so there is no log to write to
