"""The rows of `dump-log`: what stands at each number of a group, and what became of it there.

A log has messages, not what they did. So each group's object is made once more from its beginning
in the log, and every message is done again by the code that every replica runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from groupcore.sequencing.names import GroupId
from groupcore.sequencing.record import GONE, JOINED
from groupcore.shared.errors import MisfitError, SharedError
from groupcore.shared.machine import Done, Entry, Machine, digest_of
from groupcore.shared.messages import Operate, decode
from groupcore.shared.plain import plain, who
from groupcore.shared.rebuilding import KindOf, Logged, LoggedState, state_of
from groupcore.shared.verdicts import code_of

Row = dict[str, object]
Wanted = Callable[[str], bool]
CAME_OR_WENT = {JOINED: "joined", GONE: "gone"}


NO_OPERATION = "no operation"
"""How the verdict begins on a message that no object understands: it does nothing, anywhere."""


class Outcomes:
    """Does what the log says again, group by group; `kind_of` says which object a group is."""

    def __init__(self, kind_of: KindOf, wanted: Wanted = lambda name: True) -> None:
        self._kind_of = kind_of
        self._wanted = wanted
        self._machines: dict[GroupId, Machine] = {}

    def rows(self, logged: Iterable[Logged | LoggedState]) -> Iterator[Row]:
        """One for each number, and one for each stretch that a state stands for."""
        for one in logged:
            if not self._wanted(one.name or str(one.group)):
                continue
            if isinstance(one, Logged):
                yield self._row(one)
            elif one.position:
                yield self._compacted(one)

    def _compacted(self, one: LoggedState) -> Row:
        machine = self._begin(one.group, one.name)
        held = "nothing that this program can read"
        calls: dict[str, int] = {}
        if machine is not None and one.state is not None:
            try:
                packed = state_of(one.state)
                machine.load(packed)
            except SharedError:
                del self._machines[one.group]
            else:
                held = f"the object's state {digest_of(packed).hex()} in this log"
                calls = machine.verdicts.last_numbers()
        return {
            "group": one.name or str(one.group),
            "epoch": None,
            "sequence_number": one.position,
            "settled": True,
            "time": None,
            "verdict": "compacted",
            "first": 1,
            "contained_in": held,
            "calls": calls,
        }

    def _row(self, one: Logged) -> Row:
        """As `dump-log` shows it."""
        done = self._do(one)
        row: Row = {
            "group": one.name or str(one.group),
            "epoch": one.epoch,
            "sequence_number": one.position,
            "settled": one.settled,
            "time": None,
            "process": who(one.process),
        }
        if one.payload is None:
            return row | {"verdict": CAME_OR_WENT.get(one.what, "left")}
        try:
            message = decode(one.payload)
        except MisfitError as error:
            return row | {"verdict": f"{NO_OPERATION}: {error}"}
        if not isinstance(message, Operate):
            return row | {"verdict": "a comparison of states"}
        call = message.call
        return row | {
            "time": instant(message.stamp_ms),
            "subject": message.principal,
            "client_operation_id": None if call is None else f"{call.client}:{call.number}",
            "operation": [[name, arguments] for name, arguments in message.calls],
            **outcome_of(done),
        }

    def _begin(self, group: GroupId, name: str) -> Machine | None:
        kind = self._kind_of(name)
        if kind is None:
            return None
        machine = self._machines[group] = Machine(kind(), group)
        return machine

    def _do(self, one: Logged) -> Done | None:
        """Do it; None where what was before is not known."""
        machine = self._machines.get(one.group)
        if machine is None and one.position == 1:
            machine = self._begin(one.group, one.name)
        if machine is None or one.position != machine.position + 1:
            return None
        entry = Entry(one.position, one.process, one.number, one.payload, one.what == JOINED)
        return machine.apply(entry)


def outcome_of(done: Done | None) -> Row:
    """What became of a message of operations."""
    if done is None:
        return {"verdict": "ordered"}
    if done.repeated and done.verdict is not None:
        return {"verdict": "repeated", "code": done.verdict.code}
    if done.error is not None:
        return {"verdict": "refused", "code": code_of(done.error)}
    try:
        return {"verdict": "done", "results": [plain(one) for one in done.results]}
    except MisfitError:
        return {"verdict": "done", "results": None}


def instant(time_ms: int) -> str:
    """Milliseconds since 1970 in the format of RFC 3339, UTC."""
    try:
        time = datetime.fromtimestamp(time_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):  # the clock of a node may say anything
        return f"{time_ms} ms since 1970"
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
