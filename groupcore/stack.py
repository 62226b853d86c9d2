"""The stack: layers over each other, and the pump that runs their effects.

`Stack` is sans-I/O like its layers. Whoever drives it (the asyncio node, the simulator) calls
`receive`, `send`, `notify`, `wake` and, when everything that arrived together has been handled,
`end_turn`; then takes what has to be sent, delivered and stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from groupcore.batch import Batch, Header
from groupcore.composition import check_composition
from groupcore.drops import Drops
from groupcore.effects import Down, Effect, Notify, Persist, StartTimer, StopTimer, Tell, Up
from groupcore.events import Event
from groupcore.layer import Layer

TURN_ROUNDS_MAX = 64
"""Rounds of end-of-turn timers in one turn; more means that a layer re-arms itself for ever."""


@dataclass(slots=True)
class Output:
    """What a turn has caused: in order, for whoever drives the stack."""

    sends: list[Batch] = field(default_factory=list)
    deliveries: list[Batch | Event] = field(default_factory=list)
    persists: list[Persist] = field(default_factory=list)


class Stack:
    """Layers from the lowest to the highest, with their timers.

    `sources` is where counters are read, by layer in order; whoever drives the stack may add to it.
    """

    def __init__(self, layers: Sequence[Layer]) -> None:
        check_composition(layers)
        self.layers = tuple(layers)
        self.drops = Drops()
        self.sources: dict[str, Callable[[], Mapping[str, int]]] = {
            **{layer.name: layer.counters for layer in layers},
            "stack": lambda: {f"drops.{reason}": n for reason, n in sorted(self.drops.items())},
        }
        self._output = Output()
        self._owner: dict[type[Header], int] = {
            header: index for index, layer in enumerate(layers) for header in layer.headers
        }
        self._below = self._routes_down()
        self._passed = self._routes_up()
        self._tellers = [
            index for index, layer in enumerate(layers) if type(layer).on_tell is not Layer.on_tell
        ]
        self._listeners: dict[type[Event], list[tuple[int, Layer]]] = {}
        self._timers: dict[tuple[int, str], int] = {}
        self._heap: list[tuple[float, int, int, str]] = []
        self._due: dict[tuple[int, str], None] = {}
        self._ticket = count(1)

    def _routes_down(self) -> list[int]:
        """For each layer the next one below that wants to see what goes down, or -1."""
        routes = []
        nearest = -1
        for index, layer in enumerate(self.layers):
            routes.append(nearest)
            if type(layer).on_down is not Layer.on_down:
                nearest = index
        routes.append(nearest)  # the application's route
        return routes

    def _routes_up(self) -> list[int]:
        """For each layer, the transport last (index -1), the next above that `on_pass`es."""
        top = len(self.layers)
        routes = [top] * (top + 1)
        for index in range(top - 1, -1, -1):
            passes = type(self.layers[index]).on_pass is not Layer.on_pass
            routes[index - 1] = index if passes else routes[index]
        return routes

    @property
    def body_limit_bytes(self) -> int | None:
        """Largest body that every layer can carry, in bytes; None without a limit."""
        limits = [layer.body_limit_bytes for layer in self.layers]
        return min((limit for limit in limits if limit is not None), default=None)

    # --- inputs ---------------------------------------------------------------------------------

    def receive(self, batch: Batch, now: float) -> None:
        """A batch from the transport goes up."""
        self._up(-1, batch, now)

    def send(self, batch: Batch, now: float) -> None:
        """A batch from the application goes down."""
        self._run(len(self.layers), [Down(batch)], now)

    def notify(self, event: Event, now: float) -> None:
        """Tell every layer of an event from outside (the application's, the transport's)."""
        listeners = self._listeners.get(type(event))
        if listeners is None:
            listeners = self._listeners[type(event)] = self._listeners_of(type(event))
        for index, layer in listeners:
            effects = layer.on_event(event, now)
            if effects:
                self._run(index, effects, now)

    def _listeners_of(self, kind: type[Event]) -> list[tuple[int, Layer]]:
        return [
            (index, layer)
            for index, layer in enumerate(self.layers)
            if type(layer).on_event is not Layer.on_event
            and (layer.hears is None or kind in layer.hears)
        ]

    def wake(self, now: float) -> None:
        """Run every timer that is due."""
        heap = self._heap
        while heap and heap[0][0] <= now:
            _, ticket, index, timer = heappop(heap)
            if self._timers.get((index, timer)) == ticket:
                del self._timers[index, timer]
                self._run(index, self.layers[index].on_timer(timer, now), now)

    def end_turn(self, now: float) -> None:
        """Run the timers of delay zero, until there are none."""
        if not self._due:
            return  # as after most turns, which have only heard something
        for _ in range(TURN_ROUNDS_MAX):
            if not self._due:
                return
            due, self._due = self._due, {}
            for index, timer in due:
                self._run(index, self.layers[index].on_timer(timer, now), now)
        raise AssertionError(f"end-of-turn timers never end: {list(self._due)}")

    # --- outputs --------------------------------------------------------------------------------

    def take(self) -> Output:
        """What has been caused since the last call."""
        output, self._output = self._output, Output([], [], [])
        return output

    def next_wake(self) -> float | None:
        """When `wake` has something to do, in monotonic seconds; None when no timer runs."""
        heap = self._heap
        while heap:
            _, ticket, index, timer = heap[0]
            if self._timers.get((index, timer)) == ticket:
                return heap[0][0]
            heappop(heap)
        return None

    def counters(self) -> dict[str, int]:
        """Every layer's counters as `layer.counter`, and the drops by reason."""
        result = {f"drops.{reason}": number for reason, number in sorted(self.drops.items())}
        for layer in self.layers:
            for name, number in layer.counters().items():
                result[f"{layer.name}.{name}"] = number
        return result

    # --- the pump -------------------------------------------------------------------------------

    def _run(self, index: int, effects: list[Effect], now: float) -> None:
        for effect in effects:
            kind = type(effect)
            if kind is Up:
                self._up(index, effect.batch, now)  # type: ignore[union-attr]
            elif kind is Down:
                below = self._below[index]
                batch = effect.batch  # type: ignore[union-attr]
                if below < 0:
                    self._output.sends.append(batch)
                else:
                    caused = self.layers[below].on_down(batch, now)
                    if caused:
                        self._run(below, caused, now)
            elif kind is StartTimer or kind is StopTimer:
                self._schedule(index, effect, now)  # type: ignore[arg-type]
            elif kind is Notify:
                # The application hears of a view before what the layers then deliver in it.
                self._tell(-1, effect.event, now)  # type: ignore[union-attr]
                self.notify(effect.event, now)  # type: ignore[union-attr]
            elif kind is Tell:
                self._tell(index, effect.event, now)  # type: ignore[union-attr]
            elif kind is Persist:
                self._output.persists.append(effect)  # type: ignore[arg-type]
            else:
                raise AssertionError(f"not an effect: {effect!r}")

    def _up(self, index: int, batch: Batch, now: float) -> None:
        if batch.headers:
            owner = self._owner.get(type(batch.headers[-1]), -1)
            if owner <= index:
                self.drops["no_such_layer" if owner < 0 else "header_out_of_place"] += 1
                return
        else:
            owner = len(self.layers)
        passed = self._passed[index]
        if passed < owner:
            self._run(passed, self.layers[passed].on_pass(batch, now), now)
            return
        if not batch.headers:
            self._output.deliveries.append(batch)
            return
        caused = self.layers[owner].on_up(batch, now)
        if caused:
            self._run(owner, caused, now)

    def _tell(self, index: int, event: Event, now: float) -> None:
        """Tell the application, unless a layer above `index` wants to see that first."""
        for teller in self._tellers:
            if teller > index:
                self._run(teller, self.layers[teller].on_tell(event, now), now)
                return
        self._output.deliveries.append(event)

    def _schedule(self, index: int, effect: StartTimer | StopTimer, now: float) -> None:
        key = (index, effect.name)
        if isinstance(effect, StopTimer):
            self._timers.pop(key, None)
            self._due.pop(key, None)
            return
        if effect.delay_s > 0:
            self._due.pop(key, None)
            ticket = self._timers[key] = next(self._ticket)
            heappush(self._heap, (now + effect.delay_s, ticket, *key))
        else:
            self._timers.pop(key, None)
            self._due[key] = None
