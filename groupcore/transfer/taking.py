"""The taker's role: ask for a copy at one place in the order, take it, and go on from there.

One transfer at a time. A provider that answers null, falls silent, leaves or sends what does not
fit its hash is given up, and the next one is asked: for the rest, if it has a copy of the same
version, else for a copy at a later place.
"""

from __future__ import annotations

from groupcore.batch import Batch, Header
from groupcore.effects import Down, Effect, Notify, StartTimer, StopTimer
from groupcore.events import BadInput
from groupcore.transfer import events
from groupcore.transfer.asking import Transfer
from groupcore.transfer.headers import (
    DIGEST,
    STREAM,
    Chunk,
    Collect,
    MakeCopy,
    NoState,
    Offer,
    Push,
    ReturnState,
    Taken,
)
from groupcore.transfer.options import StateTransferOptions
from groupcore.transfer.sources import Intake, MemorySink
from groupcore.transfer.version import StateVersion
from groupcore.view import Address, View

ELECTION_PATIENCE = 3
"""Times `silence_s` that hashing may take."""
PUSH_TIMEOUT_S = 60.0
FAILURES = ("damaged", "busy", "unknown")
"""Reasons of a null state that say nothing of whether there is one."""


class Taker:
    """Takes a state for one member."""

    def __init__(self, me: Address, options: StateTransferOptions) -> None:
        self.me = me
        self.options = options
        self.view: View | None = None
        self.transfer: Transfer | None = None
        self.counter = 0
        names = ("transfers", "taken", "taken_bytes", "resumes", "restarts", "damaged")
        self.numbers = dict.fromkeys((*names, "refused_answers"), 0)

    @property
    def current(self) -> Transfer:
        """The transfer that is under way."""
        assert self.transfer is not None
        return self.transfer

    # --- asking -----------------------------------------------------------------------------------

    def begin(self, wish: events.GetState) -> list[Effect]:
        """The application wants a state; never one's own."""
        if self.transfer is not None:
            return [Notify(events.GetStateOk(events.BUSY))]
        members = () if self.view is None else self.view.members
        others = [member for member in members if member != self.me]
        if not others:
            return [Notify(events.GetStateOk(events.ALONE))]
        self.transfer = Transfer(wish, [], Intake(wish.sink or MemorySink()))
        self.transfer.start_over(others)
        self.numbers["transfers"] += 1
        return [StartTimer("timeout", wish.timeout_s), *self.ask()]

    def next_version(self) -> StateVersion:
        """A name that no copy has had."""
        assert self.view is not None
        self.counter += 1
        return StateVersion(self.view.number, self.counter, self.me)

    def ask(self) -> list[Effect]:
        """Multicast MAKE_COPY to the next who may have a state; end when there are none."""
        transfer = self.current
        if transfer.pushed:
            return self.finish(events.NO_STATE)
        if not transfer.candidates:
            if not transfer.failed:
                return self.finish(events.NO_STATE)
            return [StartTimer("again", self.options.silence_s)]
        version = self.next_version()
        transfer.begin_version(version, transfer.next_wave(self.options.copies))
        header = MakeCopy(version, tuple(transfer.providers))
        return [Down(Batch(self.me, None, (header,)))]

    def on_again(self) -> list[Effect]:
        """A pause is over: those who failed may be back."""
        transfer = self.transfer
        if transfer is None or not transfer.retry_failed():
            return []
        members = () if self.view is None else self.view.members
        transfer.candidates = [member for member in transfer.candidates if member in members]
        return self.ask()

    def on_make_copy(self, header: MakeCopy, epoch: int, position: int) -> list[Effect]:
        """The own MAKE_COPY has its place: what follows waits, and a provider is asked."""
        transfer = self.transfer
        if transfer is None or transfer.version != header.version:
            stale = [self.collect_from(member, header.version) for member in header.providers]
            return [effect for effects in stale for effect in effects]
        return self.place(transfer, header.version, epoch, position)

    def on_push(self, sender: Address, push: Push, epoch: int, position: int) -> list[Effect]:
        """Somebody gives its state, as of here."""
        if self.transfer is not None:
            return self.collect_from(sender, push.version)
        wish = events.GetState((sender,), PUSH_TIMEOUT_S)
        transfer = self.transfer = Transfer(wish, [], Intake(MemorySink()), pushed=True)
        transfer.begin_version(push.version, (sender,))
        timeout = StartTimer("timeout", PUSH_TIMEOUT_S)
        return [timeout, *self.place(transfer, push.version, epoch, position)]

    def place(
        self, transfer: Transfer, version: StateVersion, epoch: int, position: int
    ) -> list[Effect]:
        """The version has its place in the order."""
        transfer.placed = transfer.queueing = True
        transfer.epoch, transfer.position = epoch, position
        return [Notify(events.StartQueueing(version)), *self.choose()]

    def choose(self) -> list[Effect]:
        """RETURN_STATE to a provider, for what is missing; without one, ask for another copy."""
        transfer = self.current
        if not transfer.placed:
            return self.ask() if not transfer.providers else []
        if transfer.electing:
            return self.hold_election()
        if not transfer.providers:
            return self.finish_many() if transfer.collects else self.ask()
        transfer.provider = transfer.providers[0]
        transfer.begun = transfer.fetching = False
        return self.request(transfer, transfer.provider, transfer.wanted)

    def request(self, transfer: Transfer, provider: Address, wanted: int) -> list[Effect]:
        """Ask one provider for what is missing."""
        transfer.moved = False
        assert transfer.version is not None
        intake = transfer.intake
        ask = ReturnState(transfer.version, wanted, intake.offset, intake.digest)
        return [self.send(provider, ask), StartTimer("silence", self.options.silence_s)]

    def send(self, provider: Address, header: Header) -> Effect:
        """To one provider, reliably."""
        return Down(Batch(self.me, provider, (header,)))

    # --- the majority -----------------------------------------------------------------------------

    def hold_election(self) -> list[Effect]:
        """Ask everybody for the hash; when all have answered, take the majority's state."""
        transfer = self.current
        assert transfer.version is not None
        elected = transfer.elect()
        if elected:
            return self.choose()
        if elected is None:
            if transfer.begun:
                return []
            transfer.begun = True
            ask = ReturnState(transfer.version, DIGEST, 0, b"")
            patience = StartTimer("silence", ELECTION_PATIENCE * self.options.silence_s)
            return [*[self.send(provider, ask) for provider in transfer.providers], patience]
        return self.finish(events.NO_QUORUM if transfer.dissenters else events.NO_STATE)

    # --- answers ----------------------------------------------------------------------------------

    def is_answer(self, sender: Address, version: StateVersion) -> bool:
        """Whether it is of the version that is wanted, and from one who was asked; else counted."""
        transfer = self.transfer
        if transfer is None or transfer.version != version or sender not in transfer.providers:
            self.numbers["refused_answers"] += 1
            return False
        return True

    def on_no_state(self, sender: Address, answer: NoState) -> list[Effect]:
        """A null state, or a copy that cannot be read."""
        if not self.is_answer(sender, answer.version):
            return []
        assert self.transfer is not None
        if answer.reason == "damaged":
            self.transfer.damaged.append(sender)
        elif answer.reason not in FAILURES:
            self.transfer.nulls.append(sender)
            return self.give_up_on(sender, failed=False)
        return self.give_up_on(sender)

    def on_chunk(self, sender: Address, chunk: Chunk, body: bytes) -> list[Effect]:
        """The next bytes, or the end; anything else changes nothing."""
        if not self.is_answer(sender, chunk.version):
            return []
        transfer = self.current
        if transfer.electing:
            return self.on_digest(sender, chunk)
        if sender != transfer.provider or transfer.fetching:
            self.numbers["refused_answers"] += 1
            return []
        intake = transfer.intake
        if not transfer.begun and chunk.offset == 0 and intake.offset:
            transfer.restarts += 1
            intake.reset()  # its copy begins otherwise
        if chunk.offset != intake.offset:
            self.numbers["refused_answers"] += 1
            return []
        transfer.begun = transfer.moved = True
        if chunk.last:
            if body or chunk.digest != intake.digest:
                return self.on_damage(sender)
            return self.complete()
        try:
            fits = bool(body) and intake.take(body, chunk.digest)
        except Exception:  # whatever the application's sink raises
            return self.finish(events.BAD_SINK)
        if not fits:
            return self.on_damage(sender)
        self.numbers["taken_bytes"] += len(body)
        return [self.send(sender, Taken(chunk.version, intake.offset))] if intake.ready else []

    def on_digest(self, sender: Address, chunk: Chunk) -> list[Effect]:
        """A provider's hash of its whole copy."""
        transfer = self.current
        if not chunk.last or sender in transfer.digests:
            self.numbers["refused_answers"] += 1
            return []
        transfer.digests[sender] = (chunk.offset, chunk.digest)
        return self.hold_election()

    def on_damage(self, provider: Address) -> list[Effect]:
        """What came does not fit its hash: nothing of it was used, and another goes on."""
        assert self.transfer is not None
        self.transfer.damaged.append(provider)
        self.numbers["damaged"] += 1
        told = Notify(BadInput(provider, "STATE_TRANSFER.damaged"))
        return [told, *self.give_up_on(provider)]

    def on_sink_ready(self) -> list[Effect]:
        """The application's sink takes more."""
        transfer = self.transfer
        if transfer is None or transfer.provider is None or transfer.intake.ready:
            return []
        transfer.intake.ready = True
        transfer.moved = True
        if transfer.fetching:
            return []
        assert transfer.version is not None
        return [self.send(transfer.provider, Taken(transfer.version, transfer.intake.offset))]

    def on_offer(self, sender: Address, offer: Offer) -> list[Effect]:
        """The provider serves the state on a connection of its own."""
        if not self.is_answer(sender, offer.version):
            return []
        transfer = self.current
        if sender != transfer.provider or transfer.fetching or transfer.wanted == STREAM:
            self.numbers["refused_answers"] += 1
            return []
        transfer.fetching = transfer.begun = True
        fetch = events.FetchState(
            offer.version, offer.host, offer.port, offer.token, transfer.intake
        )
        return [StopTimer("silence"), Notify(fetch)]

    def on_fetched(self, version: StateVersion, complete: bool) -> list[Effect]:
        """The connection has ended: with the state, or the rest comes through the group."""
        transfer = self.transfer
        if transfer is None or transfer.version != version or not transfer.fetching:
            return []
        assert transfer.provider is not None
        transfer.fetching = transfer.begun = False
        transfer.intake.ready = True
        if complete:
            self.numbers["taken_bytes"] += transfer.intake.offset
            return self.complete()
        transfer.wanted = STREAM
        return self.request(transfer, transfer.provider, STREAM)

    # --- trouble ----------------------------------------------------------------------------------

    def on_silence(self) -> list[Effect]:
        """Nothing has come for a while: the provider is given up."""
        transfer = self.transfer
        if transfer is None or not transfer.placed:
            return []
        if transfer.electing:
            return self.give_up_on_all([p for p in transfer.providers if p not in transfer.digests])
        if transfer.provider is None or transfer.fetching:
            return []
        if transfer.moved or not transfer.intake.ready:
            transfer.moved = False
            return [StartTimer("silence", self.options.silence_s)]
        return self.give_up_on(transfer.provider)

    def give_up_on(self, provider: Address, failed: bool = True) -> list[Effect]:
        """Go on without this provider."""
        transfer = self.current
        assert transfer.version is not None
        transfer.providers.remove(provider)
        effects: list[Effect] = []
        if failed:
            transfer.failed.append(provider)
            effects += self.collect_from(provider, transfer.version)
        if transfer.collects:
            transfer.states[provider] = None
        if provider == transfer.provider:
            transfer.provider = None
            effects.append(StopTimer("silence"))
            if transfer.fetching:
                effects.append(Notify(events.StopFetching(transfer.version)))
            if transfer.collects:
                transfer.intake = Intake(MemorySink())
            elif transfer.intake.offset and transfer.providers:
                transfer.resumes += 1
        if transfer.provider is not None:
            return effects
        return [*effects, *self.choose()]

    def on_view(self, view: View, recovered: bool) -> list[Effect]:
        """Providers that have left give nothing more; an order that begins anew, a new copy."""
        self.view = view
        transfer = self.transfer
        if transfer is None:
            return []
        if recovered:
            return self.start_over(transfer)
        transfer.candidates = [m for m in transfer.candidates if m in view.members]
        return self.give_up_on_all([p for p in transfer.providers if p not in view.members])

    def give_up_on_all(self, lost: list[Address]) -> list[Effect]:
        """Go on without these, one after the other, as long as the transfer lasts."""
        transfer = self.current
        effects: list[Effect] = []
        for provider in lost:
            if transfer is self.transfer and provider in transfer.providers:
                effects += self.give_up_on(provider)
        return effects

    def start_over(self, transfer: Transfer) -> list[Effect]:
        """What the copy contains may be lost: let go of what waits, and ask in the new order."""
        assert self.view is not None
        effects: list[Effect] = [StopTimer("silence"), StopTimer("again")]
        if transfer.fetching and transfer.version is not None:
            effects.append(Notify(events.StopFetching(transfer.version)))
        if transfer.queueing:
            transfer.queueing = False
            effects.append(Notify(events.StopQueueing()))
        transfer.start_over([m for m in self.view.members if m != self.me])
        return [*effects, *self.ask()]

    # --- the end ----------------------------------------------------------------------------------

    def complete(self) -> list[Effect]:
        """A whole state is here."""
        transfer = self.current
        assert transfer.provider is not None
        if not transfer.collects:
            return self.finish(events.TAKEN)
        transfer.states[transfer.provider] = transfer.state_taken()
        transfer.providers.remove(transfer.provider)
        transfer.provider = None
        transfer.intake = Intake(MemorySink())
        return self.choose()

    def finish_many(self) -> list[Effect]:
        """Everybody's state is here, or known to be missing."""
        assert self.transfer is not None
        some = any(state is not None for state in self.transfer.states.values())
        return self.finish(events.TAKEN if some else events.NO_STATE)

    def finish(self, outcome: str) -> list[Effect]:
        """End the transfer: the state first, then what waited for it, then the answer."""
        transfer, self.transfer = self.transfer, None
        assert transfer is not None
        effects: list[Effect] = [StopTimer(name) for name in ("timeout", "silence", "again")]
        if transfer.fetching and outcome != events.TAKEN and transfer.version is not None:
            effects.append(Notify(events.StopFetching(transfer.version)))
        self.numbers["resumes"] += transfer.resumes
        self.numbers["restarts"] += transfer.restarts
        if outcome == events.TAKEN:
            self.numbers["taken"] += 1
            effects.append(Notify(transfer.set_state()))
        if transfer.queueing:
            effects.append(Notify(events.StopQueueing()))
        if transfer.version is not None and outcome != events.ENDED:
            for member in transfer.asked:
                effects += self.collect_from(member, transfer.version, outcome == events.TAKEN)
        return effects if transfer.pushed else [*effects, Notify(transfer.report(outcome))]

    def collect_from(
        self, provider: Address, version: StateVersion, taken: bool = False
    ) -> list[Effect]:
        """GC, to one who may have made a copy, and nobody else; who has left has none."""
        if self.view is None or provider not in self.view.members:
            return []
        return [self.send(provider, Collect(version, taken))]
