"""What has become of clients' numbered calls: a part of every object's state.

Idea. Who reaches a node over a connection that can break does not know what has become of a call
that was under way; it asks again, at whichever node. So such a call carries an id of the client
and a number. Where a number comes a second time in the order, nothing is done and the first
verdict is given again; a hash of what was called shows whether it is the same call. As this is
decided in the order, it holds across nodes and their ends.

Source. Sequencing service paper, section 4 (message ids and duplicates); the operation numbers of
docs/protocol-objects.md.

Invariants.
  V1  A number of a client is done once at most.
  V2  The verdict given again is the first one, as long as the client has not said it has it.
  V3  Who asks for something else under a number that was used is told so, not the first verdict.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from msgpack import packb

from groupcore.shared.errors import MisfitError
from groupcore.shared.plain import plain

CLIENT_MAX = 64
"""Most characters of a client's id."""
CLIENTS_MAX = 1_000
"""The clients that called last are remembered."""
NUMBERS_MAX = 64
"""Most verdicts that are kept of one client: it has no more calls under way."""
CONTENT_BYTES = 8
"""So long is the hash of a call: it tells mistakes apart, nobody gains by a false one."""
RESULT_BYTES_MAX = 256
"""A larger result is not kept: given again, it is lost."""

_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Call:
    """A client's call: its `number`, and below which it has all answers (`answered` included)."""

    client: str
    number: int
    answered: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """`results` of the operations as plain values, or the `code` of what one of them raised.

    `content`: the hash of what was called (`content_of`); empty in states of former versions.
    """

    results: list[object]
    code: str = ""
    content: bytes = field(default=b"", compare=False)

    def to_wire(self) -> list[object]:
        """As it is kept; without a hash as former versions have kept it."""
        return [self.results, self.code, *([self.content] if self.content else [])]


LOST = Verdict([], "result_lost")
"""It was done, and its result is not known any more."""
SKIPPED = Verdict([], "skipped")
"""It was not done and will not be: later numbers of the client came first."""
DIFFERS = Verdict([], "call_differs")
"""It was not done: the client has called something else under this number."""


def content_of(calls: object) -> bytes:
    """The hash of operations and arguments, as they travel."""
    packed: bytes = packb(calls, use_bin_type=True)
    return blake2b(packed, digest_size=CONTENT_BYTES).digest()


def code_of(error: BaseException) -> str:
    """A stable word for an error: its own `code`, or its class's name."""
    code = getattr(error, "code", None)
    if isinstance(code, str) and code:
        return code
    name = type(error).__name__
    return _WORDS.sub("_", name.removesuffix("Error") or name).lower()


@dataclass(slots=True)
class _Client:
    last: int = 0
    answered: int = 0
    verdicts: dict[int, Verdict] = field(default_factory=dict)


class Verdicts:
    """The clients of one object, in the order of their last calls."""

    __slots__ = ("_clients",)

    def __init__(self) -> None:
        self._clients: dict[str, _Client] = {}

    def find(self, call: Call, content: bytes) -> Verdict | None:
        """What has become of this call before; None: it is a new one (V1, V2, V3)."""
        client = self._clients.get(call.client)
        if client is None or call.number > client.last:
            return None
        known = client.verdicts.get(call.number)
        if known is not None:
            return known if known.content in (b"", content) else DIFFERS
        return LOST if call.number <= max(client.answered, client.last - NUMBERS_MAX) else SKIPPED

    def note(self, call: Call, verdict: Verdict, content: bytes) -> None:
        """This has become of a new call."""
        client = self._clients.pop(call.client, None) or _Client()
        self._clients[call.client] = client
        if len(self._clients) > CLIENTS_MAX:
            del self._clients[next(iter(self._clients))]
        client.last = call.number
        client.answered = max(client.answered, min(call.answered, call.number - 1))
        client.verdicts[call.number] = replace(_bounded(verdict), content=content)
        low = max(client.answered, call.number - NUMBERS_MAX)
        if next(iter(client.verdicts)) <= low:
            client.verdicts = {n: kept for n, kept in client.verdicts.items() if n > low}

    def of(self, client: str) -> dict[int, Verdict]:
        """The verdicts that are kept for a client, by number."""
        known = self._clients.get(client)
        return {} if known is None else dict(known.verdicts)

    def last_numbers(self) -> dict[str, int]:
        """The highest number that was done of each client that is known."""
        return {name: client.last for name, client in self._clients.items()}

    def last_of(self, client: str) -> int:
        """The highest number of a client that was done; 0: none is known."""
        known = self._clients.get(client)
        return 0 if known is None else known.last

    def to_wire(self) -> object:
        """All of it as plain values."""
        return [
            [
                name,
                client.last,
                client.answered,
                [[number, *one.to_wire()] for number, one in client.verdicts.items()],
            ]
            for name, client in self._clients.items()
        ]

    @classmethod
    def from_wire(cls, wire: object) -> Verdicts:
        """What `to_wire` gave; MisfitError when it gave no such thing."""
        made = cls()
        try:
            for name, last, answered, verdicts in wire:  # type: ignore[attr-defined]
                kept = {number: Verdict(*verdict) for number, *verdict in verdicts}
                made._clients[name] = _Client(last, answered, kept)
        except (TypeError, ValueError):
            raise MisfitError("not the verdicts of clients") from None
        return made


def verdict_on(results: list[object], error: Exception | None) -> Verdict:
    """What is kept of what a call did."""
    if error is not None:
        return Verdict([], code_of(error))
    try:
        return Verdict([plain(one) for one in results])
    except MisfitError:
        return LOST


def _bounded(verdict: Verdict) -> Verdict:
    try:
        fits = len(packb(verdict.results)) <= RESULT_BYTES_MAX
    except (ValueError, OverflowError):
        fits = False
    return verdict if fits else LOST
