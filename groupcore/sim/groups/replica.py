"""What a node's application has of a group: the messages in order, and who is in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgpack import packb, unpackb

from groupcore.sim.trace_groups import GroupProcess, group_state_hash

Message = tuple[GroupProcess, int, int]
"""Sender, the sender's own number in the group, hash of the content."""


@dataclass(slots=True)
class Replica:
    """A group's state as of number `seqno`, and its members as far as they are known here."""

    seqno: int = 0
    messages: list[Message] = field(default_factory=list)
    members: set[GroupProcess] = field(default_factory=set)

    def fingerprint(self) -> str:
        """The hash of the state."""
        return group_state_hash(self.messages)

    def encode(self) -> bytes:
        """The state as bytes, for another node."""
        packed: bytes = packb([self.seqno, self.messages, sorted(self.members)])
        return packed


def decode(state: bytes) -> Replica:
    """The replica that these bytes say."""
    seqno, messages, members = unpackb(state)
    return Replica(
        seqno,
        [(_process(process), number, h) for process, number, h in messages],
        {_process(process) for process in members},
    )


def _process(value: list[object]) -> GroupProcess:
    name, incarnation, number = value
    assert isinstance(name, str)
    assert isinstance(incarnation, int)
    assert isinstance(number, int)
    return (name, incarnation, number)
