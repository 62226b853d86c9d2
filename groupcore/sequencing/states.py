"""States over the network, in pieces: of a group for a late join, of a node that is new.

Idea. Whoever needs a state asks one that has it; that one copies it at once, at a place that is
late enough, and gives it piece by piece as it is asked for: the taker sets the pace (`pieces`), so
both hold one state and nobody stops sending. Lost pieces are asked for again by themselves. When
the giver is gone or silent, the next one is asked; its state is of another place, and who asks may
say what it can keep of the former one (`resuming`). One that still makes its copy says so, and is
not silent. The hash of what one giver gives is checked.
Who needs thousands at once asks for some at a time: what they cause at the givers stays bounded.

Source. State transfer paper, MAKE_COPY and RETURN_STATE; design, 4.11.

Invariants.
  I1  A state is handed over whole and only when its hash is right.
  I2  As long as somebody has it, it comes: each silence moves on to another giver.
  I3  A silence is no answer: that nobody has it is concluded from what all have said, who left
      behind the asker's JOIN among them; and when the turn ends, as who has joined may stand in
      what is still to be recorded in it.
  I4  At most `TAKEN_AT_ONCE` states are asked for at a time; one for which nobody can be asked now
      does not keep others waiting.
  I5  All states together are asked for at `state_rate_bytes` a second at most, and with
      `BURST_BYTES` at once.
  I6  A giver gives `GIVEN_A_TURN` pieces in a turn at most: between turns others have theirs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from hashlib import blake2b

from groupcore.sequencing.deadlines import Deadlines
from groupcore.sequencing.group_state import is_group_state
from groupcore.sequencing.headers import Reach, StatePiece, StateRequest
from groupcore.sequencing.names import GroupId
from groupcore.sequencing.pieces import DIGEST_BYTES, RANGE_MAX, Pieces
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.resuming import Resuming
from groupcore.view import Address

NODE_STATE = 0
"""The group number under which a node's directory and records are asked for."""
BURST_BYTES = 32_768
"""What may be asked for at once, after a pause."""
MAKING_S = 4.0
"""So long a giver that says that it makes the copy is believed, if it gets no further with it."""
PACE_S = 0.005
"""How often more is asked for while the rate is what bounds it."""
TAKEN_AT_ONCE = 64
"""States that a node asks for at a time."""
GIVEN_A_TURN = 4
"""Pieces that a node gives in one turn: with more, those who type there wait for all of them."""
OWED_MAX = 256
"""Requests for pieces that wait for their turn; more are dropped, and asked again."""
GIVEN_MAX = 64
"""States of several pieces that a node keeps for others at a time."""


class Copy(Enum):
    """What became of a request for a copy.

    BEGUN: its bytes come with `States.give`. LATER: this node is not that far. NONE: it is, and has
    no such state. TAKING: it waits for one itself. AWAITED: for the asker's, and nobody else's.
    """

    BEGUN = auto()
    LATER = auto()
    NONE = auto()
    TAKING = auto()
    AWAITED = auto()


Givers = Callable[[], dict[Address, int]]
"""Whom to ask, best first, and where the first member of each has joined; of one that has left
behind the asker's JOIN, that JOIN."""


@dataclass(slots=True)
class Taking:
    """A state that this node is asking for.

    `may_begin`: whether it is this node that begins anew if nobody has the state. `awaiting`: who
    has said to wait for this node's state, and where its first member had joined then; or that it
    has none as of this node's JOIN, and that JOIN.
    """

    token: int
    group: GroupId
    least: int
    bases: tuple[Reach, ...]
    givers: Givers
    may_begin: Callable[[], bool]
    done: Callable[[bytes | None], None]
    resuming: Resuming | None = None
    awaiting: dict[Address, int] = field(default_factory=dict)
    giver: Address | None = None
    refused: set[Address] = field(default_factory=set)
    pieces: Pieces = field(default_factory=Pieces)
    made: int = 0
    made_at: float = 0.0
    heard_at: float = 0.0
    warned: bool = False


class States:
    """Asking and giving. `copy(token, node, request)` begins a copy or says that it cannot.

    `place_of` says where the first of this node's members of a group has joined, `made` a number
    that changes while copies are being made.
    """

    def __init__(
        self,
        plane: Plane,
        copy: Callable[[int, Address, StateRequest], Copy],
        place_of: Callable[[GroupId], int],
    ) -> None:
        self._plane = plane
        self._copy = copy
        self._place_of = place_of
        self.made: Callable[[], int] = lambda: 0
        self._token = 0
        self._taking: dict[int, Taking] = {}
        self._of_group: dict[GroupId, list[Taking]] = {}
        self._queue: dict[int, None] = {}
        self._left: dict[int, None] = {}
        self._asking: set[int] = set()
        self._silent: Deadlines[int] = Deadlines()
        self._given: dict[tuple[Address, int], tuple[bytes, bytes]] = {}
        self._owed: deque[tuple[Address, int, int, int]] = deque()
        self._copying: dict[int, tuple[Address, StateRequest]] = {}
        self._copied_for: dict[tuple[Address, int], int] = {}
        self._copy_token = 0
        self._postponed: dict[int, None] = {}
        self._credit = BURST_BYTES
        self._credit_at = 0.0

    # --- taking ---------------------------------------------------------------------------------

    def take(
        self,
        group: GroupId,
        least: int,
        bases: tuple[Reach, ...],
        givers: Givers,
        may_begin: Callable[[], bool],
        done: Callable[[bytes | None], None],
        resuming: Resuming | None = None,
    ) -> None:
        """Ask for a state when the turn ends; `done` is called with it, or None: nobody has one.

        A group's is one that can be read: who gives anything else is left like one that has none.
        """
        self._token += 1
        taking = Taking(self._token, group, least, bases, givers, may_begin, done, resuming)
        self._taking[self._token] = taking
        self._of_group.setdefault(group, []).append(taking)
        self._queue[taking.token] = None

    def proceed(self, now: float) -> None:
        """What has come in this turn is recorded: go on from givers that were left, and ask for
        others (I4)."""
        left, self._left = self._left, {}
        for token in left:
            if token in self._taking:
                self._next_giver(self._taking[token], now)
        while self._queue and len(self._asking) < TAKEN_AT_ONCE:
            token = next(iter(self._queue))
            del self._queue[token]
            self._next_giver(self._taking[token], now)

    def forget(self, group: GroupId) -> None:
        """The state of this group is not wanted any more."""
        for taking in list(self._of_group.get(group, ())):
            self._drop(taking)

    def _drop(self, taking: Taking) -> None:
        """It is over, whatever has become of it."""
        self._leave(taking.token)
        del self._taking[taking.token]
        others = self._of_group[taking.group]
        others.remove(taking)
        if not others:
            del self._of_group[taking.group]

    def _leave(self, token: int) -> None:
        """Nobody is asked under this number now, and nothing is planned."""
        self._queue.pop(token, None)
        self._asking.discard(token)
        self._silent.drop(token)

    def _pause(self, taking: Taking, until: float) -> None:
        """Ask nobody until then; others have their turn (I4)."""
        self._leave(taking.token)
        taking.giver = None
        self._silent.set(taking.token, until)

    def _next_giver(self, taking: Taking, now: float) -> None:
        if taking.giver is not None:
            taking.refused.add(taking.giver)
        if taking.resuming is not None and taking.pieces.count:
            taking.resuming.left(taking.pieces.beginning())
        taking.pieces = Pieces()
        taking.warned = False
        candidates = taking.givers()
        left = [one for one in candidates if one not in taking.refused]
        if not candidates:
            self._drop(taking)
            taking.done(None)
            return
        if not left:
            if taking.awaiting.items() >= candidates.items() and taking.may_begin():
                self._drop(taking)
                self._plane.counters["states_lost"] += 1
                taking.done(None)
                return
            taking.refused.clear()  # one of them may be able to by and by
            self._pause(taking, now + self._plane.options.state_pause_s)
            return
        # A new number: what the former giver still sends is not taken for this one's.
        self._leave(taking.token)
        del self._taking[taking.token]
        self._token += 1
        taking.token = self._token
        self._taking[taking.token] = taking
        self._asking.add(taking.token)
        taking.giver = left[0]
        taking.made, taking.made_at, taking.heard_at = 0, now, now
        self._ask(taking, now)

    def _ask(self, taking: Taking, now: float) -> None:
        """Ask for as much as may be under way and the rate allows (I5), and plan the next look."""
        assert taking.giver is not None
        pieces, options = taking.pieces, self._plane.options
        size = options.state_chunk_bytes
        passed_s = max(0.0, now - self._credit_at)
        burst = max(BURST_BYTES, size)
        self._credit = min(burst, self._credit + int(passed_s * options.state_rate_bytes))
        self._credit_at = now
        most = self._credit // size if pieces.count else 1
        for first, until in pieces.ask(most, now):
            request = StateRequest(taking.token, taking.group, taking.least, first, (), until)
            if first == 0:
                request.bases = taking.bases
                if taking.resuming is not None:
                    request.held, request.held_to = taking.resuming.held()
            self._plane.to(taking.giver, request)
            if pieces.count:
                self._credit -= (until - first) * size
        wait_s = PACE_S if pieces.count and pieces.wants else pieces.patience_s
        self._silent.set(taking.token, now + min(wait_s, options.state_timeout_s))

    def on_piece(self, node: Address, header: StatePiece, now: float) -> None:
        """A piece of a state has come, or a refusal."""
        taking = self._taking.get(header.token)
        if taking is None or taking.giver != node:
            return
        if header.pieces == 0:
            if header.index:
                taking.awaiting[node] = header.index
            self._left[taking.token] = None
            return
        if not header.digest:  # it makes the copy
            if header.index != taking.made:
                taking.made, taking.made_at = header.index, now
            if now - taking.made_at < MAKING_S:
                taking.heard_at, taking.warned = now, False
            return
        taking.heard_at, taking.warned = now, False
        pieces = taking.pieces
        if not pieces.take(header.index, header.pieces, header.digest, header.data, now):
            self._plane.counters["bad_piece"] += 1
            return
        if not pieces.whole:
            if pieces.wants:
                self._ask(taking, now)
            return
        self._plane.counters["pieces_repeated"] += pieces.repeated
        if not pieces.right:
            self._plane.counters["damaged_state"] += 1
            taking.pieces = Pieces()
            self._left[taking.token] = None
            return
        state = pieces.joined()
        if taking.group != NODE_STATE and not is_group_state(state, taking.least):
            self._plane.counters["bad_state"] += 1
            taking.pieces = Pieces()
            self._left[taking.token] = None
            return
        self._drop(taking)
        # Asking for one piece more than there are tells the giver that it may forget the state.
        self._plane.to(
            node, StateRequest(taking.token, taking.group, taking.least, pieces.count, ())
        )
        taking.done(state)

    def progress(self, group: GroupId) -> tuple[int, int] | None:
        """Bytes that have come of a state that is being taken, and of how many; None: of none.

        Of 0 bytes as long as the giver makes its copy; the last piece counts as a full one.
        """
        for taking in self._of_group.get(group, ()):
            size = self._plane.options.state_chunk_bytes
            return len(taking.pieces.have) * size, taking.pieces.count * size
        return None

    def wake(self, now: float) -> None:
        """Givers that are silent for long, or gone, are left."""
        for token in self._silent.take_due(now):
            taking = self._taking[token]
            giver = taking.giver
            if giver is None:
                self._queue[token] = None
                continue
            silent = now - taking.heard_at >= self._plane.options.state_timeout_s
            if not self._plane.in_view(giver) or (silent and taking.warned):
                self._left[token] = None
                continue
            if silent:  # once more, and then another one
                taking.warned, taking.heard_at = True, now
            taking.pieces.look(now)
            self._ask(taking, now)

    def leave_gone(self) -> None:
        """Whoever is not in the view any more is asked for nothing."""
        for taking in self._taking.values():
            if taking.giver is not None and not self._plane.in_view(taking.giver):
                self._silent.set(taking.token, 0.0)

    def next_wake(self) -> float | None:
        """When a giver's silence is too long, or somebody can be asked."""
        can_ask = self._left or (self._queue and len(self._asking) < TAKEN_AT_ONCE)
        return 0.0 if self._owed or can_ask else self._silent.next()

    # --- giving ---------------------------------------------------------------------------------

    def on_request(self, node: Address, header: StateRequest) -> None:
        """Give a piece; copy the state first when it is the first one."""
        key = (node, header.token)
        state = self._given.get(key)
        if state is not None:
            self._owe(node, header, len(state[0]))
        elif header.index == 0 and key not in self._copied_for:
            self._copy_token += 1
            self._copying[self._copy_token] = (node, header)
            self._copied_for[key] = self._copy_token
            self._begin(self._copy_token)
        elif header.index == 0 and self._copied_for[key] not in self._postponed:
            made = self.made()
            self._plane.to(node, StatePiece(header.token, made, 1, b"", b""))  # it is being made

    def _begin(self, token: int) -> None:
        """Begin the copy, unless this node is not that far: then later."""
        node, header = self._copying[token]
        self._postponed.pop(token, None)
        became = self._copy(token, node, header)
        if became is Copy.LATER:
            self._postponed[token] = None
        elif became is Copy.AWAITED:
            self.refuse(token, self._place_of(header.group))
        elif became is Copy.NONE:
            self.refuse(token, header.least)
        elif became is Copy.TAKING:
            self.refuse(token)

    def ask_nobody_but(self, group: GroupId, node: Address) -> bool:
        """Leave whom this node asks for a group's state, unless that one has begun to give it."""
        for taking in self._of_group.get(group, ()):
            if taking.giver == node:
                continue
            if taking.pieces.count:
                return False
            self._pause(taking, 0.0)
        return True

    def retry(self) -> None:
        """This node has got further: begin the copies that waited for that."""
        for token in list(self._postponed):
            self._begin(token)

    def give(self, token: int, state: bytes, digest: bytes | None = None) -> None:
        """The copy that was begun under this number is here, and its hash, if that is known."""
        node, header = self._copied(token)
        self._plane.counters["states_given"] += 1
        given = (state, state_digest(state) if digest is None else digest)
        if len(state) > self._plane.options.state_chunk_bytes:  # else it is given whole, here
            while len(self._given) >= GIVEN_MAX:
                del self._given[next(iter(self._given))]
            self._given[node, header.token] = given
            self._owe(node, header, len(state))
        else:
            self._plane.to(node, StatePiece(header.token, 0, 1, given[1], state))

    def refuse(self, token: int, place: int = 0) -> None:
        """There is no copy to be had here; `place`: see `StatePiece.index`."""
        node, header = self._copied(token)
        self._plane.to(node, StatePiece(header.token, place, 0, b"", b""))

    def _copied(self, token: int) -> tuple[Address, StateRequest]:
        """The copy of this number is made, or none will be; for whom."""
        node, header = self._copying.pop(token)
        self._copied_for.pop((node, header.token), None)
        return node, header

    def gives(self, node: Address, token: int) -> bool:
        """Whether the node is being given a state, or will be."""
        return (node, token) in self._given or (node, token) in self._copied_for

    def _owe(self, node: Address, header: StateRequest, size_bytes: int) -> None:
        """Give what is asked for, as its turn comes (I6)."""
        count = self._pieces_in(size_bytes)
        if header.index >= count:
            self._given.pop((node, header.token), None)
        elif len(self._owed) < OWED_MAX:
            until = min(max(header.until, header.index + 1), header.index + RANGE_MAX, count)
            if not any(
                (to, token) == (node, header.token) and first <= header.index and until <= behind
                for to, token, first, behind in self._owed
            ):  # asked again, as its turn has not come yet
                self._owed.append((node, header.token, header.index, until))

    def _pieces_in(self, size_bytes: int) -> int:
        return max(1, -(-size_bytes // self._plane.options.state_chunk_bytes))

    def give_owed(self) -> None:
        """Some of the pieces that are asked for."""
        left, size = GIVEN_A_TURN, self._plane.options.state_chunk_bytes
        while self._owed and left:
            node, token, index, until = self._owed.popleft()
            given = self._given.get((node, token))
            if given is None:
                continue  # it is not wanted any more
            state, digest = given
            end = min(until, index + left)
            left -= end - index
            count = self._pieces_in(len(state))
            for at in range(index, end):
                data = state[at * size : (at + 1) * size]
                self._plane.to(node, StatePiece(token, at, count, digest, data))
            if end < until:
                self._owed.appendleft((node, token, end, until))

    def forget_gone(self) -> None:
        """Nodes that are gone take nothing any more."""
        for key in [key for key in self._given if not self._plane.in_view(key[0])]:
            del self._given[key]
        for token, (node, _) in list(self._copying.items()):
            if token in self._postponed and not self._plane.in_view(node):
                self._copied(token)
                del self._postponed[token]


def state_digest(state: bytes) -> bytes:
    """The hash by which a state is checked."""
    return blake2b(state, digest_size=DIGEST_BYTES).digest()
