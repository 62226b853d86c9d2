"""What the tests of the directory share: three nodes, and short ways to say commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from groupcore.sequencing.commands import (
    CreateGroup,
    EndStream,
    EnterStrict,
    LoadSample,
    Move,
    Moved,
    ReportLoad,
)
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.directory_changes import Change, CommandRefused, GroupCreated, MoveBegan
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.placement_options import PlacementOptions
from groupcore.view import Address, View

NODES = A, B, C, D = tuple(Address(name, 1) for name in "abcd")
P, Q, R, S = tuple(Process(node, 7) for node in NODES)
"""One process on each node."""

Traffic = dict[GroupId, tuple[int, str]]
"""Messages a second of each group, and which node sends nine tenths of them."""
SMOOTH = 40
"""After so many equal reports the smoothed loads are those of the reports."""

T = TypeVar("T", bound=Change)


def view(number: int, *members: Address) -> View:
    return View(number, 1, 0, 7, members)


def directory(*members: Address, options: PlacementOptions | None = None) -> Directory:
    """A directory in its first view, of these members (default: A, B, C)."""
    made = Directory(1, options or PlacementOptions())
    assert made.on_view(view(1, *(members or (A, B, C))), []) == []
    return made


def only(changes: Sequence[Change], kind: type[T]) -> T:
    """The only change, of this kind."""
    (change,) = changes
    assert isinstance(change, kind), change
    return change


def refusal(changes: Sequence[Change]) -> str:
    """The code with which a command was refused."""
    return only(changes, CommandRefused).code


def create(
    made: Directory, by: Address = A, order: Order = Order.CAUSALLY_TOTAL, name: str = ""
) -> GroupId:
    """A new group, at its creator's node as long as no load speaks against it."""
    return only(made.apply(CreateGroup(1, name, order), by), GroupCreated).group


def strict(made: Directory, by: Address, *processes: Process) -> GroupId:
    """A new strict group of `by` with these processes, which may all join at once."""
    group = create(made, by, Order.STRICT)
    for process in processes:
        made.apply(EnterStrict(2, group, process), process.node)
    return group


def begin(made: Directory, groups: tuple[GroupId, ...], target: Address, by: Address = A) -> int:
    """The number of a move that begins."""
    return only(made.apply(Move(3, groups, target, "plan"), by), MoveBegan).move


def finish(made: Directory, move: int, last: int = 10) -> list[Change]:
    """The source has stopped, all its groups at number `last`."""
    state = made.moves[move]
    return made.apply(Moved(move, state.groups, (last,) * len(state.groups)), state.source)


def end(
    made: Directory, stream: Address, holder: Address, by: Address | None = None
) -> list[Change]:
    """The stream's end is said in the present view."""
    assert made.view is not None
    return made.apply(EndStream(stream, 50, holder, made.view.number), by or holder)


def load(made: Directory, by: Address, **samples: int) -> None:
    """`by` reports `g<number>=<messages a second>` of its groups, all sent by itself."""
    given = tuple(
        LoadSample(int(name[1:]), messages, 100 * messages, 3, {by.name: messages})
        for name, messages in samples.items()
    )
    for _ in range(SMOOTH):
        made.apply(ReportLoad(0, given), by)


def report(
    made: Directory,
    traffic: Traffic,
    delays: dict[Address, int] | None = None,
    times: int = 1,
) -> None:
    """Every node reports what it sequences."""
    assert made.view is not None
    for _ in range(times):
        _report_once(made, traffic, delays or {})


def _report_once(made: Directory, traffic: Traffic, delays: dict[Address, int]) -> None:
    assert made.view is not None
    for node in made.view.members:
        samples = tuple(
            LoadSample(group, count, 100 * count, 3, {sender: 9 * count // 10, "z": count // 10})
            for group, (count, sender) in traffic.items()
            if made.owner_of(group) == node and count
        )
        made.apply(ReportLoad(delays.get(node, 0), samples), node)
