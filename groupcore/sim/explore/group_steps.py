"""What can happen next to three nodes of the data plane, and what becomes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from groupcore.sequencing.names import Process
from groupcore.sim.checkers import GROUP_CHECKERS, Violation, check_all
from groupcore.sim.explore.group_scopes import GroupAction, GroupScope
from groupcore.sim.explore.group_turning import GroupTurning
from groupcore.sim.explore.group_world import Alive, GroupNodeState, GroupState
from groupcore.sim.explore.keying import EPOCH_S
from groupcore.sim.explore.steps import Step
from groupcore.sim.trace import HEALED, Ended, Happened, Record, Trace
from groupcore.sim.trace_groups import GroupEnd

BEGINNING_MAX = 5_000
"""Steps in which a scope must have come to its beginning."""


class GroupWorld:
    """The rules of one scope. `in_place`: who goes one way only looks at no former state again, so
    nothing is copied, and no state has a key."""

    def __init__(self, scope: GroupScope, *, in_place: bool = False) -> None:
        self.scope = scope
        self.name = scope.name
        self.in_place = in_place

    def begin(self) -> GroupState:
        """All run in one view, the groups are there with their members; nothing is on its way."""
        scope = self.scope
        nodes = tuple(GroupNodeState(number) for number in range(scope.nodes))
        turning = GroupTurning(scope, GroupState(nodes, EPOCH_S))
        processes = [turning.start(number) for number in range(scope.nodes)]
        turning.copied.update(range(scope.nodes))
        turning.install(tuple(node.address for node in turning.nodes))
        self._settle(turning)
        for index, owner in enumerate(scope.owners):
            self._create(turning, index, owner)
            self._settle(turning)
        for index, members in enumerate(scope.members):
            observers = scope.observers[index] if scope.observers else ()
            for member in members:
                self._join(turning, processes[member], index, member in observers)
                self._settle(turning)
        state = turning.finish()
        return replace(
            state, budget=scope.budget, todo=frozenset(range(len(scope.script))), stuck=False
        )

    def _create(self, turning: GroupTurning, index: int, owner: int) -> None:
        alive = turning.nodes[owner].alive
        assert alive is not None
        life, order = alive.life, self.scope.orders[index]

        def create(service: object) -> None:
            assert service is life.service
            life.asked[life.service.create(f"g{index}", order, turning.now)] = index

        turning.turn(owner, create)

    def _join(
        self, turning: GroupTurning, process: Process, index: int, observes: bool = False
    ) -> None:
        number = next(node.number for node in turning.nodes if node.address == process.node)
        turning.ask_join(number, process, index + 1, observes)

    def _settle(self, turning: GroupTurning) -> None:
        """Let everything happen in one order, until every frame is stable."""
        for _ in range(BEGINNING_MAX):
            state = turning.so_far()
            if state.links:
                turning.deliver(min(state.links))
                continue
            for node, _alive in state.living():
                if node.asked:
                    turning.agree(node.number)
                elif node.taken < len(turning.order):
                    turning.take(node.number)
                else:
                    continue
                break
            else:
                if self._is_stable(state):
                    return
                turning.pass_time(self._is_stable if self.in_place else lambda _: False)
                turning.stuck = False
        raise AssertionError(f"{self.name} does not come to its beginning")

    def _is_stable(self, state: GroupState) -> bool:
        """Whether all is settled, and every frame stable."""
        return self.is_settled(state) and all(
            stream.kept_bytes == 0 and stream.stable == stream.received
            for _, alive in state.living()
            for stream in alive.service.plane.streams.values()
        )

    # --- what can happen --------------------------------------------------------------------------

    def steps(self, state: GroupState) -> list[Step]:
        """Every step that can be taken, in a fixed order."""
        links = sorted(state.links.items())
        found = [Step("deliver", link[1], link, queue[0].key) for link, queue in links]
        for node, _ in state.living():
            if node.taken < len(state.order):
                found.append(Step("take", node.number, None, node.taken))
            if node.asked and not state.said:  # where a node is `late` none is left here
                found.append(Step("agree", node.number))
        found += [
            Step("do", self.scope.script[index].node, None, index)
            for index in sorted(state.todo)
            if self._may_do(state, index)
        ]
        if state.budget.losses:
            found += [Step("lose", -1, link, queue[0].key) for link, queue in links]
        if state.budget.crashes:
            found += self._crashes(state)
        if state.view_is_due():
            found += self._view_change(state)
        if state.idle and not state.stuck and not self.is_settled(state):
            found.append(Step("time"))
        if self.scope.late >= 0:
            found.sort(key=lambda step: step.kind == "take")  # what is late comes late first of all
        return found

    def _view_change(self, state: GroupState) -> Iterator[Step]:
        """Who runs is stopped, one after the other; the view comes when all have its cut."""
        said = dict(state.said)
        for node, _ in state.living():
            if node.number not in said:
                yield Step("stop", node.number)
        cut = state.cut()
        if cut is not None and all(
            node.taken == len(state.order) and alive.service.has_streams(cut.streams)
            for node, alive in state.living()
        ):
            yield Step("view")

    def _may_do(self, state: GroupState, index: int) -> bool:
        action = self.scope.script[index]
        alive = state.nodes[action.node].alive
        if alive is None or any(earlier in state.todo for earlier in action.after):
            return False
        if action.kind in ("join", "observe", "leave"):
            return _may_ask(alive, action)
        if action.caused < 0:
            return action.kind != "send" or action.groups[0] + 1 in alive.service.plane.records
        cause = self.scope.script[action.caused]
        group = cause.groups[0] + 1
        replica = alive.life.replicas.get(group)
        return replica is not None and bool(replica.messages)

    def _crashes(self, state: GroupState) -> Iterator[Step]:
        """With and without what the node has on its way to each other node.

        The next one crashes when the view is there that follows the last crash, and only where the
        others can go on.
        """
        if state.view_is_due():
            return
        for number in self.scope.may_crash:
            others = [node.address.name for node, _ in state.living() if node.number != number]
            if state.nodes[number].alive is None or (
                state.view is not None and not state.view.is_quorum(others)
            ):
                continue
            targets = [link[1] for link in sorted(state.links) if link[0] == number]
            for count in range(len(targets) + 1):
                for unsent in combinations(targets, count):
                    yield Step("crash", number, None, unsent)

    def is_settled(self, state: GroupState) -> bool:
        """Whether all that was sent has been given to all who run, and its senders know."""
        if not state.idle:
            return False
        living = state.living()
        for node, alive in living:
            service, life = alive.service, alive.life
            if service.sender.outstanding or life.unaccepted() or service.plane.directory.moves:
                return False
            if service.joining._wishes or service.joining._settling:
                return False
            if service.plane.directory.ending_streams():
                return False
            for other, others in living:
                if other.number > node.number and not _agree(alive, others):
                    return False
        if self.in_place and not _has_all_frames(living):
            return False
        return all(
            any(alive.service.sequencer.ownership.active(group) for _, alive in living)
            for group in living[0][1].service.plane.records
        )

    def can_go_on(self, state: GroupState) -> bool:
        """Whether those who run are a quorum."""
        return 2 * len(state.living()) > self.scope.nodes

    def is_end(self, state: GroupState, steps: list[Step]) -> bool:
        """Whether nothing more happens by itself."""
        return state.stuck or self.is_settled(state)

    def judge(self, state: GroupState) -> list[Violation]:
        """The checkers' word on the history, and on what everybody has."""
        records = state.past.records()
        t = len(records)
        ends: list[Record] = [Happened(t, HEALED, "")]
        for node, alive in state.living():
            view = alive.service.plane.view
            assert view is not None
            ends.append(
                Ended(t, *node.address, view.number, view.lineage, view.members, True, 1, 0, "")
            )
            for group, replica in sorted(alive.life.replicas.items()):
                seqno, sh = replica.seqno, replica.fingerprint()
                ends.append(GroupEnd(t, *node.address, group, seqno, sh))
        return check_all(Trace([*records, *ends]), GROUP_CHECKERS)

    # --- what becomes of it -----------------------------------------------------------------------

    def apply(self, state: GroupState, step: Step) -> tuple[GroupState, frozenset[int]]:
        """The next state, and which nodes it depends on or differs in."""
        turning = GroupTurning(self.scope, state)
        if self.in_place:
            turning.copied.update(range(self.scope.nodes))
        touched: set[int] = set()
        match step:
            case Step("deliver", _, (source, target)):
                touched.add(source)  # what it sends next may ride on what is left on the link
                turning.deliver((source, target))
            case Step("lose", _, (source, target)):
                turning.lose((source, target))
            case Step("take", number):
                turning.take(number)
            case Step("agree", number):
                turning.agree(number)
            case Step("crash", number, _, tuple(unsent)):
                turning.crash(number, unsent)
            case Step("stop", number):
                turning.stop(number)
            case Step("view"):
                turning.install(tuple(node.address for node, _ in state.living()))
            case Step("do", _, _, int(index)):
                self._do(turning, index)
            case Step("time"):
                turning.pass_time(self.is_settled)
            case _:
                raise AssertionError(f"no such step: {step}")
        if self.scope.late >= 0:
            turning.hasten(self.scope.late)
        if self.in_place:
            return turning.so_far(), frozenset()
        return turning.finish(), frozenset(turning.opened | touched)

    def _do(self, turning: GroupTurning, index: int) -> None:
        action = self.scope.script[index]
        turning.todo = turning.todo - {index}
        groups = tuple(group + 1 for group in action.groups)
        match action.kind:
            case "send":
                turning.send(action.node, action.groups[0])
            case "join" | "observe" | "leave":
                alive = turning.nodes[action.node].alive
                assert alive is not None
                process = alive.life.processes[0]
                if action.kind == "leave":
                    turning.ask_leave(action.node, process, groups[0])
                else:
                    observes = action.kind == "observe"
                    turning.ask_join(action.node, process, groups[0], observes)
            case "delete":
                turning.delete(action.node, groups[0])
            case "move":
                target = turning.nodes[action.target].address
                turning.turn(
                    action.node,
                    lambda service: _ignore(service.move(groups, target, "plan", turning.now)),
                )
            case _:
                raise AssertionError(f"no such action: {action}")


def _may_ask(alive: Alive, action: GroupAction) -> bool:
    """Whether the node's process may ask for this now: no call is refused at once."""
    service, (process, *_) = alive.service, alive.life.processes
    key = (process, action.groups[0] + 1)
    record = service.plane.records.get(key[1])
    if record is None:
        return False
    wish = service.joining._wishes.get(key)
    inside = process in record.members or key in service.joining._settling
    if action.kind == "leave":
        return not wish.leaving if wish is not None else inside
    return wish is None and not inside


def _has_all_frames(living: list[tuple[GroupNodeState, Alive]]) -> bool:
    """Whether every node has recorded what any of them has put into its stream.

    Scopes that are explored whole do without: where a LEAVE of who is gone is lost, and nothing
    else is outstanding, they end before it has come again.
    """
    ends = {node.address: alive.service.plane.own.received for node, alive in living}
    return all(
        alive.service.plane.stream(address).recorded == end
        for _, alive in living
        for address, end in ends.items()
    )


def _agree(one: Alive, other: Alive) -> bool:
    """Whether two nodes have the same of the groups that both have."""
    for group, replica in one.life.replicas.items():
        others = other.life.replicas.get(group)
        if others is not None and (
            (others.seqno, others.messages) != (replica.seqno, replica.messages)
        ):
            return False
    return True


def _ignore(request: int) -> None:
    """The answer to a request is an event."""
    del request
