"""Three nodes with a group, of which a test can say that nothing has changed."""

from __future__ import annotations

from groupcore.batch import Batch, Header, pack_messages
from groupcore.sequencing import headers as h
from groupcore.sequencing.events import Refused
from groupcore.sequencing.names import BEGINNING, GroupId
from groupcore.sequencing.service import Service
from groupcore.sim.explore.group_world import LEFT_OUT
from groupcore.sim.explore.keying import key_of_value
from tests.groupcore.sequencing.world import World


class Scene:
    """Three nodes; a process of a and one of b in a group that a sequences; c has one outside."""

    def __init__(self) -> None:
        self.world = World("abc")
        self.group = self.world.create("g")
        self.inside, self.other = self.world.open("a"), self.world.open("b")
        self.outside = self.world.open("c")
        for process in (self.inside, self.other):
            self.world.join(process, self.group)
        self.world.run(200)

    def service(self, name: str) -> Service:
        return self.world[name].service

    def state(self, *names: str) -> list[bytes]:
        """What each of these nodes has of groups, streams, requests and messages."""
        return [_state(self.service(name), self.world.now) for name in names]

    def refusals(self, name: str) -> list[tuple[int, str]]:
        return [
            (event.request, event.code)
            for event in self.world[name].events
            if isinstance(event, Refused)
        ]

    def hand(self, to: str, header: Header, *payloads: bytes, by: str = "c") -> list[Batch]:
        """Hand a packet to a node; what it answers to its sender."""
        service, source = self.service(to), self.world[by].address
        batch = Batch(
            source, self.world[to].address, (header,), pack_messages(list(payloads)), len(payloads)
        )
        service.receive(batch, self.world.now)
        service.end_turn(self.world.now)
        return [one for one in service.take().sends if one.destination == source]

    def send_header(
        self,
        group: GroupId,
        first: int = 1,
        count: int = 1,
        context: bytes = b"",
        stretch: list[int] | None = None,
    ) -> h.Send:
        """DO-MULTICAST of process 1 of the sending node."""
        return h.Send(
            BEGINNING,
            context,
            h.pack_column(stretch or [1, 1, 1, 0, 0]),
            h.pack_column([group]),
            h.pack_column([first]),
            h.pack_column([count]),
        )


def _state(service: Service, now: float) -> bytes:
    plane = service.plane
    streams = {
        address: (stream.received, stream.recorded, stream.highest, stream.end)
        for address, stream in plane.streams.items()
    }
    parts = [
        plane.directory.fingerprint(),
        plane.records,
        streams,
        service.sequencer.ownership.owned,
        service.sender.outstanding,
        service.sender.locals,
        list(service.joining._wishes.groups()),
    ]
    return key_of_value(parts, now, LEFT_OUT)
