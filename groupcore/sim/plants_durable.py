"""Planted bugs of what is on disk: what is saved, who may vote, what is dropped (invariant 18)."""

from __future__ import annotations

from dataclasses import replace

from groupcore.context import Numbers
from groupcore.membership import succession
from groupcore.membership.succession import Candidates, Proposal, Record, Vote
from groupcore.sequencing.archive import Archive, Archived
from groupcore.sequencing.archiving import Archiving
from groupcore.sequencing.headers import Accept
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.reaches import Reaches
from groupcore.sequencing.resting import Resting
from groupcore.sequencing.stream import Stream
from groupcore.sim.node import Node
from groupcore.sim.plant_schedules_durable import (
    DROPPED,
    LEFT_OUT,
    LOST_DISKS,
    ONE_DISK,
    SHORTENED,
    UNHEARD,
)
from groupcore.sim.planting import Patch, Plant
from groupcore.view import Address, View


def _saved_unstored() -> list[Patch]:
    def recorded(self: Plane, stream: Stream) -> int:
        return min(stream.recorded, stream.received)

    return [(Plane, "saved_here", recorded)]


def _own_disk() -> list[Patch]:
    def saved(self: Reaches, stream: Address) -> int:
        return max(self._saved.get(stream, {}).values(), default=0)

    return [(Reaches, "saved", saved)]


def _wiped_votes() -> list[Patch]:
    with_view = Record.with_view

    def complete(self: Record, view: View, rebuilding: bool) -> Record:
        return with_view(self, view, False)

    return [(Record, "with_view", complete)]


def _ends_of_members() -> list[Patch]:
    recover = succession.recover

    def of_members(
        basis: View | None, votes: list[Vote], candidates: Candidates, lineage: int
    ) -> Proposal:
        proposal = recover(basis, votes, candidates, lineage)
        inside = {vote.voter: vote.streams for vote in votes if vote.voter in proposal.view.members}
        streams, holders = succession.most_of(inside)
        return replace(proposal, streams=streams, stream_holders=holders)

    return [(succession, "recover", of_members)]


def _shorter_log() -> list[Patch]:
    def begin(self: Node) -> None:
        """What can still be read of the damaged log is taken for all of it."""
        disk = self.disk
        if disk.damaged:
            disk.damaged = False
            del disk.log[len(disk.log) // 2 :]
        self.start()

    return [(Node, "start_empty", begin)]


def _dropped_early() -> list[Patch]:
    def stored(self: Archiving, address: Address, frame: int) -> bool:
        return True

    return [(Archiving, "_is_stored", stored)]


def _suffix_forgotten() -> list[Patch]:
    def replace(self: Archive, group: GroupId, seqno: int, state: bytes, context: Numbers) -> None:
        self.groups[group] = Archived(self.shelf, seqno, state)

    return [(Archive, "replace", replace)]


def _unrested() -> list[Patch]:
    def is_next(self: Resting, stream: Stream, header: Accept) -> bool:
        return True

    return [(Resting, "is_next", is_next)]


DURABLE_PLANTS = (
    Plant(
        "d-saved-unstored",
        "what is recorded counts as saved before it is on disk",
        (18,),
        _saved_unstored,
        profile="durable",
    ),
    Plant(
        "d-own-disk-suffices",
        "saved is what one disk holds",
        (18,),
        _own_disk,
        profile="durable",
        schedule=ONE_DISK,
    ),
    Plant(
        "d-wiped-votes",
        "a node whose disk was lost votes before it has got back what it held",
        (12, 18, 0),
        _wiped_votes,
        profile="durable",
        schedule=LOST_DISKS,
    ),
    Plant(
        "d-ends-of-members",
        "a view formed from disk ends streams by what its members have, not all voters",
        (18,),
        _ends_of_members,
        profile="durable",
        schedule=LEFT_OUT,
    ),
    Plant(
        "d-shorter-log",
        "a damaged log is taken for a shorter one",
        (18, 0),
        _shorter_log,
        profile="durable",
        schedule=SHORTENED,
    ),
    Plant(
        "d-unrested",
        "a frame is recorded before what it rests on is known, and dropped with that at a start",
        (18,),
        _unrested,
        profile="durable",
        schedule=UNHEARD,
    ),
    Plant(
        "d-dropped-early",
        "a log drops what others have not stored",
        (25,),
        _dropped_early,
        profile="durable",
        schedule=DROPPED,
    ),
    Plant(
        "d-suffix-forgotten",
        "a newer state in the archive takes the place of what came behind it, too",
        (18, 5),
        _suffix_forgotten,
        profile="durable",
    ),
)
"""Those of logs and archives; `plants.PLANTS` has all."""
