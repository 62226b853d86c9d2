"""The state of a replicated dict: what every operation does, the same at every member.

Pure values: no time, no messages, nothing random. Values are kept packed, so that nobody can
change one in place, and a copy of the state costs no more than a copy of its table.

Each writer numbers its operations. The results of those whose answer the writer may not know yet
are kept, so an operation that comes again (its writer had to join anew and could not know) is
answered from there and not done twice.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TypeAlias

from groupcore.blocks.errors import ValueRefusedError
from groupcore.blocks.values import pack_value, unpack_value

Writer: TypeAlias = tuple[str, int]
"""Node id and incarnation of the life in which a dict was made."""

WRITERS_MAX = 1024
"""Writers whose results are kept; beyond it the one goes that has been absent longest."""
OPERATIONS_MAX = 256
"""How far a writer's numbers may be ahead of the lowest one that it waits for."""

DONE, MISSING, NOT_A_NUMBER, FULL = 0, 1, 2, 3
"""How an operation ended."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. `answered`: the writer knows the results of all its numbers up to this.

    `name` and `arguments` are those of the method of ReplicatedDict; values in them are packed.
    """

    writer: Writer
    number: int
    answered: int
    name: str
    arguments: list[object]


@dataclass(frozen=True, slots=True)
class Result:
    """How an operation ended, and its value, packed."""

    how: int
    packed: bytes


@dataclass(slots=True)
class History:
    """A writer's results that may be asked for again, and up to where none will be."""

    answered: int = 0
    results: dict[int, Result] = field(default_factory=dict)


NOTHING = pack_value(None)
YES, NO = pack_value(True), pack_value(False)
DONE_NOTHING = Result(DONE, NOTHING)
Changes: TypeAlias = list[tuple[str, bytes | None]]
"""Keys with their former packed values, None where there was none."""


def encode_operation(operation: Operation) -> bytes:
    """The operation as bytes."""
    o = operation
    return pack_value([list(o.writer), o.number, o.answered, o.name, o.arguments])


def decode_operation(payload: bytes) -> Operation:
    """The operation in these bytes; ValueRefusedError when they are not one."""
    match unpack_value(payload):
        case [[str(node), int(life)], int(number), int(answered), str(name), list(arguments)]:
            if not 0 <= answered < number <= answered + OPERATIONS_MAX:
                raise ValueRefusedError("an operation's number is not one that is under way")
            operation = Operation((node, life), number, answered, name, arguments)
            _check(operation)
            return operation
        case _:
            raise ValueRefusedError("not an operation of a dict")


def _check(operation: Operation) -> None:
    """Accept arguments of the right types; the packed ones must open."""
    match operation.name, operation.arguments:
        case (("set" | "setdefault"), [str(), bytes(packed)]):
            unpack_value(packed)
        case "delete", [str()]:
            pass
        case "pop", [str(), bytes() | None]:
            pass
        case "compare_and_set", [str(), bytes() | None, bytes() | None]:
            pass
        case "increment", [str(), int() | float()]:
            pass
        case "update", [dict(pairs)] if all(type(packed) is bytes for packed in pairs.values()):
            pass
        case (("clear" | "refresh"), []):
            pass
        case name, _:
            raise ValueRefusedError(f"no operation {name[:40]!r} with these arguments")


class DictState:
    """Keys and packed values, and the writers' results. `bytes_max` bounds keys and values."""

    def __init__(self, bytes_max: int) -> None:
        self.bytes_max = bytes_max
        self.entries: dict[str, bytes] = {}
        self.used_bytes = 0
        self.writers: dict[Writer, History] = {}

    # --- operations -----------------------------------------------------------------------------

    def apply(self, operation: Operation) -> tuple[Result | None, Changes]:
        """Do it at its place. None: it was done before, and its writer knows the result."""
        history = self.writers.pop(operation.writer, None) or History()
        self.writers[operation.writer] = history  # now the last one: who wrote latest
        if operation.number <= history.answered:
            return None, []
        known = history.results.get(operation.number)
        if known is not None:
            return known, []
        result, changes = self._do(operation)
        history.results[operation.number] = result
        if operation.answered > history.answered:
            history.answered = operation.answered
            for number in [n for n in history.results if n <= operation.answered]:
                del history.results[number]
        return result, changes

    def forget_writers(self, present: Collection[str]) -> None:
        """Drop the writers that are too many: of nodes that are absent, who wrote least lately."""
        surplus = len(self.writers) - WRITERS_MAX
        for writer in [writer for writer in self.writers if writer[0] not in present]:
            if surplus <= 0:
                return
            del self.writers[writer]
            surplus -= 1

    def result_of(self, writer: Writer, number: int) -> Result | None:
        """What an operation has given, if that is still kept."""
        history = self.writers.get(writer)
        return None if history is None else history.results.get(number)

    def _do(self, operation: Operation) -> tuple[Result, Changes]:
        match operation.name, operation.arguments:
            case "set", [str(key), bytes(packed)]:
                return self._put({key: packed}, DONE_NOTHING)
            case "update", [dict(pairs)]:
                return self._put(pairs, DONE_NOTHING)
            case "setdefault", [str(key), bytes(packed)]:
                if key in self.entries:
                    return Result(DONE, self.entries[key]), []
                return self._put({key: packed}, Result(DONE, packed))
            case "delete", [str(key)]:
                if key not in self.entries:
                    return Result(MISSING, NOTHING), []
                return DONE_NOTHING, self._remove(key)
            case "pop", [str(key), bytes() | None as default]:
                if key not in self.entries:
                    how = MISSING if default is None else DONE
                    return Result(how, default or NOTHING), []
                return Result(DONE, self.entries[key]), self._remove(key)
            case "compare_and_set", [str(key), bytes() | None as old, bytes() | None as new]:
                return self._compare_and_set(key, old, new)
            case "increment", [str(key), int() | float() as by]:
                return self._increment(key, by)
            case "clear", _:
                changes: Changes = list(self.entries.items())
                self.entries, self.used_bytes = {}, 0
                return Result(DONE, pack_value(len(changes))), changes
            case _:  # refresh: only the place counts
                return DONE_NOTHING, []

    def _compare_and_set(
        self, key: str, old: bytes | None, new: bytes | None
    ) -> tuple[Result, Changes]:
        if self.entries.get(key) != old:
            return Result(DONE, NO), []
        if new is None:
            return Result(DONE, YES), self._remove(key) if old is not None else []
        return self._put({key: new}, Result(DONE, YES))

    def _increment(self, key: str, by: float) -> tuple[Result, Changes]:
        present = unpack_value(self.entries[key]) if key in self.entries else 0
        if type(present) not in (int, float):
            return Result(NOT_A_NUMBER, NOTHING), []
        assert isinstance(present, int | float)
        try:
            packed = pack_value(present + by)
        except ValueRefusedError:
            return Result(NOT_A_NUMBER, NOTHING), []
        return self._put({key: packed}, Result(DONE, packed))

    def _put(self, pairs: dict[str, bytes], result: Result) -> tuple[Result, Changes]:
        """All of the pairs, or none when they do not fit."""
        grown = sum(
            _size(key, packed) - _size(key, self.entries.get(key)) for key, packed in pairs.items()
        )
        if self.used_bytes + max(grown, 0) > self.bytes_max:
            return Result(FULL, NOTHING), []
        changes = [(key, self.entries.get(key)) for key in pairs]
        self.entries.update(pairs)
        self.used_bytes += grown
        return result, changes

    def _remove(self, key: str) -> Changes:
        former = self.entries.pop(key)
        self.used_bytes -= _size(key, former)
        return [(key, former)]

    # --- transfer -------------------------------------------------------------------------------

    def encode(self) -> bytes:
        """The whole state as bytes; the order of the entries is part of it."""
        writers = [
            [*writer, history.answered, [[n, r.how, r.packed] for n, r in history.results.items()]]
            for writer, history in self.writers.items()
        ]
        return pack_value([self.entries, writers], bytes_max=1 << 40)

    @classmethod
    def decode(cls, packed: bytes, bytes_max: int) -> DictState:
        """The state in these bytes; ValueRefusedError when they are not one."""
        state = cls(bytes_max)
        match unpack_value(packed):
            case [dict(entries), list(writers)]:
                for key, value in entries.items():
                    if type(value) is not bytes:
                        raise ValueRefusedError(f"the value of {key[:40]!r} is not packed")
                    state.entries[key] = value
                    state.used_bytes += _size(key, value)
                for writer in writers:
                    state._add_writer(writer)
                return state
            case _:
                raise ValueRefusedError("not the state of a dict")

    def _add_writer(self, writer: object) -> None:
        match writer:
            case [str(node), int(life), int(answered), list(results)]:
                history = self.writers[(node, life)] = History(answered)
            case _:
                raise ValueRefusedError("a writer of the dict's state is malformed")
        for result in results:
            match result:
                case [int(number), int(how), bytes(packed)] if how in (0, 1, 2, 3):
                    history.results[number] = Result(how, packed)
                case _:
                    raise ValueRefusedError("a result in the dict's state is malformed")


def _size(key: str, packed: bytes | None) -> int:
    return 0 if packed is None else len(key.encode()) + len(packed)
