"""Scopes: which cluster is explored, what its members do, and what may go wrong."""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.membership.state import MembershipOptions
from groupcore.sim.explore.world import Budget
from groupcore.stacks import DEFAULT_STACK, TOTAL_STACK, StackOptions, StackPlan, plan_stack

LEFT_OUT = frozenset({"DURABILITY", "STATE_TRANSFER", "QUEUE", "PROBE"})
"""Layers that a scope does without: they only repeat reports, or stand for the application."""


NOTHING = Budget()
"""Nothing goes wrong."""


@dataclass(frozen=True, slots=True)
class Action:
    """A step of the script: node `node` does `kind` (send, leave, start) once `after` are done."""

    kind: str
    node: int
    after: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """A cluster of which `founders` form the first view; then the script, in every order.

    `may_crash` are the nodes that `budget.crashes` are for. `quick`: small enough for every run
    of the tests. `stack`: what runs, without what only reports.
    """

    name: str
    summary: str
    script: tuple[Action, ...]
    budget: Budget = NOTHING
    may_crash: tuple[int, ...] = (0, 1, 2)
    founders: tuple[int, ...] = (0, 1, 2)
    nodes: int = 3
    quick: bool = False
    stack: str = DEFAULT_STACK

    def plan(self) -> StackPlan:
        """The stack of every node."""
        words = [word for word in self.stack.split(":") if word not in LEFT_OUT]
        membership = MembershipOptions(
            cluster_size=self.nodes,
            application_state=True,
            durable=True,
            absorb=False,
            generation_s=0,
        )
        return plan_stack(words, StackOptions(membership=membership))


def send(*nodes: int) -> tuple[Action, ...]:
    """Each of these nodes sends one message, whenever it likes."""
    return tuple(Action("send", node) for node in nodes)


START_C, LEAVE_A, LEAVE_B = Action("start", 2), Action("leave", 0), Action("leave", 1)
CRASH = Budget(crashes=1)
PAIR = (0, 1)

SCOPES: dict[str, Scope] = {
    scope.name: scope
    for scope in (
        Scope("order", "two members send three messages", send(0, 1, 1), quick=True),
        Scope("order-4", "three members send four messages", send(0, 1, 2, 1)),
        Scope("loss", "two send, a packet is lost", send(0, 1), Budget(1), quick=True),
        Scope("loss-2", "one sends, two packets are lost", send(1), Budget(2)),
        Scope("leave", "a member leaves while another sends", (*send(2), LEAVE_B), quick=True),
        Scope("leave-2", "a member leaves while two others send", (*send(0, 2), LEAVE_B)),
        Scope("leave-loss", "the coordinator leaves, a packet is lost", (LEAVE_A,), Budget(1)),
        Scope("crash", "any member crashes while one sends", send(1), CRASH, quick=True),
        Scope("hand-over", "the sequencer crashes, two send", send(1, 2), CRASH, (0,)),
        Scope("two-crashes", "two members crash while one sends", send(1), Budget(crashes=2)),
        Scope("crash-loss", "the sequencer crashes, a packet is lost", send(1), Budget(1, 1), (0,)),
        Scope("restart", "a member crashes and comes back", (), Budget(0, 1, 1), (2,)),
        Scope("join", "a node joins while a member sends", (START_C, *send(1)), founders=PAIR),
        Scope("join-crash", "a node joins, a member crashes", (START_C,), CRASH, founders=PAIR),
        Scope("total-order", "TOTAL: two send three", send(0, 1, 1), quick=True, stack=TOTAL_STACK),
        Scope(
            "total-loss",
            "TOTAL: two send, a packet is lost",
            send(0, 1),
            Budget(1),
            stack=TOTAL_STACK,
        ),
        Scope(
            "total-crash",
            "TOTAL: any member crashes while one sends",
            send(1),
            CRASH,
            quick=True,
            stack=TOTAL_STACK,
        ),
        Scope(
            "total-hand-over",
            "TOTAL: the sequencer crashes, two send",
            send(1, 2),
            CRASH,
            (0,),
            stack=TOTAL_STACK,
        ),
        Scope(
            "total-crash-loss",
            "TOTAL: it crashes, a packet is lost",
            send(1),
            Budget(1, 1),
            (0,),
            stack=TOTAL_STACK,
        ),
        Scope("join-loss", "a node joins, a packet is lost", (START_C,), Budget(1), founders=PAIR),
    )
}
"""The scopes by name."""
