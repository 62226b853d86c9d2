"""The insider: a member with the key whose program orders bytes that are none, and wrong commands.

It puts garbage into the control plane's order, commands that can be read and cannot be done,
frames into its own stream that nobody can read, and messages to groups that no application
understands. It does not lie where only an identity of its own could be held against it: it gives no
numbers away that others have, and names nothing that never comes.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Protocol

from groupcore.batch import Batch, pack_messages
from groupcore.sequencing.commands import (
    PREFIX,
    CancelMove,
    Command,
    CreateGroup,
    Drain,
    EndStream,
    EnterStrict,
    ExitStrict,
    Inherit,
    LoadSample,
    Move,
    Moved,
    ReportLoad,
    ReportTies,
    Tell,
    Tie,
    encode_command,
)
from groupcore.sequencing.headers import Accept, pack_column
from groupcore.sequencing.names import BEGINNING, SEQNO_MAX, Process
from groupcore.sim.clock import MILLISECOND, Clock
from groupcore.sim.fault import Fault
from groupcore.sim.messages import content_hash
from groupcore.sim.trace import Trace
from groupcore.sim.trace_groups import GroupSent, flatten_process
from groupcore.view import Address

if TYPE_CHECKING:
    from groupcore.sequencing.plane import Plane
    from groupcore.sequencing.service import Service
    from groupcore.sim.groups.life import Life

INSIDER = "insider"
"""The fault: for its duration the node says something wrong each `factor` milliseconds."""
AT_ONCE_MAX = 3
NO_GROUP = 1 << 40
"""A number that no directory comes to."""
MOST = (1 << 64) - 1
FOUR_BYTES = PREFIX + b"\x92\x90\x00"
WRONG_VALUES = (b"\x90", b"\xc0", b"\xff", b"\xcf" + b"\xff" * 8, b"\xa1x", b"\xc4\x01x", b"\x80")


class Mouth(Protocol):
    """What the insider speaks through: its node's host."""

    def ask(self, call: Callable[[float], object]) -> None:
        """Have this done in the node's next turn, if it has a life."""

    @property
    def speaker(self) -> Life | None:
        """The present life, while it is in a view."""


class Insider:
    """One node's; all chance is `random`'s."""

    def __init__(self, clock: Clock, random: Random, mouth: Mouth, trace: Trace) -> None:
        self._clock = clock
        self._trace = trace
        self._random = random
        self._mouth = mouth
        self._until_ns = 0

    def begin(self, fault: Fault) -> None:
        """Speak from now on, until the fault ends."""
        is_busy = self._clock.now_ns < self._until_ns
        self._until_ns = max(self._until_ns, self._clock.now_ns + fault.duration_ns)
        if not is_busy:
            self._speak(fault.factor * MILLISECOND)

    def heal(self) -> None:
        """Say nothing wrong any more."""
        self._until_ns = 0

    def _speak(self, every_ns: int) -> None:
        if self._clock.now_ns >= self._until_ns:
            return
        life, random = self._mouth.speaker, self._random
        if life is not None:
            service, kind, count = life.service, random.randrange(8), random.randint(1, AT_ONCE_MAX)
            if kind < 6:
                wrong = [self._command(service.plane) for _ in range(count)]
                self._mouth.ask(lambda now: order(service, wrong))
            elif kind == 6:
                self._mouth.ask(lambda now: put_frames(service, count))
            else:
                self._say_nonsense(life)
        self._clock.after(int(random.expovariate(1 / every_ns)) + 1, self._speak, every_ns)

    def _say_nonsense(self, life: Life) -> None:
        """One of its processes sends bytes to a group that mean nothing there."""
        groups = sorted(set(life.ids.values()) - life.volatile)
        if not groups or not life.processes:
            return
        process, group = self._random.choice(life.processes), self._random.choice(groups)
        payload = self._random.randbytes(self._random.randint(0, 60))

        def send(now: float) -> None:
            if process not in life.processes or group not in life.service.plane.records:
                return
            number = life.sent.get((process, group), 0) + 1
            flat, h = flatten_process(process), content_hash(payload)
            self._trace.add(GroupSent(self._clock.now_ns, flat, group, number, h))
            life.sent[process, group] = number
            life.service.send(process, group, [payload], now)

        self._mouth.ask(send)

    def _command(self, plane: Plane) -> bytes:
        random = self._random
        wrong = encode_command(random.choice(wrong_commands(plane, random)))
        match random.randrange(5):
            case 0:
                return FOUR_BYTES
            case 1:
                return PREFIX + random.randbytes(random.randint(0, 40))
            case 2:
                return _spoilt(wrong, random)
            case _:
                return wrong


def order(service: Service, commands: list[bytes]) -> None:
    """Put these bytes into the control plane's order."""
    service.idle.end()
    service.plane.commands += commands


def put_frames(service: Service, count: int) -> None:
    """Frames of which the columns do not fit: they are in its stream like any others."""
    plane = service.plane
    if not plane.ready or plane.numbers_nothing:
        return
    service.idle.end()
    for _ in range(count):
        columns = (
            pack_column([1, 2]),
            pack_column([1, SEQNO_MAX]),
            b"\x00" * 16,
            pack_column([0, 9]),
        )
        accept = Accept(
            plane.own.received + 1,
            plane.view_number,
            BEGINNING,
            (plane.me,),
            b"",
            b"",
            pack_column([1, 2, 1, 0]),
            *columns,
        )
        batch = Batch(plane.me, None, (accept,), pack_messages([b"x"]), 1)
        plane.own.append(batch)
        plane.sends.append(batch)


def wrong_commands(plane: Plane, random: Random) -> list[Command]:
    """Commands that can be read, and that no directory does anything for."""
    members = sorted(plane.directory.state.members) or [plane.me]
    member, nobody = random.choice(members), Address("nobody", random.randint(0, MOST))
    process = Process(nobody, random.randint(0, MOST))
    request = (1 << 60) + random.randrange(1 << 32)
    return [
        CreateGroup(request, "wrong", random.randint(4, MOST)),
        Move(request, (), member, "wrong"),
        Move(request, (NO_GROUP, MOST), member, "wrong"),
        Move(request, (1, 2, 3), nobody, ""),
        Moved(random.randint(1 << 40, MOST), (1, 2), (SEQNO_MAX, 0)),
        CancelMove(request, random.randint(1 << 40, MOST)),
        EndStream(member, SEQNO_MAX, member, 1),
        EndStream(nobody, 1, member, MOST),
        Inherit((NO_GROUP, MOST)),
        Drain(request, "nobody", True),
        EnterStrict(request, NO_GROUP, Process(member, 1)),
        EnterStrict(request, 1, process),
        ExitStrict(NO_GROUP, process),
        ReportLoad(MOST, (LoadSample(NO_GROUP, MOST, MOST, MOST, {"": MOST, "x": MOST}),)),
        ReportTies((Tie(NO_GROUP, MOST, MOST), Tie(MOST, 1, MOST), Tie(1, 1, MOST))),
        Tell("", random.randbytes(20)),
        Tell("keys", random.randbytes(20)),
    ]


def _spoilt(command: bytes, random: Random) -> bytes:
    """With a value of another type at some place, or cut off."""
    at = random.randrange(1, len(command))
    if random.random() < 0.3:
        return command[:at]
    return command[:at] + random.choice(WRONG_VALUES) + command[at + 1 :]
