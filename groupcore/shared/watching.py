"""Tells everybody who follows an object's changes what a message has done."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from groupcore.sequencing.names import Process
from groupcore.shared.changes import Change, Changed, MemberChanged, Replaced
from groupcore.shared.machine import Done
from groupcore.shared.pending import Wait
from groupcore.shared.streams import Stream


class Watchers:
    """The open streams of changes of one object; `tap` is told of each change, too.

    `began` is called when somebody begins to follow.
    """

    __slots__ = ("_began", "_streams", "_tap")

    def __init__(self, began: Callable[[], None] = lambda: None) -> None:
        self._began = began
        self._streams: list[Stream[Change]] = []
        self._tap: Callable[[Change], None] | None = None

    @property
    def tap(self) -> Callable[[Change], None] | None:
        """Who is told of each change, beside the streams."""
        return self._tap

    @tap.setter
    def tap(self, tap: Callable[[Change], None] | None) -> None:
        self._tap = tap
        if tap is not None:
            self._began()

    @property
    def watched(self) -> bool:
        """Whether anybody follows the object."""
        return bool(self._streams) or self._tap is not None

    def open(self, wait: Wait, waiting_max: int) -> Stream[Change]:
        """A new stream, which gets what happens from now on."""
        stream: Stream[Change] = Stream(wait, waiting_max)
        self._streams.append(stream)
        self._began()
        return stream

    def operated(self, position: int, process: Process, done: Done) -> None:
        """A message with operations was applied."""
        if not self.watched or done.error is not None:
            return
        for (spec, arguments), details in zip(done.calls, done.details, strict=True):
            named = MappingProxyType(spec.named(arguments))
            self._push(Changed(position, process, spec.name, named, details))
        self._tell_ended(position, done)

    def member(self, position: int, process: Process, joined: bool, done: Done) -> None:
        """A process has joined or departed."""
        if self.watched:
            details = done.details[0] if done.details else ()
            self._push(MemberChanged(position, process, joined, details))
            self._tell_ended(position, done)

    def _tell_ended(self, position: int, done: Done) -> None:
        """Guests have departed there, too."""
        for process, details in done.ended:
            self._push(MemberChanged(position, process, False, details))

    def replaced(self, position: int) -> None:
        """The state was taken from another replica."""
        self._push(Replaced(position))

    def end(self, error: Exception | None = None) -> None:
        """The object is closed; `error` is raised to who follows it."""
        for stream in self._streams:
            stream.end(error)
        self._streams = []
        self._tap = None

    def _push(self, change: Change) -> None:
        if self._tap is not None:
            self._tap(change)
        for stream in self._streams:
            stream.push(change)
        if any(stream.ended for stream in self._streams):
            self._streams = [stream for stream in self._streams if not stream.ended]
