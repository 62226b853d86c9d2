"""A session in one group: how it gets in and out, whatever becomes of its node meanwhile.

Invariants.
  P1  Who is closed before it was a member is no member afterwards.
  P2  Whoever waits for an object waits for one opening, and is told when it has failed.
  P3  The node's next life opens again what is open, as the session's new process, and ends what
      is being closed.
  P4  That the cluster has gone on without the node is told to nobody who opens an object: the
      opening goes on in the node's next life, until the object is closed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from groupcore.errors import ChannelClosedError, GroupRefusedError
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.shared.changes import Change
from groupcore.shared.errors import ClosedError, ForbiddenError, RefusedError
from groupcore.shared.group import GroupUser
from groupcore.shared.opening import may_attend
from groupcore.shared.pending import Pending, Wait
from groupcore.shared.replica import Replica
from groupcore.shared.runtime import done_within, elapse
from groupcore.shared.site import Site
from groupcore.shared.standing import REJOIN_S

if TYPE_CHECKING:
    from groupcore.shared.session import Session

OPENING_S = 2.0
"""How long who closes an object waits for its opening; behind that, it leaves when it is in."""
REOPEN_S = 0.5
"""Pause before a node that is outside the cluster again tries to open its objects again."""
AGAIN = frozenset({"already_a_member", "not_a_member"})
"""Codes behind which the same is asked again: the process, or its node's, has left the group, or
comes into it, and the record does not show it yet."""
GONE_ON = "left"
"""What everything that is under way is answered with when the cluster goes on without the node."""


class SessionPort:
    """The `GroupPort` of a session."""

    __slots__ = (
        "_call_off",
        "_is_open",
        "_joined_as",
        "_object",
        "_opening",
        "_session",
        "attends",
        "is_closing",
        "site",
        "user",
    )

    def __init__(self, session: Session, site: Site) -> None:
        self.site = site
        self._session = session
        self._call_off: Callable[[], None] | None = None
        self._opening: Pending[object] | None = None
        self._is_open = False
        self._object: object = None
        self._joined_as: Process | None = None
        self.is_closing = False
        self.attends = session.attends and may_attend(site.kind, site.order)
        self.user: GroupUser = site.attach(self)
        self.user.closed.when_done(self._on_closed)

    async def opened(self) -> object:
        """The object, once it can be used (P2)."""
        if self._is_open:
            return self._object
        if self._opening is None:
            self._opening = self._session.home.runtime.spawn(self._open())
        return await self._opening

    async def _open(self) -> object:
        try:
            if not await self._find():
                raise ClosedError(f"{self.site.name} was closed before it was open")
            self._object = await self.user.open()
            self._is_open = True
            self._opening = None  # there are many ports
            return self._object
        except ForbiddenError:
            raise  # it leaves, and is closed when it has left
        except GroupRefusedError as error:
            refused = RefusedError(error.code, str(error))
            self.user.end(refused)
            raise refused from None
        except GeneratorExit:
            raise  # nobody runs it any more
        except BaseException:
            self.user.end(ClosedError(f"{self.site.name} could not be opened"))
            raise

    async def open_again(self, process: Process) -> None:
        """The node lives again, the session as `process`: find the group and begin anew (P3)."""
        try:
            found = await self._find()
        except GroupRefusedError as error:
            self.user.end(RefusedError(error.code, str(error)))
            return
        if process != self._session.process:
            return  # another life has begun since, and opens it
        if found:
            self.user.restart()
        elif not self.user.closed.done:
            self.user.end(ClosedError("the session is closed"))  # in this life it never was in

    async def _find(self) -> bool:
        """Find the group, in whichever life of the node; False when it is wanted no more (P4).

        GroupRefusedError when there can be none.
        """
        home = self._session.home
        while self._is_wanted:
            try:
                await home.find_group(self.site)
            except ChannelClosedError:
                pass  # the node is outside the cluster
            except GroupRefusedError as error:
                if error.code != GONE_ON:
                    raise
            else:
                break
            await elapse(home.runtime, REOPEN_S)
        return self._is_wanted

    @property
    def _is_wanted(self) -> bool:
        """Whether nobody has closed it."""
        return not (self.is_closing or self.user.closed.done)

    async def close(self) -> None:
        """Close the object; when it was never opened, at once, and one that is, behind that."""
        self.is_closing = True
        opening = self._opening
        if opening is not None:
            # Its JOIN is under way: only who is in can leave.
            await done_within(self._session.home.runtime, opening, OPENING_S)
        if self._is_open or (opening is not None and opening.done):
            await self.user.close()
        else:
            self.user.end(ClosedError("the session is closed"))

    def follow(self, tell: Callable[[str, Change], None]) -> None:
        """Tell of every change, too."""
        if isinstance(self.user, Replica):
            self.user.watchers.tap = lambda change: tell(self.site.name, change)

    def _on_closed(self) -> None:
        self._joined_as = None  # who is let in from now on leaves (P1)
        self._call_alarm_off()
        self._session.detach(self)
        self.site.detach(self)

    # --- what the user asks for -----------------------------------------------------------------

    @property
    def wait(self) -> Wait:
        """How a coroutine waits here."""
        return self._session.home.runtime.wait

    @property
    def group(self) -> GroupId:
        """The group's number."""
        return self.site.group

    @property
    def process(self) -> Process:
        """The session's process."""
        return self._session.process

    @property
    def member(self) -> Process:
        """See `GroupPort`."""
        return self._session.home.member if self.attends else self._session.process

    @property
    def principal(self) -> str:
        """On whose behalf the session acts."""
        return self._session.principal

    def now_s(self) -> float:
        """The node's clock."""
        return self._session.home.now_s()

    def wake_at(self, at_s: float) -> None:
        """Have the user called at this time."""
        self._call_alarm_off()
        alarm = self._session.home.runtime.alarm
        self._call_off = alarm(at_s - self.now_s(), self.user.on_time)

    def _call_alarm_off(self) -> None:
        if self._call_off is not None:
            self._call_off()
            self._call_off = None

    def join(self) -> None:
        """Ask to be a member, or to attend."""
        if self._joined_as == self.process:
            return  # its opening and the node's next life have met
        self._joined_as = self.process
        self._session.home.runtime.spawn(self._join(self.process))

    async def _join(self, process: Process) -> None:
        home = self._session.home
        try:
            while self._joined_as == process and not self.user.closed.done:
                try:
                    if not self.attends:
                        await home.groups.join(process, self.group)
                    else:
                        await self.site.standing(home).entered(self.group)
                        if self._joined_as != process:
                            return  # it has nothing to leave
                        await home.groups.attend(process, self.group)
                    if self._joined_as != process:  # closed meanwhile, and nobody was in (P1)
                        home.groups.leave(process, self.group)
                    return
                except GroupRefusedError as error:
                    if error.code not in AGAIN:
                        raise
                await elapse(home.runtime, REJOIN_S)
        except (GroupRefusedError, ChannelClosedError) as error:
            if process == self._session.process:
                code = error.code if isinstance(error, GroupRefusedError) else GONE_ON
                self.user.end(RefusedError(code, str(error)))

    def leave(self, comes_back: bool = False) -> None:
        """Ask to be no member any more; see `GroupPort`."""
        self._joined_as = None
        self.is_closing = self.is_closing or not comes_back
        try:
            self._session.home.groups.leave(self.process, self.group)
        except ChannelClosedError:
            self.user.end(ClosedError("the node is outside the cluster"))

    def send(self, payload: bytes) -> int:
        """Multicast; RefusedError when it cannot be sent."""
        groups = self._session.home.groups
        most = groups.options.message_bytes_max
        if len(payload) > most:
            raise RefusedError("too_large", f"a message has {most} bytes at most; split it")
        try:
            if self.site.order is Order.VOLATILE:
                with suppress(GroupRefusedError):  # counted there; it may be lost anyway
                    groups.send_volatile(self.process, self.group, payload)
                return 0
            return groups.send(self.process, self.group, [payload])
        except ChannelClosedError as error:
            raise ClosedError(str(error)) from None
        except GroupRefusedError as error:
            raise RefusedError(error.code, str(error)) from None

    def authorization_of(self, text: bytes) -> bytes:
        """See `GroupPort`."""
        return self._session.home.authorize(self.site.name, text)

    def give_state(self, token: int, state: bytes) -> None:
        """Never asked: `Site.copy_state` answers for the whole node."""
