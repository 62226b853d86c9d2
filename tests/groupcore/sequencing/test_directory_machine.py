"""The directory under any interleaving of commands and views (Hypothesis)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from groupcore.sequencing.commands import (
    Arrived,
    CancelMove,
    Command,
    CreateGroup,
    DeleteGroup,
    Drain,
    EndStream,
    EnterStrict,
    ExitStrict,
    LoadSample,
    Move,
    Moved,
    ObserveStrict,
    ReportLoad,
)
from groupcore.sequencing.directory import Directory
from groupcore.sequencing.directory_changes import (
    Change,
    CommandRefused,
    EntryAllowed,
    GroupCreated,
    GroupDeleted,
    MoveBegan,
    MoveCancelled,
    OwnerMoved,
    StreamEnded,
)
from groupcore.sequencing.directory_state import MoveState
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.placement import plan_balance
from groupcore.sequencing.placement_options import PlacementOptions
from groupcore.view import Address, View

NAMES = "abcd"
OPTIONS = PlacementOptions(strict_groups_max=6)
names = st.sampled_from(NAMES)
indexes = st.integers(0, 20)


class DirectoryMachine(RuleBasedStateMachine):
    """Two directories that are told the same, one of them restored now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = Directory(1, OPTIONS), Directory(1, OPTIONS)
        self.lives = dict.fromkeys(NAMES, 1)
        self.view_number = 0
        self.requests = 0
        self.epochs: dict[GroupId, int] = {}
        self.owners: dict[GroupId, Address] = {}
        self.asked: dict[tuple[Address, int], tuple[GroupId, Process]] = {}
        self.open_moves: dict[int, MoveBegan] = {}
        self.ended: set[Address] = set()
        self.arriving: set[Address] = set()

    # --- what happens -----------------------------------------------------------------------------

    @initialize(entries=st.lists(st.tuples(indexes, indexes), max_size=12))
    def begin(self, entries: list[tuple[int, int]]) -> None:
        self.install(NAMES[:3])
        for by in "abca":
            self.apply(CreateGroup(self.request(), "", Order.STRICT), by)
        for index, process in entries:
            self.enter(index, process)

    @rule(order=st.sampled_from(Order), by=names, name=st.sampled_from(["", "", "x", "y"]))
    def create(self, order: Order, by: str, name: str) -> None:
        self.apply(CreateGroup(self.request(), name, order), by)

    @rule(index=indexes, by=names)
    def delete(self, index: int, by: str) -> None:
        if len(self.one.entries) > 5:
            self.apply(DeleteGroup(self.request(), self.group(index)), by)

    @rule(index=indexes, process=indexes)
    def enter(self, index: int, process: int) -> None:
        group, entering, request = self.group(index), self.process(process), self.request()
        self.asked[entering.node, request] = group, entering
        self.apply(EnterStrict(request, group, entering), entering.node.name)

    @rule(index=indexes, process=indexes)
    def enter_another(self, index: int, process: int) -> None:
        self.enter(index, process)

    @rule(index=indexes, process=indexes)
    def observe(self, index: int, process: int) -> None:
        group, entering, request = self.group(index), self.process(process), self.request()
        counted = self.one.state.overlap.is_in(entering, group)
        components = self.one.state.overlap.components()
        self.asked[entering.node, request] = group, entering
        self.apply(ObserveStrict(request, group, entering), entering.node.name)
        assert self.one.state.overlap.is_in(entering, group) is counted
        assert self.one.state.overlap.components() == components

    @rule(index=indexes, process=indexes)
    def leave(self, index: int, process: int) -> None:
        leaving = self.process(process)
        self.apply(ExitStrict(self.group(index), leaving), leaving.node.name)

    @rule(given_indexes=st.lists(indexes, max_size=3), to=names, by=names, whole=st.booleans())
    def move(self, given_indexes: list[int], to: str, by: str, whole: bool) -> None:
        groups = [self.group(index) for index in given_indexes]
        if whole:
            groups = [unit for g in groups if g in self.one.entries for unit in self.unit(g)]
        self.apply(Move(self.request(), tuple(groups), self.address(to), "plan"), by)

    @rule(index=indexes, ahead=st.integers(-1, 3))
    def finish(self, index: int, ahead: int) -> None:
        if self.one.moves:
            number = sorted(self.one.moves)[index % len(self.one.moves)]
            move = self.one.moves[number]
            last = tuple(max(0, floor + ahead) for floor in self.floors(move))
            self.apply(Moved(number, move.groups, last), move.source.name)

    @rule(index=indexes)
    def finish_well(self, index: int) -> None:
        self.finish(index, 1)

    @rule(index=indexes, by=names)
    def cancel(self, index: int, by: str) -> None:
        self.apply(CancelMove(self.request(), index), by)

    @rule(
        given_names=st.sets(names, min_size=2),
        restarted=st.sets(names, max_size=1),
        lacking=st.sets(names, max_size=2),
    )
    def view(self, given_names: set[str], restarted: set[str], lacking: set[str]) -> None:
        former = set() if self.one.view is None else set(self.one.view.names)
        for name in sorted(restarted | (given_names - former)):
            self.lives[name] += 1  # whoever comes back comes as another life
        self.install(sorted(given_names), lacking)

    @rule(by=names)
    def arrive(self, by: str) -> None:
        self.apply(Arrived(), by)
        assert self.address(by) not in self.one.state.arriving

    @rule(by=names, holder=names, stream=indexes)
    def end_stream(self, by: str, holder: str, stream: int) -> None:
        due = self.one.ending_streams()
        if due:
            gone = due[stream % len(due)]
            self.apply(EndStream(gone, 9, self.address(holder), self.view_number), by)

    @rule(
        by=names,
        delay=st.integers(0, 50_000),
        loads=st.dictionaries(indexes, st.integers(0, 10**5)),
    )
    def report(self, by: str, delay: int, loads: dict[int, int]) -> None:
        samples = tuple(
            LoadSample(self.group(index), count, 100 * count, 3, {by: count})
            for index, count in loads.items()
        )
        self.apply(ReportLoad(delay, samples), by)

    @rule(traffic=st.lists(st.integers(0, 20_000), min_size=12, max_size=12), sender=names)
    def place(self, traffic: list[int], sender: str) -> None:
        """Reports that last, and what placement makes of them: the directory takes all of it."""
        for _ in range(OPTIONS.heavy_reports):
            for member in sorted(self.one.state.members):
                mine = [g for g, entry in self.one.entries.items() if entry.owner == member]
                samples = tuple(
                    LoadSample(g, traffic[g % 12], 0, 3, {sender: traffic[g % 12]}) for g in mine
                )
                self.apply(ReportLoad(0, samples), member.name)
        planned = plan_balance(self.one)
        assert planned == plan_balance(self.two)
        for move in planned:
            number = self.one.state.moves_given
            command = Move(self.request(), move.groups, move.target, move.reason)
            self.apply(command, min(self.one.state.members).name)
            assert self.one.moves[number + 1].groups == move.groups

    @rule(by=names, name=names, on=st.booleans())
    def drain(self, by: str, name: str, on: bool) -> None:
        self.apply(Drain(self.request(), name, on), by)

    @rule()
    def restore(self) -> None:
        self.two.restore(self.one.snapshot())

    def teardown(self) -> None:
        """All comes to rest when sources stop as they are told and streams end."""
        for _ in range(60):
            assert self.one.view is not None
            member = self.one.view.members[0]
            for number, move in list(self.one.moves.items()):
                if number in self.one.moves:
                    self.apply(Moved(number, move.groups, self.floors(move)), move.source.name)
            for gone in self.one.ending_streams():
                self.apply(EndStream(gone, 9, member, self.view_number), member.name)
            if not self.one.moves:
                break
        assert not self.one.moves
        assert not self.one.state.pending
        for component in self.one.state.overlap.components():
            assert self.one.state.settled_at(component) is not None

    # --- what must hold ---------------------------------------------------------------------------

    @invariant()
    def same_commands_same_fingerprint(self) -> None:
        assert self.one.fingerprint() == self.two.fingerprint()

    @invariant()
    def what_changes_say_is_what_the_directory_holds(self) -> None:
        entries = self.one.entries
        assert self.owners == {group: entry.owner for group, entry in entries.items()}
        assert self.epochs == {group: entry.epoch for group, entry in entries.items()}
        assert set(self.open_moves) == set(self.one.moves)
        assert self.one.names == {e.name: group for group, e in entries.items() if e.name}

    @invariant()
    def moves_and_entries_agree(self) -> None:
        moving = {g: number for number, move in self.one.moves.items() for g in move.groups}
        assert moving == {g: entry.move for g, entry in self.one.entries.items() if entry.move}
        for move in self.one.moves.values():
            assert {self.one.owner_of(group) for group in move.groups} == {move.source}
            assert move.source != move.target
            members = self.one.state.members
            assert move.target in members or move.source not in members

    @invariant()
    def a_component_has_one_owner_unless_an_entry_is_pending(self) -> None:
        state = self.one.state
        for component in state.overlap.components():
            pending = any(entry.group in component for entry in state.pending)
            owners = {state.entries[group].owner for group in component}
            moves = {state.entries[group].move for group in component}
            assert len(owners) == 1 or pending or owners - state.members
            assert len(moves) == 1 or pending  # it moves whole

    @invariant()
    def a_pending_entry_waits_for_something_that_will_come(self) -> None:
        state = self.one.state
        for entry in state.pending:
            component = [state.entries[group] for group in state.unit_of(entry.group)]
            assert any(e.move or e.owner not in state.members for e in component)

    @invariant()
    def loads_are_those_of_the_groups_by_home(self) -> None:
        state = self.one.state
        for name in NAMES:
            node = self.address(name)
            groups = [group for group in state.entries if state.home_of(group) == node]
            delay = OPTIONS.delay_penalty * state.loads.delays.get(node, 0)
            assert state.loads.node(node) == state.load_of(groups) + delay
            assert state.loads.count(node) == len(groups)

    # --- how it is told ---------------------------------------------------------------------------

    def install(self, given_names: Sequence[str], lacking: Collection[str] = ()) -> None:
        former = () if self.one.view is None else self.one.view.members
        members = tuple(self.address(name) for name in given_names)
        gone = [member for member in former if member not in members]
        self.view_number += 1
        view = View(self.view_number, 1, 0, 7, members)
        without = [member for member in members if member.name in lacking]
        changes = self.one.on_view(view, gone, without)
        assert changes == self.two.on_view(view, gone, without)
        arriving = set(self.one.state.arriving)
        assert arriving <= set(without) | self.arriving
        assert not arriving & set(former) - self.arriving, "who was there has the state"
        self.arriving = arriving
        self.note(changes)

    def apply(self, command: Command, by: str) -> None:
        before = self.one.fingerprint()
        changes = self.one.apply(command, self.address(by))
        assert changes == self.two.apply(command, self.address(by))
        if self.address(by) not in self.one.state.members:
            assert changes == []
            assert self.one.fingerprint() == before
        match changes:
            case [CommandRefused(code=code)] if code != "left":
                assert self.one.fingerprint() == before
        self.note(changes)

    def note(self, changes: Sequence[Change]) -> None:
        for change in changes:
            self.note_group(change)
            self.note_move(change)
            if isinstance(change, EntryAllowed):
                assert self.asked[change.by, change.request] == (change.group, change.process)
                tables = (self.one.state.overlap, self.one.state.observers)
                entries = [table.entry(change.process, change.group) for table in tables]
                newest = change.request in entries  # else it has been asked for again since
                asked = (change.process, change.group, change.request)
                assert self.one.has_entered(*asked) == newest
                if self.one.state.observers.is_in(change.process, change.group):
                    assert not self.one.state.overlap.is_in(change.process, change.group)
                    continue
                unit = self.unit(change.group)
                assert {self.one.owner_of(group) for group in unit} <= self.one.state.members
                assert self.one.state.settled_at(unit) is not None

    def note_group(self, change: Change) -> None:
        match change:
            case GroupCreated(again=False):
                assert change.group not in self.epochs
                self.may_be_given(change.owner)
                self.epochs[change.group], self.owners[change.group] = 1, change.owner
            case GroupDeleted():
                del self.epochs[change.group], self.owners[change.group]
            case OwnerMoved():
                for group, epoch in zip(change.groups, change.epochs, strict=True):
                    self.grow(group, epoch, change.source, change.target)
            case StreamEnded():
                assert change.stream not in self.ended  # once a stream
                self.ended.add(change.stream)
                rows = zip(change.groups, change.owners, change.epochs, strict=True)
                for group, owner, epoch in rows:
                    self.grow(group, epoch, change.stream, owner)
                assert change.stream not in self.owners.values()
            case _:
                return

    def grow(self, group: GroupId, epoch: int, former: Address, owner: Address) -> None:
        """One more epoch, from one owner to a live one."""
        assert self.owners[group] == former
        assert epoch == self.epochs[group] + 1
        self.may_be_given(owner)
        self.epochs[group], self.owners[group] = epoch, owner

    def may_be_given(self, owner: Address) -> None:
        """A member that has the state, where there is one."""
        state = self.one.state
        assert owner in state.members
        assert owner not in state.arriving or owner in state.candidates() or self.owns(owner)

    def owns(self, owner: Address) -> bool:
        """Whether it has groups, as there was nobody else: the rest of a component follows."""
        return owner in self.owners.values()

    def note_move(self, change: Change) -> None:
        match change:
            case MoveBegan():
                assert change.move not in self.open_moves
                assert {change.source, change.target} <= self.one.state.members
                self.open_moves[change.move] = change
            case OwnerMoved() | MoveCancelled():
                began = self.open_moves.pop(change.move)
                assert (began.groups, began.source) == (change.groups, change.source)
            case _:
                return

    def floors(self, move: MoveState) -> tuple[int, ...]:
        return tuple(self.one.entries[group].floor for group in move.groups)

    def address(self, name: str) -> Address:
        return Address(name, self.lives[name])

    def request(self) -> int:
        self.requests += 1
        return self.requests

    def group(self, index: int) -> GroupId:
        """Mostly one that is there."""
        groups = sorted(self.one.entries)
        return groups[index % len(groups)] if groups and index < 20 else 999

    def process(self, index: int) -> Process:
        """One of few, mostly of the view."""
        assert self.one.view is not None
        members = self.one.view.members
        node = members[index % len(members)] if index < 19 else self.address("d")
        return Process(node, 1 + index // 7)

    def unit(self, group: GroupId) -> tuple[GroupId, ...]:
        return self.one.state.unit_of(group)


class LongerMachine(DirectoryMachine):
    """The same for longer."""


TestDirectory = DirectoryMachine.TestCase
TestDirectory.settings = settings(max_examples=10, stateful_step_count=30, deadline=None)
TestDirectoryForLonger = pytest.mark.slow(LongerMachine.TestCase)
TestDirectoryForLonger.settings = settings(max_examples=150, stateful_step_count=50, deadline=None)
