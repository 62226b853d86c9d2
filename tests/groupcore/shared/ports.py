"""A group port that a test plays by hand, and the events that it feeds."""

from __future__ import annotations

from groupcore.sequencing.events import Delivered, Enrolled, Joined, ServiceEvent, StateInstalled
from groupcore.sequencing.names import GroupId, Process
from groupcore.shared.group import Authorize, GroupUser, authorize_nothing
from groupcore.shared.messages import encode_operate
from groupcore.shared.pending import Wait
from groupcore.shared.tasks import wait
from groupcore.view import Address

GROUP = 7
ME = Process(Address("a", 1), 1)
OTHER = Process(Address("b", 1), 1)


class HandPort:
    """Keeps what is sent; the test decides what is delivered."""

    wait: Wait = staticmethod(wait)

    def __init__(self, process: Process = ME, principal: str = "") -> None:
        self._process = process
        self.principal = principal
        self.sent: list[bytes] = []
        self.given: list[tuple[int, bytes]] = []
        self.asked: list[str] = []
        self.time_s = 1000.0
        self.stands: Process | None = None
        self.authorize: Authorize = authorize_nothing

    def become(self, process: Process) -> None:
        """From now on it is another process."""
        self._process = process

    @property
    def group(self) -> GroupId:
        return GROUP

    @property
    def process(self) -> Process:
        return self._process

    @property
    def member(self) -> Process:
        return self.stands or self._process

    def now_s(self) -> float:
        return self.time_s

    def wake_at(self, at_s: float) -> None:
        self.asked.append(f"wake {at_s}")

    def join(self) -> None:
        self.asked.append("join")

    def leave(self, comes_back: bool = False) -> None:
        self.asked.append("leave")

    def send(self, payload: bytes) -> int:
        self.sent.append(payload)
        return len(self.sent)

    def authorization_of(self, text: bytes) -> bytes:
        return self.authorize("hand", text)

    def give_state(self, token: int, state: bytes) -> None:
        self.given.append((token, state))


def begin(user: GroupUser, *members: Process, own: Process = ME) -> None:
    """The group is new, and these processes join it one after the other."""
    feed(user, StateInstalled(GROUP, 0, None))
    for seqno, process in enumerate(members, 1):
        if process.node == own.node:
            feed(user, Enrolled(GROUP, seqno, process))
        feed(user, Joined(GROUP, seqno, process))


def feed(user: GroupUser, *events: ServiceEvent) -> list[object]:
    """Feed events one after the other; gives what the user says."""
    return [said for event in events for said in user.feed(event)]


def calls(*named: tuple[str, list[object]], stamp_ms: int = 0) -> bytes:
    """The message that calls these operations."""
    return encode_operate(stamp_ms, named)


def run(seqno: int, process: Process, first: int, *payloads: bytes) -> Delivered:
    """A run of messages."""
    return Delivered(GROUP, seqno, process, first, list(payloads))
