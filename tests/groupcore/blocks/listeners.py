"""Listeners that write down what they are called with, and started adapters for them."""

from __future__ import annotations

from groupcore.aio.inbox import Message
from groupcore.blocks.adapter import PullPushAdapter
from groupcore.blocks.listener import Listener
from groupcore.errors import GroupcoreError
from groupcore.events import Event, ViewInstalled
from tests.groupcore.blocks.group import FakeChannel, FakeGroup


class Recorder(Listener):
    """Writes down what it is called with."""

    def __init__(self) -> None:
        self.payloads: list[bytes] = []
        self.positions: list[int] = []
        self.views: list[tuple[str, ...]] = []
        self.events: list[Event] = []
        self.closed: list[GroupcoreError | None] = []

    def on_message(self, message: Message) -> None:
        self.payloads.append(message.payload)
        self.positions.append(message.position)

    def on_view(self, event: ViewInstalled) -> None:
        self.views.append(event.view.names)

    def on_event(self, event: Event) -> None:
        self.events.append(event)

    def on_closed(self, error: GroupcoreError | None) -> None:
        self.closed.append(error)


class Log(Recorder):
    """State: all payloads since the beginning."""

    stateful = True

    def __init__(self, refuses: int = 0) -> None:
        super().__init__()
        self.sets: list[bytes | None] = []
        self.refuses = refuses

    def get_state(self) -> bytes:
        return b",".join(self.payloads)

    def set_state(self, state: bytes | None) -> None:
        if self.refuses:
            self.refuses -= 1
            raise ValueError("unreadable")
        self.sets.append(state)
        self.payloads = state.split(b",") if state else []


async def member(
    group: FakeGroup, name: str, **listeners: Listener
) -> tuple[FakeChannel, PullPushAdapter]:
    """A started adapter with these listeners (`plain`: without an id), not joined yet."""
    channel = group.channel(name)
    adapter = PullPushAdapter(channel, retry_s=0.0)
    for listener_id, listener in listeners.items():
        adapter.add_listener(listener, "" if listener_id == "plain" else listener_id)
    adapter.start()
    return channel, adapter
