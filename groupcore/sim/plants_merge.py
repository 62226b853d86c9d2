"""Bugs to plant where components that went on alone become one view again."""

from __future__ import annotations

from groupcore.batch import Batch
from groupcore.effects import Effect, Notify
from groupcore.events import Flushed, FlushRequested, ViewInstalled
from groupcore.layers.sequencer import Ordered, Sequencer
from groupcore.layers.unicast import Receiving, Unicast
from groupcore.membership import proposer
from groupcore.membership.attempt import Attempt
from groupcore.membership.succession import Candidates
from groupcore.sim.clock import MILLISECOND, SECOND
from groupcore.sim.fault import Fault, Send
from groupcore.sim.network import NetworkOptions
from groupcore.sim.planting import Patch, Plant
from groupcore.sim.scenario import Scenario
from groupcore.view import Address

MEETINGS_UNDER_LOAD = Scenario(
    seed=1,
    nodes=5,
    starts_ns=(0,) * 5,
    safety_ns=10 * SECOND,
    network=NetworkOptions(loss=0.1, delay_mean_us=5_000),
    faults=tuple(Fault(at * SECOND, "split", (3, 4), 2_500 * MILLISECOND) for at in (2, 6)),
    sends=tuple(Send(SECOND + n * 5 * MILLISECOND, n % 5, (40,)) for n in range(1_800)),
)
"""Two members go on alone and come back, while all send, on slow links that lose."""

WORDS_OF_BEFORE = Scenario(
    seed=1,
    nodes=2,
    starts_ns=(120 * MILLISECOND, 40 * MILLISECOND),
    safety_ns=6 * SECOND,
    datagram_bytes_max=1_400,
    turn_us=300,
    connections=True,
    faults=(
        Fault(310 * MILLISECOND, "narrow", (0,), 706 * MILLISECOND, factor=64),
        Fault(1_544 * MILLISECOND, "split", (1,), 2_280 * MILLISECOND),
    ),
    sends=(
        *(Send((880 + n) * MILLISECOND, 1, (9_000,)) for n in range(3)),
        Send(900 * MILLISECOND, 1, (100,) * 20),
    ),
)
"""Two members part and meet again, while a narrow link still holds what one has sent before."""


def _logs_united() -> list[Patch]:
    """In a merged view each member gives the others what its component has delivered of it."""
    on_view, deliver = Sequencer.on_view, Sequencer.deliver
    logs: dict[Address, list[Batch]] = {}

    def keep(self: Sequencer, batch: Batch, header: Ordered) -> list[Effect]:
        mine = self.forward_table.batches.get(header.seqno) if header.origin == self.me else None
        if mine is not None:
            logs.setdefault(self.me, []).append(mine)
        return deliver(self, batch, header)

    def unite(self: Sequencer, event: ViewInstalled) -> list[Effect]:
        effects = on_view(self, event)
        log = logs.pop(self.me, [])
        if event.merged and not event.fresh:
            return [*effects, *(effect for batch in log for effect in self.on_down(batch, 0.0))]
        return effects

    return [(Sequencer, "deliver", keep), (Sequencer, "on_view", unite)]


def _merge_not_spanned() -> list[Patch]:
    """Of each side of a merge only the coordinator stops, and answers for its members."""
    ask, stopped = proposer.Proposer.request_flush, proposer.Proposer.on_flushed

    def only_me(self: proposer.Proposer, attempt: Attempt) -> Effect:
        if not attempt.merge_id:
            return ask(self, attempt)
        return Notify(FlushRequested(attempt.number, attempt.ballot, (self.state.me,)))

    def for_all(
        self: proposer.Proposer,
        event: Flushed,
        silent: frozenset[Address],
        candidates: Candidates,
        now: float,
    ) -> list[Effect]:
        attempt = self.attempt
        if attempt is not None and attempt.merge_id and event.ballot == attempt.ballot:
            digest, position, delivered = event.digest, event.position, event.delivered
            for member in attempt.participants():
                answer = Flushed(member, event.ballot, digest, position, delivered)
                attempt.stopped.setdefault(member, answer)
        return stopped(self, event, silent, candidates, now)

    return [
        (proposer.Proposer, "request_flush", only_me),
        (proposer.Proposer, "on_flushed", for_all),
    ]


def _words_of_before() -> list[Patch]:
    """A member takes what another one says for the next in order, whenever it was said."""

    def any_of(self: Unicast, member: Address, since: int) -> Receiving | None:
        return self.receiving.setdefault(member, Receiving(since))

    return [(Unicast, "conversation", any_of)]


MERGE_PLANTS = (
    Plant(
        "logs-united",
        "a merge takes the union of the components' logs",
        (3, 4, 2, 6, 13, 14, 15, 25),
        _logs_united,
        "partitionable",
    ),
    Plant(
        "merge-not-spanned",
        "the flush before a merge stops the coordinators only",
        (13, 3, 2, 4, 6, 14, 15, 25),
        _merge_not_spanned,
        "partitionable",
        schedule=MEETINGS_UNDER_LOAD,
    ),
    Plant(
        "merge-old-words",
        "after a merge a member takes for new what another one said before",
        (15,),
        _words_of_before,
        "partitionable",
        schedule=WORDS_OF_BEFORE,
    ),
)
"""Those of merging; `plants.PLANTS` has all."""
