"""How often secrets may be guessed: by one place, of one account, and by a browser that is known.

Idea. Who knows an address can guess its password from anywhere; that must not keep its owner out.
So failures are counted apart: of a place for an account, of a place for all accounts, of an account
for all places, and each kind of secret by itself. A browser in which the owner has signed in before
shows a mark of that account (OWASP's device cookie) and has a small count of its own, which no
stranger touches. A place that is new is slowed: it is given a turn (`server.accounts.turns`).

A secret of 256 bits is guessed by nobody: who shows a right one is never kept waiting, and wrong
ones are only bounded, so that refusing them costs little (`Guard.wrong`).

Invariants.
  L1  No tries of others, however many, keep a known browser waiting.
  L2  All unknown places together guess an account's secret of one kind at a bounded rate: what
      `RULES` says, at each node.
  L3  What is tried of one kind of secret counts for no other.

Source. OWASP, "Slow down online guessing attacks with device cookies"; docs/threats.md, T17.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from math import ceil

from server.accounts.backoff import Backoff
from server.accounts.turns import Turns
from server.errors import TooFastError

MINUTE_S, QUARTER_S = 60.0, 900.0


class Secret(Enum):
    """What somebody shows."""

    PASSWORD = auto()
    CODE = auto()
    RECOVERY = auto()
    LINK_PASSWORD = auto()
    PASSKEY = auto()
    LINK = auto()
    INVITATION = auto()
    LETTER = auto()
    OWNER_LINK = auto()
    ADDRESS = auto()
    """Of an account of others that somebody would share with."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Free tries, seconds between further ones, turns ahead: of an account, and of a place."""

    account: tuple[int, float, int]
    place: tuple[int, float, int]
    pair_most_s: float = QUARTER_S


GUESSED = Rule((40, 300.0, 6), (20, MINUTE_S, 10))
SHORT = Rule((10, QUARTER_S, 4), (20, MINUTE_S, 10))
RULES = {
    Secret.PASSWORD: GUESSED,
    Secret.CODE: SHORT,
    Secret.RECOVERY: SHORT,
    Secret.LINK_PASSWORD: GUESSED,
}
"""Of 40 + 6 + 288 guesses of a password a day at a node, and 10 + 4 + 96 of a code."""
UNGUESSED = (20, 5.0, 0)
"""Of wrong secrets that nobody guesses, and of what costs the order something, for a place."""
FREE, FIRST_S = 5, 1.0


@dataclass(frozen=True, slots=True)
class Try:
    """One try, which has failed until `Guard.knew` says otherwise."""

    secret: Secret
    account: str
    place: str
    device: str


class _Counts:
    def __init__(self, rule: Rule) -> None:
        self.accounts = Turns(*rule.account)
        self.places = Turns(*rule.place)
        self.pairs = Backoff(FREE, FIRST_S, rule.pair_most_s)
        self.devices = Backoff(FREE, FIRST_S, rule.pair_most_s)


class Guard:
    """All counts of a node; `clock` is its loop's time."""

    def __init__(self, clock: Callable[[], float], rules: Mapping[Secret, Rule] = RULES) -> None:
        self._clock = clock
        self._counts = {secret: _Counts(rule) for secret, rule in rules.items()}
        self._wrong = {secret: Turns(*UNGUESSED) for secret in Secret}

    def attempt(self, secret: Secret, account: str, place: str, device: str = "") -> Try:
        """Somebody tries to guess; TooFastError `wait`. `device`: the mark of a known browser."""
        made = Try(secret, account, place, device)
        now_s, counts = self._clock(), self._counts[secret]
        if device:  # L1
            _check(counts.devices.wait_s(f"{account} {device}", now_s))
            counts.devices.attempt(f"{account} {device}", now_s)
            return made
        pair = f"{account} {place}"
        _check(counts.pairs.wait_s(pair, now_s))
        _check(counts.places.take(place, account, now_s))
        wait_s = counts.accounts.take(account, place, now_s)
        if wait_s > 0:
            counts.places.give_back(place)
        _check(wait_s)  # L2
        counts.pairs.attempt(pair, now_s)
        return made

    def knew(self, made: Try) -> None:
        """It was the right one: it counts nowhere."""
        counts, account = self._counts[made.secret], made.account
        if made.device:
            counts.devices.succeeded(f"{account} {made.device}")
            return
        counts.pairs.succeeded(f"{account} {made.place}")
        counts.places.give_back(made.place)
        counts.accounts.give_back(account)

    def wrong(self, secret: Secret, place: str) -> None:
        """Somebody has shown what is none, or has the order do something; TooFastError `wait`."""
        _check(self._wrong[secret].take(place, place, self._clock()))

    def right(self, secret: Secret, place: str) -> None:
        """What was counted as wrong was none."""
        self._wrong[secret].give_back(place)


def _check(wait_s: float) -> None:
    if wait_s > 0:
        seconds = ceil(wait_s)
        raise TooFastError(f"too many attempts; try again in {seconds} s", seconds, "wait")
