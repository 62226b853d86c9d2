"""Packets, commands and events of the data plane in few words, as golden traces show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields

from groupcore.batch import Batch, unpack_messages
from groupcore.context import decode_context
from groupcore.sequencing import commands as c
from groupcore.sequencing import events as e
from groupcore.sequencing import headers as h
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.view import Address, View
from groupcore.wire import decode_packet, unpack_packets

WHAT = {1: "joined", 2: "left", 3: "gone"}


class Teller:
    """Says things with the names that a trace has given to groups and processes."""

    def __init__(self) -> None:
        self.groups: dict[GroupId, str] = {}
        self.processes: dict[Process, str] = {}

    # --- words ------------------------------------------------------------------------------------

    def node(self, address: Address) -> str:
        """A node; with its life, where that is not the first."""
        return address.name if address.incarnation == 1 else f"{address.name}#{address.incarnation}"

    def group(self, group: GroupId) -> str:
        """A group by its name."""
        return self.groups.get(group, str(group))

    def process(self, process: Process) -> str:
        """A process by its name."""
        return self.processes.get(process, f"{self.node(process.node)}/{process.number}")

    def numbers(self, numbers: Mapping[Address, int]) -> str:
        """Streams, each with a number."""
        pairs = sorted((self.node(stream), n) for stream, n in numbers.items())
        return "{" + " ".join(f"{stream}:{n}" for stream, n in pairs) + "}"

    def view(self, view: View) -> str:
        """A view by its number and its members."""
        return f"{view.number}[{' '.join(map(self.node, view.members))}]"

    def value(self, value: object) -> str:
        """A field of a command or of an event."""
        match value:
            case Process():
                return self.process(value)
            case Address():
                return self.node(value)
            case bytes():
                return f"{len(value)} B"
            case Order():
                return value.name.lower()
            case tuple() if hasattr(value, "_fields"):
                return ".".join(map(str, value))
            case tuple() | list():
                return "[" + " ".join(map(self.value, value)) + "]"
            case _:
                return str(value)

    def fields(self, value: object, *left_out: str) -> str:
        """The fields of a dataclass, by name; groups by theirs."""
        told = []
        for one in fields(value):  # type: ignore[arg-type]
            if one.name in left_out:
                continue
            held = getattr(value, one.name)
            if one.name in ("group", "other"):
                held = self.group(held)
            elif one.name == "order":
                held = Order(held)
            elif one.name == "groups" and isinstance(held, tuple):
                held = tuple(map(self.group, held))
            told.append(f"{one.name}={self.value(held)}")
        return " ".join(told)

    # --- packets ----------------------------------------------------------------------------------

    def packet(self, batch: Batch) -> str:
        """What a packet says: its kind, and what counts in it."""
        header = batch.headers[-1]
        kind = header.kind.removeprefix("sequencing.")
        match header:
            case h.Accept():
                return f"{kind} {self._accept(header, batch)}"
            case h.Send() | h.Forward():
                return f"{kind} {self._send(header, batch)}"
            case h.Change():
                process = Process(header.node, header.process)
                return (
                    f"{kind} frame={header.frame} {self.group(header.group)}:{header.seqno} "
                    f"{self.process(process)} {WHAT[header.what]}"
                )
            case h.Join() | h.Leave():
                process = Process(batch.sender, header.process)
                return (
                    f"{kind} {self.group(header.group)} {self.process(process)} "
                    f"place={self.value(header.place)}"
                )
            case h.Repair():
                (raw,) = unpack_packets(b"\x91" + header.packet)
                return f"{kind} ({self.packet(decode_packet(raw, header.stream, None))})"
            case h.StatePiece():
                return f"{kind} {header.index + 1} of {header.pieces}, {self.value(header.data)}"
            case h.StateRequest():
                of = "the node's own" if header.group == 0 else self.group(header.group)
                return f"{kind} {of} least={header.least} from={header.index}"
            case h.VolatileMessage():
                process = Process(batch.sender, header.process)
                texts = _texts(unpack_messages(batch.body))
                return f"{kind} {self.group(header.group)} {self.process(process)}: {texts}"
        return f"{kind} {self.fields(header, 'context', 'token', 'digest')}".strip()

    def _accept(self, header: h.Accept, batch: Batch) -> str:
        processes = h.processes_of(header)
        columns = (header.groups, header.seqnos, header.counts)
        groups, seqnos, counts = (h.unpack_column(one, len(processes)) for one in columns)
        messages = iter(unpack_messages(batch.body))
        runs = [
            f"{self.group(group)}:{seqno} {self.process(process)} "
            f"{_texts([next(messages) for _ in range(count)])}"
            for group, seqno, count, process in zip(groups, seqnos, counts, processes, strict=True)
        ]
        context = self.numbers(decode_context(header.context))
        return f"frame={header.frame} context={context} {', '.join(runs)}"

    def _send(self, header: h.Send | h.Forward, batch: Batch) -> str:
        origin = header.origin if isinstance(header, h.Forward) else batch.sender
        count = len(header.groups) // 8
        stretches = h.unpack_stretches(header.stretches, h.ASKED, count)
        processes = [Process(origin, one[0]) for one in stretches for _ in range(one[1])]
        groups, firsts, counts = (
            h.unpack_column(one, count) for one in (header.groups, header.firsts, header.counts)
        )
        messages = iter(unpack_messages(batch.body))
        runs = [
            f"{self.group(group)} {self.process(process)} number={first} "
            f"{_texts([next(messages) for _ in range(size)])}"
            for group, first, size, process in zip(groups, firsts, counts, processes, strict=True)
        ]
        return f"context={self.numbers(decode_context(header.context))} {', '.join(runs)}"

    # --- commands and events ----------------------------------------------------------------------

    def command(self, by: Address, command: c.Command) -> str:
        """An ordered command, and whose it is."""
        return f"{type(command).__name__} {self.fields(command, 'request')} (of {self.node(by)})"

    def event(self, event: e.ServiceEvent) -> str:
        """What the service tells a program; empty for what only counts."""
        match event:
            case e.Delivered():
                last = event.seqno + len(event.payloads) - 1
                numbers = str(event.seqno) if last == event.seqno else f"{event.seqno}-{last}"
                texts = _texts(event.payloads)
                return (
                    f"delivers {self.group(event.group)}:{numbers} {texts} "
                    f"(from {self.process(event.process)})"
                )
            case e.Accepted():
                process, number = event.message
                return (
                    f"is told that {self.process(process)}'s message {number} to "
                    f"{self.group(event.group)} has number {event.seqno}"
                )
            case e.Saved():
                process, number = event.message
                return (
                    f"is told that {self.process(process)}'s messages to "
                    f"{self.group(event.group)} up to {number} are saved"
                )
            case e.StateInstalled():
                state = "nothing" if event.state is None else f"{len(event.state)} B"
                return f"begins {self.group(event.group)} behind {event.seqno} with {state}"
            case e.Joined() | e.Enrolled() | e.Departed():
                verb = {"Joined": "joined", "Enrolled": "enrolled", "Departed": "left"}
                word = verb[type(event).__name__]
                return (
                    f"is told that {self.process(event.process)} has {word} "
                    f"{self.group(event.group)} at {event.seqno}"
                )
            case e.Volatile():
                said = f"{self.group(event.group)} {_texts([event.payload])}"
                return f"is given {said} (from {self.process(event.process)}, volatile)"
            case e.StateWanted():
                return f"is asked for the state of {self.group(event.group)}"
            case e.Released():
                return f"lets go of {self.group(event.group)}"
            case e.Refused():
                return f"is refused: {event.code}"
        return f"{type(event).__name__} {self.fields(event, 'request')}".strip()


def _texts(payloads: Iterable[bytes]) -> str:
    return " ".join(payload.decode() for payload in payloads)
