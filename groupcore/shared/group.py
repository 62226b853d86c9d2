"""What shared objects need beneath: a process in a group of the sequencing service.

The service's asyncio face gives it, and so does the test kit. Whoever implements it feeds the
service's events of the group to the `GroupUser`, in their order, one after the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol, TypeAlias

from groupcore.sequencing.events import ServiceEvent
from groupcore.sequencing.names import GroupId, Process
from groupcore.shared.events import SharedEvent
from groupcore.shared.pending import Pending, Wait

Authorize: TypeAlias = Callable[[str, bytes], bytes]
"""Gives a node's authorization of operations, by the object's name and the message; empty: none."""


def authorize_nothing(name: str, text: bytes) -> bytes:
    """Of a node that has nothing to show."""
    del name, text
    return b""


class GroupPort(Protocol):
    """One process in one group, and the runtime around it."""

    @property
    def group(self) -> GroupId:
        """The group's number."""

    @property
    def process(self) -> Process:
        """The process that sends."""

    @property
    def member(self) -> Process:
        """The process that is in the group: the one that sends, or its node's where that attends.

        What is said of who attends is in `groupcore.shared.standing`.
        """

    @property
    def principal(self) -> str:
        """On whose behalf it sends, as the program says; empty: nobody in particular."""

    @property
    def wait(self) -> Wait:
        """How a coroutine waits here."""

    def now_s(self) -> float:
        """Seconds since 1970 as of the program's start, and steady since then."""

    def wake_at(self, at_s: float) -> None:
        """Have `GroupUser.on_time` called at this time of `now_s`, in place of any time before."""

    def join(self) -> None:
        """Ask to be a member; `Joined` follows."""

    def leave(self, comes_back: bool = False) -> None:
        """Ask to be no member any more; `Departed` follows.

        `comes_back`: the user goes on, and may join again. Else the node's next life does not open
        it again, and who opens the object waits until this user is closed.
        """

    def send(self, payload: bytes) -> int:
        """Multicast to the group; gives the process's own number of the message, from 1.

        Raises RefusedError when it cannot be sent.
        """

    def authorization_of(self, text: bytes) -> bytes:
        """What lets this program's node do the operations in a message; empty: nothing does."""

    def give_state(self, token: int, state: bytes) -> None:
        """Answer `StateWanted`."""


class GroupUser(ABC):
    """What is fed a group's events: an object's replica, a topic, a presence."""

    __slots__ = ()
    closed: Pending[None]
    """Done when nothing more is done here."""

    @abstractmethod
    def open(self) -> Pending[object]:
        """Begin; gives what the program works with, once that is usable."""

    @abstractmethod
    def close(self) -> Pending[None]:
        """End; done when nothing more comes."""

    @abstractmethod
    def feed(self, event: ServiceEvent) -> list[SharedEvent]:
        """Take the next event of the group; gives what a program may want to know of it."""

    @abstractmethod
    def interrupt(self) -> None:
        """The cluster has gone on without this node: nothing can be sent before `restart`.

        What was under way is lost, or not: nobody knows.
        """

    @abstractmethod
    def restart(self) -> None:
        """Begin anew, behind an `interrupt`; the port has another process now."""

    @abstractmethod
    def end(self, error: Exception) -> None:
        """The node has ended: whoever waits here gets this error."""

    def on_time(self) -> None:
        """The time that was given to `wake_at` last has come; nothing to do for who never asks."""
        return
