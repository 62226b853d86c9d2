"""ReplicatedDict: a dict that is the same at all members.

    stock = ReplicatedDict(adapter, "stock", int)
    await stock.set("apples", 3)
    left = await stock.increment("apples", -1)
    print(stock["apples"], stock.stale)

Reads are local and at once. A write travels in the total order, is done by every member at one
place, and its caller gets the result from there: what `increment` returns is true, whoever else
counts at the same moment. A member that joins, or comes back after the group went on without it,
takes the state. A write under way then is sent again under its number and still done once.

Limits. The dict lives in memory: it survives as long as one member that has it. Reads may be behind
what another member was just told; `refresh` waits until this one has caught up.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, cast

from groupcore.aio.inbox import Message
from groupcore.blocks.adapter import PullPushAdapter
from groupcore.blocks.dict_state import (
    FULL,
    MISSING,
    NOT_A_NUMBER,
    OPERATIONS_MAX,
    Changes,
    DictState,
    Operation,
    Result,
    Writer,
    decode_operation,
    encode_operation,
)
from groupcore.blocks.errors import (
    FullError,
    NotANumberError,
    OutcomeUnknownError,
    ValueRefusedError,
)
from groupcore.blocks.listener import Listener
from groupcore.blocks.values import check_annotation, conforms, pack_value, unpack_value
from groupcore.errors import ChannelClosedError, GroupcoreError, NotPrimaryError
from groupcore.events import Event, Excluded, ViewInstalled

log = logging.getLogger(__name__)

V = TypeVar("V")
KEY_BYTES_MAX = 1024
BYTES_MAX = 256 << 20
"""Default bound of keys and packed values together."""


@dataclass(frozen=True, slots=True)
class Change(Generic[V]):
    """One key was set or removed; `old` and `new` are None where there was or is none."""

    key: str
    old: V | None
    new: V | None
    removed: bool


@dataclass(frozen=True, slots=True)
class Replaced:
    """The whole content was replaced: this member has taken the state of the group."""


@dataclass(slots=True)
class Write:
    """A write under way: its bytes, and the future that its caller waits for."""

    payload: bytes
    result: asyncio.Future[Result]


class ReplicatedDict(Listener, Mapping[str, V]):
    """Keys of up to 1,024 bytes, and values of one type that travel (`groupcore.blocks.values`).

    Reading gives copies: changing one changes nothing. Iteration is in the order of first writing.
    Use it on the adapter's loop; several tasks may write at once.
    """

    stateful = True

    def __init__(
        self,
        adapter: PullPushAdapter,
        listener_id: str,
        value_type: type[V],
        *,
        writes: Literal["wait", "fail"] = "wait",
        bytes_max: int = BYTES_MAX,
    ) -> None:
        """Join the adapter before it starts, under this id.

        `listener_id`, `value_type` and `bytes_max` are the same at all members. `writes`: outside
        the primary view a write waits, or raises NotPrimaryError. RegistrationError for a type
        that cannot be checked, ListenerError for an id that is taken.
        """
        check_annotation(value_type)
        self._adapter = adapter
        self._id = listener_id
        self._value_type = value_type
        self._fails = writes == "fail"
        self._state = DictState(bytes_max)
        self._position = 0
        self._writer: Writer | None = None
        self._last_number = 0
        self._writes: dict[int, Write] = {}
        self._able = asyncio.Event()
        self._window_moved = asyncio.Event()
        self._resending: asyncio.Task[None] | None = None
        self._watchers: list[Callable[[Change[V] | Replaced], None]] = []
        self._closed: GroupcoreError | None = None
        self._numbers: Counter[str] = Counter()
        adapter.add_listener(self, listener_id)

    # --- reading --------------------------------------------------------------------------------

    def __getitem__(self, key: str) -> V:
        """The value of the key here and now; KeyError when there is none."""
        return self._opened(self._state.entries[key])

    def __iter__(self) -> Iterator[str]:
        """The keys."""
        return iter(list(self._state.entries))

    def __len__(self) -> int:
        """How many keys there are."""
        return len(self._state.entries)

    def __contains__(self, key: object) -> bool:
        """Whether the key is there."""
        return key in self._state.entries

    @property
    def stale(self) -> bool:
        """Whether the group may have gone on without this member: reads show the past."""
        return not (self._able.is_set() and self._adapter.channel.primary)

    @property
    def position(self) -> int:
        """Place in the order of the last operation done here."""
        return self._position

    def watch(self, watcher: Callable[[Change[V] | Replaced], None]) -> Callable[[], None]:
        """Call `watcher` after every change, in order; what is returned ends that."""
        self._watchers.append(watcher)
        return lambda: self._watchers.remove(watcher)

    def counters(self) -> dict[str, int]:
        """Operations done, repeated ones, what was malformed, keys, bytes."""
        sizes = {"keys": len(self), "used_bytes": self._state.used_bytes}
        return {**dict(sorted(self._numbers.items())), **sizes}

    # --- writing --------------------------------------------------------------------------------

    async def set(self, key: str, value: V) -> None:
        """Set the key.

        Like every write: waits for its place in the order. ValueRefusedError, FullError,
        ChannelClosedError, MessageTooLargeError, NestedCallError (inside a callback); with
        `writes="fail"` NotPrimaryError, and OutcomeUnknownError when the group went on without
        this member meanwhile. When the waiting is cancelled, the write may happen or not.
        """
        await self._write("set", _key(key), self._packed(value))

    async def update(self, pairs: Mapping[str, V]) -> None:
        """Set several keys at one place in the order: all or, when they do not fit, none."""
        await self._write("update", {_key(k): self._packed(v) for k, v in pairs.items()})

    async def setdefault(self, key: str, value: V) -> V:
        """Set the key if it is not there; returns the value that is there then."""
        return self._value(await self._write("setdefault", _key(key), self._packed(value)))

    async def delete(self, key: str) -> None:
        """Remove the key; KeyError when it was not there at its place in the order."""
        await self._write("delete", _key(key))

    async def pop(self, key: str, default: V | None = None) -> V:
        """Remove the key and return its value; `default` when it was not there, else KeyError."""
        packed = None if default is None else self._packed(default)
        return self._value(await self._write("pop", _key(key), packed))

    async def compare_and_set(self, key: str, old: V | None, new: V | None) -> bool:
        """Set the key to `new` if it is `old` at this place; tells whether it was.

        None stands for no value: as `old` for a key that is not there, as `new` for removing it.
        Values are equal if they are of one type, dicts if their keys are in one order, too.
        """
        wanted = None if old is None else self._packed(old)
        put = None if new is None else self._packed(new)
        return bool(
            unpack_value((await self._write("compare_and_set", _key(key), wanted, put)).packed)
        )

    async def increment(self, key: str, by: float = 1) -> V:
        """Add to a number (none counts as 0) and return the sum, which nobody else gets.

        NotANumberError when the value is none, or the sum has more than 64 bits.
        """
        return self._value(await self._write("increment", _key(key), by))

    async def clear(self) -> int:
        """Remove all keys; returns how many there were."""
        removed = unpack_value((await self._write("clear")).packed)
        assert isinstance(removed, int)
        return removed

    async def refresh(self) -> None:
        """Wait until this member has done all that was ordered before now, by anybody."""
        await self._write("refresh")

    async def close(self) -> None:
        """Leave the adapter; writes under way end with ChannelClosedError."""
        self._adapter.remove_listener(self)
        self.on_closed(None)
        if self._resending is not None:
            await asyncio.wait([self._resending])

    async def _write(self, name: str, *arguments: object) -> Result:
        self._adapter.check_may_wait()
        if self._fails and self.stale:
            raise NotPrimaryError("this member is outside the primary view; write when it is back")
        number = await self._next_number()
        assert self._writer is not None, "who is able to write has been in a view"
        lowest = next(iter(self._writes), number)
        operation = Operation(self._writer, number, lowest - 1, name, list(arguments))
        write = Write(encode_operation(operation), asyncio.get_running_loop().create_future())
        self._writes[number] = write
        try:
            await self._adapter.multicast(write.payload, self._id)
            result = await write.result
        finally:
            del self._writes[number]
            self._window_moved.set()
        if result.how == MISSING:
            raise KeyError(arguments[0])
        if result.how == NOT_A_NUMBER:
            raise NotANumberError(f"the value of {arguments[0]!r} cannot be counted up")
        if result.how == FULL:
            raise FullError(f"the dict {self._id!r} holds {self._state.bytes_max} bytes at most")
        return result

    async def _next_number(self) -> int:
        """The next number, once this member may write and its window is open."""
        while True:
            if self._closed is not None:
                raise self._closed
            lowest = next(iter(self._writes), self._last_number + 1)
            if not self._able.is_set():
                await self._able.wait()
            elif self._last_number + 1 - lowest >= OPERATIONS_MAX:
                self._window_moved.clear()
                await self._window_moved.wait()
            else:
                self._last_number += 1
                return self._last_number

    # --- callbacks ------------------------------------------------------------------------------

    def on_message(self, message: Message) -> None:
        """An operation at its place."""
        try:
            operation = decode_operation(message.payload)
        except ValueRefusedError as error:
            log.warning("an operation of %s was dropped: %s", message.origin, error)
            self._numbers["malformed"] += 1
            return
        if not message.position:
            self._numbers["malformed"] += 1
            return
        self._position = message.position
        result, changes = self._state.apply(operation)
        self._numbers["operations"] += 1
        if result is not None and operation.writer == self._writer:
            self._resolve(operation.number, result)
        self._tell(changes)

    def on_view(self, event: ViewInstalled) -> None:
        """Forget writers that are too many; after a fresh view, the state comes first."""
        me = self._adapter.me
        if self._writer is None and me is not None:
            self._writer = (me.name, me.incarnation)
        self._state.forget_writers(event.view.names)
        if event.fresh or not self._adapter.whole:
            self._able.clear()
        elif event.recovered:
            self._resend()  # what was on its way is lost with the memory of the others

    def on_event(self, event: Event) -> None:
        """Outside the group nothing that was sent comes back."""
        if not isinstance(event, Excluded):
            return
        self._able.clear()
        if self._fails:
            for number, write in self._writes.items():
                if not write.result.done():
                    text = f"write {number} was sent, and the group went on without this member"
                    write.result.set_exception(OutcomeUnknownError(text))

    def on_closed(self, error: GroupcoreError | None) -> None:
        """The channel has ended: so have the writes."""
        self._closed = error or ChannelClosedError("the channel of this dict was closed")
        self._able.set()
        self._window_moved.set()
        if self._resending is not None:
            self._resending.cancel()
        for write in self._writes.values():
            if not write.result.done():
                write.result.set_exception(self._closed)

    def get_state(self) -> bytes:
        """The entries, and the results that writers may ask for again."""
        return self._state.encode()

    def set_state(self, state: bytes | None) -> None:
        """Begin with what the group has; writes under way are looked up in it, or sent again."""
        bytes_max = self._state.bytes_max
        self._state = DictState(bytes_max) if state is None else DictState.decode(state, bytes_max)
        self._able.set()
        if self._writer is not None:
            for number in list(self._writes):
                result = self._state.result_of(self._writer, number)
                if result is not None:
                    self._resolve(number, result)
        self._resend()
        self._tell_all(Replaced())

    # --- inside ---------------------------------------------------------------------------------

    def _resolve(self, number: int, result: Result) -> None:
        write = self._writes.get(number)
        if write is None or write.result.done():
            self._numbers["unawaited_results"] += 1
            return
        write.result.set_result(result)

    def _resend(self) -> None:
        """Send the writes under way again; done twice they are not."""
        payloads = [write.payload for write in self._writes.values() if not write.result.done()]
        if self._resending is not None:
            self._resending.cancel()
        if payloads:
            self._numbers["resent"] += len(payloads)
            self._resending = asyncio.get_running_loop().create_task(self._send_all(payloads))

    async def _send_all(self, payloads: list[bytes]) -> None:
        try:
            for payload in payloads:
                await self._adapter.multicast(payload, self._id)
        except GroupcoreError as error:
            log.info("writes were not sent again: %s", error)

    def _tell(self, changes: Changes) -> None:
        if not self._watchers:
            return
        for key, old in changes:
            new = self._state.entries.get(key)
            opened_old = None if old is None else self._opened(old)
            opened_new = None if new is None else self._opened(new)
            self._tell_all(Change(key, opened_old, opened_new, new is None))

    def _tell_all(self, change: Change[V] | Replaced) -> None:
        for watcher in list(self._watchers):
            try:
                watcher(change)
            except Exception:
                log.exception("a watcher of the dict %r failed", self._id)
                self._numbers["watcher_failures"] += 1

    def _packed(self, value: V) -> bytes:
        if not conforms(value, self._value_type):
            wanted = getattr(self._value_type, "__name__", str(self._value_type))
            raise ValueRefusedError(f"a {type(value).__name__} is no {wanted}")
        return pack_value(value)

    def _value(self, result: Result) -> V:
        return self._opened(result.packed)

    def _opened(self, packed: bytes) -> V:
        return cast(V, unpack_value(packed))


def _key(key: str) -> str:
    if len(key.encode(errors="replace")) > KEY_BYTES_MAX:
        raise ValueRefusedError(f"a key has at most {KEY_BYTES_MAX} bytes; {key[:20]!r}… has more")
    return key
