"""PullPushAdapter: a channel that calls, instead of one that is read.

A channel is read item by item (pull). The adapter reads it and calls listeners (push). Several
listeners share one channel, each under an id of its own: what is sent under an id goes to the
listener of that id at every member, so a dispatcher, a replicated dict and the program's own
messages do not meet. All members of the group use adapters then.

Source. State transfer paper, 3.4.2; `PullPushAdapter` of JGroups.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from groupcore.aio.inbox import Message
from groupcore.blocks.errors import ListenerError, NestedCallError, ValueRefusedError
from groupcore.blocks.listener import Callback, Listener
from groupcore.blocks.ports import GroupChannel
from groupcore.blocks.state_taking import StateTaking
from groupcore.blocks.values import pack_value, unpack_value
from groupcore.errors import ChannelClosedError, GroupcoreError, NotPrimaryError
from groupcore.events import Event, ViewInstalled
from groupcore.transfer.events import SetState
from groupcore.view import Address, View

log = logging.getLogger(__name__)

LISTENER_ID_MAX = 64
LISTENERS_MAX = 1024
STATE_ID = "\x00"
"""Under this id the adapters tell each other who has state; no listener can have it."""


class PullPushAdapter:
    """Reads a channel and calls its listeners.

    `view` is the view at the present place in the order, `me` this member in it; `position` is
    that place, in `view.epoch`. `whole` tells whether the listeners have their state (always True
    without stateful listeners). Use it on the channel's loop.
    """

    def __init__(
        self, channel: GroupChannel, *, state_timeout_s: float = 10.0, retry_s: float = 1.0
    ) -> None:
        """Nothing is read before `start`, and nobody else may read the channel.

        `state_timeout_s` bounds one attempt to take the state; `retry_s` is the pause after it.
        """
        self.channel = channel
        self.view: View | None = None
        self.me: Address | None = None
        self.position = 0
        self._listeners: dict[str, Listener] = {}
        self._state = StateTaking(channel, self._say, state_timeout_s, retry_s)
        self._numbers: Counter[str] = Counter()
        self._reading: asyncio.Task[None] | None = None
        self._stateful = False
        self._in_view = asyncio.Event()

    # --- listeners ------------------------------------------------------------------------------

    def add_listener(self, listener: Listener, listener_id: str = "") -> None:
        """Call this listener from now on, for what is sent under this id.

        `listener_id` is the same at all members, up to 64 printable ASCII characters. One that is
        added while the adapter runs finds the present view in `view`. ListenerError when the id is
        taken or not one, or a stateful listener comes after `start`.
        """
        if listener_id in self._listeners:
            raise ListenerError(f"another listener has the id {listener_id!r}; give it another")
        if len(listener_id) > LISTENER_ID_MAX or not (
            listener_id.isascii() and (listener_id.isprintable() or not listener_id)
        ):
            raise ListenerError(
                f"{listener_id!r} is not an id; use up to {LISTENER_ID_MAX} printable ASCII "
                "characters"
            )
        if len(self._listeners) >= LISTENERS_MAX:
            raise ListenerError(f"there are {LISTENERS_MAX} listeners; remove one first")
        if listener.stateful and self._reading is not None:
            raise ListenerError("a stateful listener is added before the adapter starts")
        self._listeners[listener_id] = listener
        self._stateful = self._stateful or listener.stateful

    def remove_listener(self, listener: Listener) -> None:
        """Do not call this listener any more; ListenerError when it was not added."""
        for listener_id, present in self._listeners.items():
            if present is listener:
                del self._listeners[listener_id]
                return
        raise ListenerError("this listener was not added, or is removed already")

    # --- life -----------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to read, before or after the channel's `connect`; call it once."""
        assert self._reading is None, "an adapter is started once"
        self._reading = asyncio.get_running_loop().create_task(self._read())

    async def stop(self) -> None:
        """Stop reading; the channel stays open. Listeners are told by `on_closed`."""
        self._state.stop()
        if self._reading is not None and not self._reading.done():
            self._reading.cancel()
            await asyncio.wait([self._reading])

    async def until_view(self, timeout_s: float = 10.0) -> View:
        """The present view, once there is one; NotPrimaryError when none comes in time.

        `Channel.connect` returns before the adapter has come to the first view.
        """
        if self.view is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await self._in_view.wait()
        if self.view is None:
            raise NotPrimaryError("this member has not joined; connect the channel first")
        return self.view

    async def wait_closed(self) -> None:
        """Wait until the channel has ended; raises what ended it, if that was an error."""
        if self._reading is not None:
            await asyncio.shield(self._reading)

    async def __aenter__(self) -> Self:
        """Start."""
        self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop."""
        await self.stop()

    # --- sending --------------------------------------------------------------------------------

    async def multicast(self, payload: bytes, listener_id: str = "") -> None:
        """Send to the listeners of this id at all members, in the total order.

        Waits and raises as `Channel.multicast` does.
        """
        await self.channel.multicast(_tag(listener_id) + payload)

    async def unicast(self, destination: Address, payload: bytes, listener_id: str = "") -> None:
        """Send to the listener of this id at one member; raises as `Channel.unicast` does."""
        await self.channel.unicast(destination, _tag(listener_id) + payload)

    @property
    def whole(self) -> bool:
        """Whether the listeners have the state of the group at the present place."""
        return self._state.whole or not self._stateful

    def check_may_wait(self) -> None:
        """Accept a caller that waits for deliveries; NestedCallError inside a callback.

        The adapter awaits a callback before it goes on, so what is waited for would not come.
        """
        if asyncio.current_task() is self._reading:
            raise NestedCallError(
                "a callback or an ordered function waits for the order that it holds up; start a "
                "task for it, or call with Gather.NONE"
            )

    def counters(self) -> dict[str, int]:
        """Messages handed over, and what was dropped, by reason."""
        return dict(sorted(self._numbers.items()))

    # --- the state, for the channel -------------------------------------------------------------

    def copy(self) -> bytes | None:
        """The states of all listeners as one, at this place; None before there is any."""
        if not self.whole:
            return None
        states: dict[str, bytes] = {}
        for listener_id, listener in self._stateful_listeners():
            try:
                state = listener.get_state()
            except Exception:
                log.exception("listener %r gave no state", listener_id)
                self._numbers["listener_failures"] += 1
                return None
            if state is not None:
                states[listener_id] = state
        return pack_value(states, bytes_max=1 << 40)

    # --- reading --------------------------------------------------------------------------------

    async def _read(self) -> None:
        failed: GroupcoreError | None = ChannelClosedError("the adapter was stopped")
        try:
            async for item in self.channel.events():
                if isinstance(item, Message):
                    await self._on_message(item)
                elif isinstance(item, SetState):
                    self._on_state(item)
                else:
                    await self._on_event(item)
            failed = None
        except GroupcoreError as error:
            failed = error
            raise
        finally:
            self._state.stop()
            self._in_view.set()
            for listener_id in list(self._listeners):
                await self._call(listener_id, lambda listener: listener.on_closed(failed))

    async def _on_message(self, message: Message) -> None:
        self.position = message.position or self.position
        listener_id, payload = _untag(message.payload)
        if listener_id is None:
            self._numbers["malformed"] += 1
            return
        if listener_id == STATE_ID:
            if self._stateful and self._state.on_word(message.origin, bytes(payload)):
                self._begin_empty()
            return
        listener = self._listeners.get(listener_id)
        if listener is None:
            self._numbers["no_listener"] += 1
            return
        if message.position and listener.stateful and not self.whole:
            self._numbers["in_the_state"] += 1  # it is contained in the state that will come
            return
        self._numbers["messages"] += 1
        handed = Message(message.origin, payload, message.position)
        await self._call(listener_id, lambda present: present.on_message(handed))

    async def _on_event(self, event: Event) -> None:
        if not isinstance(event, ViewInstalled):
            for listener_id in list(self._listeners):
                await self._call(listener_id, lambda listener: listener.on_event(event))
            return
        self.view = event.view
        self.me = self._find_me(event.view)
        self.position = event.position
        self._in_view.set()
        empty = self._stateful and self._state.on_view(event, self.me)
        for listener_id in list(self._listeners):
            await self._call(listener_id, lambda listener: listener.on_view(event))
        if empty:
            self._begin_empty()
        elif not self.whole:
            self.channel.state_provider = None

    def _find_me(self, view: View) -> Address:
        """This member as it stands in a view; the channel itself may be a life further on."""
        try:
            address = self.channel.address
        except ChannelClosedError:
            assert self.me is not None, "a view came before the first life"
            address = self.me
        return next((m for m in view.members if m.name == address.name), address)

    async def _call(self, listener_id: str, call: Callable[[Listener], Callback]) -> None:
        """Call one listener; what it raises is logged under its name and stops nobody else."""
        listener = self._listeners.get(listener_id)
        if listener is None:
            return  # removed by the one before it
        try:
            awaitable = call(listener)
            if awaitable is not None:
                await awaitable
        except Exception:
            log.exception("listener %r (%s) failed", listener_id, type(listener).__name__)
            self._numbers["listener_failures"] += 1

    # --- taking the state -----------------------------------------------------------------------

    async def _say(self, word: bytes) -> None:
        await self.multicast(word, STATE_ID)

    def _begin_empty(self) -> None:
        self._set_states({})

    def _on_state(self, item: SetState) -> None:
        if not self._state.accepts():
            self._numbers["unasked_states"] += 1
            return
        try:
            states = unpack_value(item.state or b"")
        except ValueRefusedError as error:
            log.warning("a state from %s cannot be read: %s", item.provider, error)
            self._refuse()
            return
        if not (isinstance(states, dict) and all(type(s) is bytes for s in states.values())):
            log.warning("a state from %s is not an adapter's", item.provider)
            self._refuse()
            return
        self._set_states(states)

    def _set_states(self, states: dict[str, bytes]) -> None:
        """Hand each listener its own; one that refuses leaves all of them without state."""
        for listener_id, listener in self._stateful_listeners():
            try:
                listener.set_state(states.get(listener_id))
            except Exception:
                log.exception("listener %r refused its state", listener_id)
                self._refuse()
                return
        self._state.on_taken()
        self.channel.state_provider = self  # from now on others can be given it

    def _refuse(self) -> None:
        self._numbers["bad_states"] += 1
        self._state.on_refused()

    def _stateful_listeners(self) -> list[tuple[str, Listener]]:
        return [pair for pair in self._listeners.items() if pair[1].stateful]


def _tag(listener_id: str) -> bytes:
    encoded = listener_id.encode("ascii")
    return bytes((len(encoded),)) + encoded


def _untag(message: bytes) -> tuple[str | None, bytes]:
    """The listener's id and its payload; None when the message is not an adapter's."""
    end = 1 + message[0] if message else 0
    if not 0 < end <= len(message) or not message[1:end].isascii():
        return None, b""
    return message[1:end].decode("ascii"), message[end:]
