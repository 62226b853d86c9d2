"""Planted bugs of what is on disk: what is saved, who may vote, what is dropped (invariant 18)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from random import Random

from groupcore.context import Numbers
from groupcore.digest import Digest
from groupcore.membership import attempt, succession, voter
from groupcore.membership.ballots import Proposal, Record, Vote
from groupcore.membership.generation import Generation
from groupcore.membership.succession import Candidates
from groupcore.sequencing.archive import Archive, Archived
from groupcore.sequencing.archiving import Archiving
from groupcore.sequencing.cut import Cut
from groupcore.sequencing.headers import Accept
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.reaches import Reaches
from groupcore.sequencing.resting import Resting
from groupcore.sequencing.stream import Stream
from groupcore.sim.byte_log import ByteLog
from groupcore.sim.disk import Disk
from groupcore.sim.node import Node
from groupcore.sim.plant_schedules_durable import (
    DROPPED,
    HOLDER_LOST,
    LEFT_OUT,
    LOST_DISKS,
    OLDER_FOLDER,
    ONE_DISK,
    SHORTENED,
    UNHEARD,
    UNKNOWN_FRAMES,
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

    # Peers that have heard of a newer folder refuse the vote by that alone (decision 182).
    return [(Record, "with_view", complete), *_older_votes()]


def _lost_unbound() -> list[Patch]:
    binding = succession.binding

    def given_up(basis: View | None, votes: list[Vote]) -> Proposal | None:
        bound = binding(basis, votes)
        empty = {vote.voter.name for vote in votes if not vote.counts}
        names = set() if bound is None else {holder.name for holder in bound.state_holders}
        return None if empty & names else bound

    return [(succession, "binding", given_up)]


def _unknown_cut() -> list[Patch]:
    def all_of_it(self: Cut, position: int) -> Digest:
        return {}

    return [(Cut, "known", all_of_it)]


def _older_votes() -> list[Patch]:
    def heard_of_none(generations: Iterable[Generation]) -> dict[str, Generation]:
        return {}

    return [(where, "newest", heard_of_none) for where in (attempt, voter)]


def _ends_of_members() -> list[Patch]:
    recover = succession.recover

    def of_members(
        basis: View | None, votes: list[Vote], candidates: Candidates, lineage: int
    ) -> Proposal:
        proposal = recover(basis, votes, candidates, lineage)
        inside = {
            vote.voter: vote.streams for vote in votes if vote.voter.name in proposal.view.voters
        }
        streams, holders = succession.most_of(inside)
        return replace(proposal, streams=streams, stream_holders=holders)

    return [(succession, "recover", of_members)]


def _truncated(self: Disk) -> None:
    """The end of the log is cut off, whatever else might have happened to it."""
    self.bytes.spoil("truncated", Random(len(self.bytes.data)))
    self.spoilt = "truncated"


def _shorter_log() -> list[Patch]:
    def reaches_head(self: ByteLog, position: int) -> bool:
        """What can still be read of the damaged log is taken for all of it."""
        return True

    return [(ByteLog, "reaches_head", reaches_head), (Disk, "spoil", _truncated)]


def _flip_unseen() -> list[Patch]:
    def spoil(self: Disk) -> None:
        """A bit turns in what the last part says."""
        if self.bytes.data:
            self.bytes.data[-1] ^= 1
            self.spoilt = "flipped"

    def is_right(
        self: ByteLog, payload: bytes, expected: bytes, chain: bytes, position: int
    ) -> bool:
        """Nobody compares checksums."""
        return len(expected) > 0

    return [(ByteLog, "is_right", is_right), (Disk, "spoil", spoil)]


def _damaged_kept() -> list[Patch]:
    def start_empty(self: Node) -> None:
        """Who finds its log damaged begins with what can be read of its beginning."""
        if not self.alive:
            self._read_log()
            self.disk.damaged = False
            self.disk.bytes.head = self.disk.bytes.base
        self.start()

    return [(Node, "start_empty", start_empty), (Disk, "spoil", _truncated)]


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
        "d-lost-unbound",
        "a view from disk that needs a disk which is lost is given up for another one",
        (12,),
        _lost_unbound,
        profile="durable",
        schedule=HOLDER_LOST,
    ),
    Plant(
        "d-unknown-in-cut",
        "a view from disk has frames in its cut of a group that only who is gone has heard of",
        (25,),
        _unknown_cut,
        profile="durable",
        schedule=UNKNOWN_FRAMES,
    ),
    Plant(
        "d-older-votes",
        "a folder older than what its node has told of it counts as a whole one",
        (18, 12),
        _older_votes,
        profile="durable",
        schedule=OLDER_FOLDER,
    ),
    Plant(
        "d-ends-of-members",
        "a view formed from disk ends streams by what its own voters have, not all who voted",
        (18,),
        _ends_of_members,
        profile="durable",
        schedule=LEFT_OUT,
    ),
    Plant(
        "d-shorter-log",
        "a damaged log is taken for a shorter one",
        (26, 18, 0),
        _shorter_log,
        profile="durable",
        schedule=SHORTENED,
    ),
    Plant(
        "d-flip-unseen",
        "the checksums of a log are not compared when it is read",
        (26, 0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 18, 19, 20),
        _flip_unseen,
        profile="durable",
        schedule=SHORTENED,
    ),
    Plant(
        "d-damaged-kept",
        "a node that finds its log damaged goes on with what it can read of it",
        (26, 18, 0),
        _damaged_kept,
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
        (18, 5, 0),
        _suffix_forgotten,
        profile="durable",
    ),
)
"""Those of logs and archives; `plants.PLANTS` has all."""
