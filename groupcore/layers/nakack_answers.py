"""The answering side of NAKACK: requests in, repairs out, from the present view and the last."""

from __future__ import annotations

from collections.abc import Callable

from groupcore.answers import Answers
from groupcore.batch import Batch
from groupcore.effects import Down, Effect, StartTimer
from groupcore.layers.nakack_headers import Repair, Request
from groupcore.paths import directly
from groupcore.repairs import RepairOptions
from groupcore.view import Address
from groupcore.window import Window

Windows = dict[Address, Window]


class Answering:
    """What one member answers others with; where unicasts do not arrive (`way_to`), to all."""

    def __init__(
        self,
        me: Address,
        options: RepairOptions,
        way_to: Callable[[Address], Address | None] = directly,
    ) -> None:
        self.me = me
        self.way_to = way_to
        self.answers = Answers(options)
        self.windows: dict[int, Windows] = {}
        self.repairs_sent = 0

    def counters(self) -> dict[str, int]:
        """Repairs sent, those that went to all among them; requests left unanswered, and why."""
        return {"repairs_sent": self.repairs_sent, **self.answers.numbers}

    def begin(self, view: int, windows: Windows) -> None:
        """A view: what is held of the one before it can still be asked for."""
        former = dict([*self.windows.items()][-1:])
        self.windows = {**former, view: windows}

    def on_request(self, member: Address, request: Request, now: float) -> list[Effect] | None:
        """Gather what is asked for and held; None when it is of no view or sender known here."""
        window = self.windows.get(request.view, {}).get(request.origin)
        if window is None:
            return None
        first = self.answers.empty
        self.answers.note(member, (request.view, request.origin), window, request.ranges, now)
        return [StartTimer("answer", 0)] if first else []

    def answer(self, now: float) -> list[Effect]:
        """Send what was asked for in this turn, to one member or to all."""
        effects: list[Effect] = []
        for answer in self.answers.take(now):
            batch = answer.batch
            headers = (*batch.headers, Repair(answer.view, answer.origin, answer.seqno))
            to, body = answer.destination, batch.body
            to = None if to is None else self.way_to(to)
            effects.append(Down(Batch(self.me, to, headers, body, batch.count, False)))
        self.repairs_sent += len(effects)
        return effects
