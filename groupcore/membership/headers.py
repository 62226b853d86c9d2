"""The headers of membership: joining, leaving, and the ballots that decide a view.

They stand beside `membership` in a file of their own because several parts of it share them. All
are sent unreliably and repeated by who needs the answer: each handler may see a header twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from groupcore.batch import Header
from groupcore.headers import travels
from groupcore.membership.ballots import Ballot, Proposal, Vote
from groupcore.membership.generation import Generation
from groupcore.order_state import OrderState
from groupcore.view import Address, View


@travels(40)
@dataclass(slots=True)
class JoinRequest(Header):
    """Node to coordinator: take me in.

    `hears`: whom I hear; `lineage`: my disk's, 0 for none; `logged`: my data plane has a log.
    """

    kind: ClassVar[str] = "membership.join_request"
    hears: tuple[Address, ...]
    lineage: int
    logged: bool = False


@travels(41)
@dataclass(slots=True)
class JoinRefused(Header):
    """Coordinator to node: not while this is so; `code` says what."""

    kind: ClassVar[str] = "membership.join_refused"
    code: str


@travels(42)
@dataclass(slots=True)
class LeaveRequest(Header):
    """Member to coordinator: let me go."""

    kind: ClassVar[str] = "membership.leave_request"


@travels(50)
@dataclass(slots=True)
class Dissolved(Header):
    """Coordinator to members that all leave: go, the view stays the last one."""

    kind: ClassVar[str] = "membership.dissolved"


@travels(53)
@dataclass(slots=True)
class Learned(Header):
    """Learner to members: I have stored the state that view `number` began with, let me vote."""

    kind: ClassVar[str] = "membership.learned"
    number: int


@travels(55)
@dataclass(slots=True)
class Stored(Header):
    """Member to members: this generation of my folder, of this life, is on disk."""

    kind: ClassVar[str] = "membership.stored"
    number: int


@travels(43)
@dataclass(slots=True)
class Prepare(Header):
    """Proposer to everybody: vote on what follows `basis` (None: on the first view).

    `heard`: the generations of folders that the proposer, and those who have voted, know of.
    """

    kind: ClassVar[str] = "membership.prepare"
    basis: View | None
    ballot: Ballot
    heard: tuple[Generation, ...] = ()


@travels(44)
@dataclass(slots=True)
class Promise(Header):
    """Voter to proposer: this is my vote; or, with `promised` above `ballot`, I may not."""

    kind: ClassVar[str] = "membership.promise"
    basis: int
    ballot: Ballot
    promised: Ballot
    vote: Vote


@travels(45)
@dataclass(slots=True)
class Propose(Header):
    """Proposer to voters: accept this successor; first get what its cut contains."""

    kind: ClassVar[str] = "membership.propose"
    basis: int
    ballot: Ballot
    proposal: Proposal


@travels(46)
@dataclass(slots=True)
class Accept(Header):
    """Voter to proposer: accepted, on disk; `holds`: and with the cut.

    `lacks`: all of the cut but commands that its log lacks, and it remembers that.
    """

    kind: ClassVar[str] = "membership.accept"
    basis: int
    ballot: Ballot
    holds: bool = True
    lacks: bool = False


@travels(47)
@dataclass(slots=True)
class Install(Header):
    """Member to member: this successor is decided. `order_state`: for who has just joined."""

    kind: ClassVar[str] = "membership.install"
    proposal: Proposal
    order_state: OrderState


@travels(48)
@dataclass(slots=True)
class Installed(Header):
    """Member to who sent Install: the view of this number is installed here."""

    kind: ClassVar[str] = "membership.installed"
    number: int


@travels(49)
@dataclass(slots=True)
class Superseded(Header):
    """Member to a node that is behind and not in the view: the chain has gone on without you."""

    kind: ClassVar[str] = "membership.superseded"
    view: View


@travels(51)
@dataclass(slots=True)
class Waive(Header):
    """Node to everybody: an operator waives the votes of these nodes on what follows this view."""

    kind: ClassVar[str] = "membership.waive"
    lineage: int
    number: int
    names: tuple[str, ...]


@travels(52)
@dataclass(slots=True)
class GoneOn(Header):
    """Member to a node of a lineage that was ended under a waiver: the others are in this view."""

    kind: ClassVar[str] = "membership.gone_on"
    lineage: int
    view: View


@travels(37)
@dataclass(slots=True)
class MergeRequest(Header):
    """Merge leader to coordinator (MERGE_REQ): stop your side and say where it ends."""

    kind: ClassVar[str] = "membership.merge_request"
    id: int


@travels(38)
@dataclass(slots=True)
class MergeResponse(Header):
    """Coordinator to merge leader (MERGE_RSP): this side has ended; or, `rejected`, it is busy."""

    kind: ClassVar[str] = "membership.merge_response"
    id: int
    rejected: bool
    view: View
    members: tuple[Address, ...]
    position: int


@travels(39)
@dataclass(slots=True)
class MergeInstall(Header):
    """Merge leader to coordinator (INSTALL_MERGE_VIEW): take your side into this view."""

    kind: ClassVar[str] = "membership.merge_install"
    id: int
    view: View
    views: tuple[View, ...]


HEADERS = (
    JoinRequest,
    JoinRefused,
    LeaveRequest,
    Learned,
    Stored,
    Dissolved,
    Prepare,
    Promise,
    Propose,
    Accept,
    Install,
    Installed,
    Superseded,
    MergeRequest,
    MergeResponse,
    MergeInstall,
    Waive,
    GoneOn,
)
"""All of them, for the layer that owns them."""
