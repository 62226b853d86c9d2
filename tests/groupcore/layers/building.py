"""What the tests of layers are built from: members, views, batches, and effects picked by kind."""

from __future__ import annotations

from collections.abc import Iterable

from groupcore.batch import Batch, Header, pack_messages
from groupcore.effects import Down, Effect, Notify, Persist, StartTimer, StopTimer, Up
from groupcore.events import Event, ViewInstalled
from groupcore.view import Address, View

A, B, C, D, E = (Address(name, 1) for name in "abcde")
STRANGER = Address("z", 1)


def view_of(*members: Address, number: int = 1, epoch: int = 1, floor: int = 0) -> View:
    """A view of these members, the first of them its coordinator."""
    return View(number, epoch, floor, 7, members)


def installed(*members: Address, number: int = 1) -> ViewInstalled:
    """The event that begins such a view."""
    return ViewInstalled(view_of(*members, number=number))


def message(sender: Address, text: str = "m", to: Address | None = None) -> Batch:
    """One message without headers, as the layer above sends it."""
    return Batch(sender, to, (), pack_messages([text.encode()]), 1)


def headed(sender: Address, *headers: Header, text: str = "m", to: Address | None = None) -> Batch:
    """One message with headers, as it comes from below."""
    return Batch(sender, to, headers, pack_messages([text.encode()]), 1)


def bare(sender: Address, header: Header, to: Address | None = None) -> Batch:
    """A header by itself, as layers tell it each other."""
    return Batch(sender, to, (header,), reliable=False)


def ups(effects: Iterable[Effect]) -> list[Batch]:
    """What goes up."""
    return [effect.batch for effect in effects if isinstance(effect, Up)]


def downs(effects: Iterable[Effect]) -> list[Batch]:
    """What goes down."""
    return [effect.batch for effect in effects if isinstance(effect, Down)]


def told(effects: Iterable[Effect]) -> list[Header]:
    """The outermost headers of what goes down."""
    return [batch.headers[-1] for batch in downs(effects)]


def events(effects: Iterable[Effect]) -> list[Event]:
    """What every layer is told."""
    return [effect.event for effect in effects if isinstance(effect, Notify)]


def timers(effects: Iterable[Effect]) -> dict[str, float]:
    """Timers that run when all effects have taken place, and their delays in seconds."""
    running: dict[str, float] = {}
    for effect in effects:
        if isinstance(effect, StartTimer):
            running[effect.name] = effect.delay_s
        elif isinstance(effect, StopTimer):
            running.pop(effect.name, None)
    return running


def stopped(effects: Iterable[Effect]) -> set[str]:
    """Timers that are stopped."""
    return {effect.name for effect in effects if isinstance(effect, StopTimer)}


def stored(effects: Iterable[Effect]) -> list[Persist]:
    """What must be on disk before anything that depends on it."""
    return [effect for effect in effects if isinstance(effect, Persist)]
