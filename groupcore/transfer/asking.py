"""What a taker knows of its one transfer: plain values and small decisions, no messages."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from groupcore.transfer.events import GetState, GetStateOk, SetState
from groupcore.transfer.headers import AUTO, SEPARATE, STREAM
from groupcore.transfer.sources import Intake, MemorySink
from groupcore.transfer.version import StateVersion
from groupcore.view import Address

WANTED = {"auto": AUTO, "group": STREAM, "separate": SEPARATE}
"""What a RETURN_STATE asks for, by the name of the medium."""


@dataclass(slots=True)
class Transfer:
    """One transfer, through all the versions that it may need.

    `candidates` can still be asked for a copy, in the order of choice; `providers` are those of
    the present version, `provider` the one who gives. `placed`: its MAKE_COPY has its place, after
    `position` of `epoch`. `begun`: the present provider has sent something; `moved`: since the
    last look. `asked` is everybody who may keep a copy for this transfer.
    """

    wish: GetState
    candidates: list[Address]
    intake: Intake
    pushed: bool = False
    version: StateVersion | None = None
    providers: list[Address] = field(default_factory=list)
    asked: list[Address] = field(default_factory=list)
    provider: Address | None = None
    wanted: int = AUTO
    placed: bool = False
    queueing: bool = False
    epoch: int = 0
    position: int = 0
    begun: bool = False
    moved: bool = False
    fetching: bool = False
    waves: int = 0
    nulls: list[Address] = field(default_factory=list)
    failed: list[Address] = field(default_factory=list)
    damaged: list[Address] = field(default_factory=list)
    dissenters: list[Address] = field(default_factory=list)
    digests: dict[Address, tuple[int, bytes]] = field(default_factory=dict)
    electing: bool = False
    states: dict[Address, bytes | None] = field(default_factory=dict)
    restarts: int = 0
    resumes: int = 0

    @property
    def collects(self) -> bool:
        """Whether every provider's state is taken, not one of them."""
        return self.wish.many and not self.wish.quorum

    def start_over(self, others: list[Address]) -> None:
        """Begin from the beginning, with those of the `others` who may be asked."""
        wanted = others if self.wish.providers is None else self.wish.providers
        self.candidates = [member for member in wanted if member in others]
        self.waves = 0
        self.failed, self.nulls, self.states = [], [], {}

    def next_wave(self, copies: int) -> tuple[Address, ...]:
        """Whom to ask for a copy: all if many are wanted, else few, twice as many every time."""
        size = len(self.candidates) if self.wish.many else max(copies, 1 << self.waves)
        wave, self.candidates = self.candidates[:size], self.candidates[size:]
        self.waves += 1
        return tuple(wave)

    def begin_version(self, version: StateVersion, providers: tuple[Address, ...]) -> None:
        """A new copy is asked for; what was taken of a former one is void."""
        if self.intake.offset:
            self.restarts += 1
            self.intake.reset()
        self.version = version
        self.providers, self.asked = list(providers), list(providers)
        self.provider = None
        self.placed = self.begun = self.fetching = False
        self.wanted = WANTED[self.wish.medium]
        self.electing = self.wish.quorum
        self.digests = {}

    def retry_failed(self) -> bool:
        """Ask those again who failed without having a null state; False when there are none."""
        self.candidates, self.failed, self.waves = self.failed, [], 0
        return bool(self.candidates)

    def state_taken(self) -> bytes | None:
        """The state, when it was kept in memory."""
        sink = self.intake.sink
        return sink.state() if self.wish.sink is None and isinstance(sink, MemorySink) else None

    def elect(self) -> bool | None:
        """Keep the providers whose state has a majority; None: answers are missing, False: none.

        The majority is of all who were asked and have not answered with a null state (paper, 2.3:
        the state of the majority is incorporated).
        """
        if any(provider not in self.digests for provider in self.providers):
            return None
        number = sum(1 for provider in self.asked if provider not in self.nulls)
        answers = Counter(self.digests[provider] for provider in self.providers)
        if not answers:
            return False
        winner, count = answers.most_common(1)[0]
        losers = [p for p in self.providers if self.digests[p] != winner]
        if 2 * count <= number:
            self.dissenters = list(self.providers)
            return False
        self.dissenters = losers
        self.providers = [p for p in self.providers if p not in losers]
        self.electing = False
        return True

    def set_state(self) -> SetState:
        """What the application is given."""
        assert self.version is not None
        provider = self.provider
        if provider is None:
            provider = next(m for m, state in self.states.items() if state is not None)
        state = None if self.collects else self.state_taken()
        return SetState(self.version, self.epoch, self.position, provider, state, dict(self.states))

    def report(self, outcome: str) -> GetStateOk:
        """What the application is told of a transfer that has ended."""
        return GetStateOk(
            outcome,
            self.version,
            self.intake.offset,
            tuple(self.nulls),
            tuple(self.dissenters),
            tuple(self.damaged),
            self.restarts,
            self.resumes,
        )
