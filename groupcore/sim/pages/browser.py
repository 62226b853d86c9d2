"""A page in a browser: it opens objects, calls them, shows itself, and goes to other nodes.

It outlives its connections: its calls have numbers, and are asked again until they are answered, as
`webui/src/client` does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Protocol, cast

from groupcore.frames import Message
from groupcore.gateway.limits import VERSION
from groupcore.gateway.outlet import TEMPORARY
from groupcore.sim.clock import MILLISECOND, SECOND, Clock
from groupcore.sim.documents.scenario import GO, LEAVE, Deed
from groupcore.sim.pages import scenario as deeds
from groupcore.sim.pages.copies import Copy, digest_of
from groupcore.sim.pages.program import OBJECTS, snapshot_of
from groupcore.sim.pages.wire import Seen, Wire
from groupcore.sim.trace import Trace
from groupcore.sim.trace_pages import PageAnswered, PageCalled, PageLost, PageWrong

if TYPE_CHECKING:
    from groupcore.sim.pages.program import PageProgram

AWAY_S = 0.7
SLOW_S = 0.6
OBJECT_NAMES = tuple(name for name in OBJECTS if name != "people")
EXPECTED = frozenset({"held", "no_such_item", "no_such_key", "result_lost", "skipped"})
"""Codes that calls of a page may be answered with."""


class Streets(Protocol):
    """What pages share. `token` is a word that nobody else has."""

    clock: Clock
    trace: Trace

    def token(self) -> str:
        """See above."""

    def program_near(self, number: int) -> PageProgram | None:
        """A program that takes pages: at this node, or else at another one."""


@dataclass(slots=True)
class Asked:
    """A call. `wire`: over which connection it was sent last."""

    number: int
    call: list[object]
    token: str
    wire: Wire | None = None


@dataclass(slots=True)
class Calls:
    """What a page has called of one object, by number, and not heard of."""

    last: int = 0
    asked: dict[int, Asked] = field(default_factory=dict)
    done: dict[int, Asked] = field(default_factory=dict)
    """What was answered in this stretch of the object's order, and was done."""


class Browser:
    """Page number `number`; `home` is the node that it goes to by itself."""

    def __init__(self, streets: Streets, number: int, home: int, random: Random) -> None:
        self.client = f"page-{number:011}"
        self.home = home
        self.wire: Wire | None = None
        self.wanted: dict[str, None] = {}
        self.copies: dict[str, Copy] = {}
        self.calls: dict[str, Calls] = {}
        self.shows = ""
        self.others: dict[str, object] = {}
        self._opened: set[str] = set()
        self._asking: set[str] = set()
        self._is_welcome = False
        self._away_until_ns = 0
        self._streets = streets
        self._random = random

    # --- what it does ---------------------------------------------------------------------------

    def do(self, deed: Deed) -> None:
        """Do something."""
        first, second, third = deed.draws
        name = OBJECT_NAMES[int(first * len(OBJECT_NAMES))]
        match deed.kind:
            case deeds.OPEN:
                self.wanted["people" if second < 0.15 else name] = None
            case deeds.CLOSE if self.wanted:
                self._close(list(self.wanted)[int(first * len(self.wanted))])
            case deeds.CALL:
                self._call(name, second, third)
            case deeds.SHOW:
                self.wanted["people"] = None
                self.shows = self._streets.token()
                self._show()
            case deeds.SLOW if self.wire is not None:
                self.wire.is_slow = True
                self._streets.clock.after(int(third * SLOW_S * SECOND), self.wire.read_on)
            case deeds.DROP:
                self._hang_up(0.0)
            case _ if deed.kind == GO:
                self.home = deed.node
                self._hang_up(0.0)
            case _ if deed.kind == LEAVE:
                self._hang_up(third * AWAY_S)
        self.strive()

    def _close(self, name: str) -> None:
        if self.calls.get(name, Calls()).asked:
            return  # somebody waits for an answer
        del self.wanted[name]
        self.copies.pop(name, None)
        if name in self._opened | self._asking:
            self._opened.discard(name)
            self._asking.discard(name)
            self._say({"t": "close", "name": name})

    def _hang_up(self, away_s: float) -> None:
        self._away_until_ns = self._streets.clock.now_ns + int(away_s * SECOND)
        if self.wire is not None:
            self.wire.break_off()

    def strive(self) -> None:
        """Be somewhere, have open what is wanted, and ask what is not answered."""
        if self.wire is not None and self.wire.program.tasks.is_over:
            self.wire.break_off()
        if self.wire is None:
            self._connect()
        elif self._is_welcome:
            for name in self.wanted:
                self._open(name)
            for name in self._opened:
                self._send_calls(name)

    def _connect(self) -> None:
        clock = self._streets.clock
        program = self._streets.program_near(self.home)
        if program is None or clock.now_ns < self._away_until_ns:
            return
        self._is_welcome = False
        delay_ns = self._random.randint(1, 20) * MILLISECOND
        self.wire = Wire(self, program, clock, delay_ns, self.client)
        self._say({"t": "hello", "v": VERSION, "client": self.client})

    def _say(self, message: Message) -> None:
        if self.wire is not None:
            self.wire.say(message)

    def on_lost(self, wire: Wire) -> None:
        """The connection is gone."""
        if self.wire is wire:
            self.wire = None
            self._opened.clear()
            self._asking.clear()
            self._is_welcome = False

    # --- objects --------------------------------------------------------------------------------

    def _open(self, name: str) -> None:
        if name in self._opened or name in self._asking:
            return
        self._asking.add(name)
        message: Message = {"t": "open", "name": name, "type": OBJECTS[name]}
        copy = self.copies.get(name)
        if copy is not None:
            message |= {"birth": copy.birth, "version": copy.position}
        self._say(message)

    def receive(self, wire: Wire, messages: list[Message], seen: Seen) -> None:
        """A frame has come; then its copies are what the node had."""
        for message in messages:
            if self.wire is wire:
                self._take(message)
        for name, (birth, position, digest) in seen.items():
            copy = self.copies.get(name)
            if copy is None or name not in self._opened:
                continue
            if copy.birth == birth and copy.position <= position and copy.digest() != digest:
                self._wrong(f"has not the state of {name} as of {position}: {copy.state}")

    def _take(self, message: Message) -> None:
        name = str(message.get("name", ""))
        match message["t"]:
            case "welcome":
                self._is_welcome = True
            case "snapshot" if name in self.wanted:
                self._on_snapshot(name, message)
            case "opened" if name in self.wanted:
                self._on_opened(name, message)
            case "changes" if name in self.copies:
                wrong = self.copies[name].change(message)
                if wrong:
                    self._wrong(f"{wrong} of {name}")
            case "people" if name in self._opened:
                self.others = dict(cast("list[tuple[str, object]]", message["others"]))
            case "presence" if name in self._opened:
                self._on_presence(str(message["who"]), message["value"])
            case "result":
                self._answer(name, cast("int", message["n"]), "")
            case "error":
                self._on_error(name, message)
        self.strive()

    def _on_presence(self, who: str, value: object) -> None:
        if value is None:
            self.others.pop(who, None)
        else:
            self.others[who] = value

    def _on_snapshot(self, name: str, message: Message) -> None:
        birth, position = str(message["birth"]), cast("int", message["version"])
        former = self.copies.get(name)
        if former is not None and former.birth == birth and position < former.position:
            self._wrong(f"is given the state of {name} as of {position} behind {former.position}")
        self.copies[name] = Copy(OBJECTS[name], birth, position, message["state"])
        calls = self.calls.get(name)
        if calls is not None and former is not None and former.birth != birth:
            self._begin_anew(name, calls, message)
        self._is_open(name, message)

    def _on_opened(self, name: str, message: Message) -> None:
        copy = self.copies.get(name)
        if copy is not None:  # what is between has changed nothing
            copy.position = cast("int", message["version"])
        self._is_open(name, message)
        if name == "people":
            self._show()

    def _is_open(self, name: str, message: Message) -> None:
        self._asking.discard(name)
        self._opened.add(name)
        for number, _, code in cast("list[tuple[int, object, str]]", message["done"]):
            self._answer(name, number, code)

    def _begin_anew(self, name: str, calls: Calls, message: Message) -> None:
        """Nobody had the object any more: what its state does not know will not be done."""
        known = {one[0] for one in cast("list[tuple[int, object, str]]", message["done"])}
        last = cast("int", message["last"])
        for asked in [one for one in calls.done.values() if one.number > last]:
            self._lost_call(name, calls, asked)
        for asked in list(calls.asked.values()):
            if asked.number <= last:
                self._answer(name, asked.number, "" if asked.number in known else "result_lost")
            else:
                self._lost_call(name, calls, asked)
        calls.last = max(calls.last, last)

    def _lost_call(self, name: str, calls: Calls, asked: Asked) -> None:
        calls.asked.pop(asked.number, None)
        calls.done.pop(asked.number, None)
        now = self._streets.clock.now_ns
        self._streets.trace.add(PageLost(now, self.client, name, asked.number, asked.token))

    def _show(self) -> None:
        if "people" in self._opened and self.shows:
            self._say({"t": "present", "name": "people", "value": self.shows})

    # --- calls ----------------------------------------------------------------------------------

    def _call(self, name: str, second: float, third: float) -> None:
        copy = self.copies.get(name)
        if copy is None or name not in self._opened:
            self.wanted[name] = None
            return
        token = self._streets.token()
        call = self._chosen(copy, token, second, third)
        calls = self.calls.setdefault(name, Calls())
        calls.last += 1
        asked = calls.asked[calls.last] = Asked(calls.last, call, token)
        now = self._streets.clock.now_ns
        operation = str(call[0])
        called = PageCalled(now, self.client, name, asked.number, operation, token)
        self._streets.trace.add(called)
        self._send_calls(name)

    def _chosen(self, copy: Copy, token: str, second: float, third: float) -> list[object]:
        match copy.kind:
            case "Map":
                key = f"k{int(third * 4)}"
                return ["set", [key, len(token)]] if second < 0.7 else ["pop", [key]]
            case "Counter":
                return ["add", [1]]
            case "Lock":
                return ["try_acquire", []]
        items = [str(one[0]) for one in cast("list[list[object]]", copy.state)]
        if second < 0.6 or not items:
            return ["append", [token]]
        item = items[int(third * len(items))]
        return ["insert", [token, item]] if second < 0.9 else ["move", [item, None]]

    def _send_calls(self, name: str) -> None:
        calls = self.calls.get(name)
        if calls is None or not calls.asked or self.wire is None:
            return
        answered = min(calls.asked) - 1
        for asked in calls.asked.values():
            if asked.wire is not self.wire:
                asked.wire = self.wire
                message: Message = {"t": "call", "name": name, "n": asked.number}
                message["answered"] = answered
                message["calls"] = [asked.call]  # type: ignore[list-item]
                self._say(message)

    def _on_error(self, name: str, message: Message) -> None:
        code, number = str(message["code"]), message.get("n")
        if code == "internal":
            self._wrong(f"is told of a bug of the node: {message['message']!r}")
        if number is None:
            self._asking.discard(name)
            self._opened.discard(name)  # asked for again
            if not message["temporary"]:
                self._wrong(f"may not open {name}: {code}")
            return
        asked = self.calls.get(name, Calls()).asked.get(cast("int", number))
        if asked is not None and code in TEMPORARY:
            asked.wire = None
        elif asked is not None:
            self._answer(name, asked.number, code)

    def _answer(self, name: str, number: int, code: str) -> None:
        calls = self.calls.get(name)
        asked = None if calls is None else calls.asked.pop(number, None)
        if calls is None or asked is None:
            return
        if code and code not in EXPECTED:
            self._wrong(f"has {code} for {asked.call} of {name}")
        if not code:
            calls.done[number] = asked
        now = self._streets.clock.now_ns
        copy = self.copies.get(name)
        birth = "" if copy is None else copy.birth
        answer = PageAnswered(now, self.client, name, number, code, asked.token, birth)
        self._streets.trace.add(answer)

    # --- what it lacks --------------------------------------------------------------------------

    def lacks(self) -> str:
        """What the page waits for, or has otherwise than its node; empty: nothing."""
        if self.wire is None or not self._is_welcome:
            return "has no connection"
        if self.wire.is_slow:
            return "reads nothing"
        missing = sorted(set(self.wanted) - self._opened)
        if missing:
            return f"waits for {missing}"
        waiting = {name: sorted(one.asked) for name, one in self.calls.items() if one.asked}
        if waiting:
            return f"waits for answers to {waiting}"
        return next(filter(None, map(self._differs, self.wanted)), "")

    def _differs(self, name: str) -> str:
        copy = self.copies.get(name)
        site = None if self.wire is None else self.wire.program.host.sites.get(name)
        if copy is None or site is None or site.body is None:
            return ""
        machine = site.body.machine
        state = snapshot_of(name, machine.target)
        if copy.birth == machine.birth and copy.digest() == digest_of(copy.kind, state):
            return ""
        return f"has {name} as of {copy.position}, otherwise than the node as of {machine.position}"

    def _wrong(self, text: str) -> None:
        now = self._streets.clock.now_ns
        self._streets.trace.add(PageWrong(now, self.client, text))
