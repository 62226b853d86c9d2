"""The groups of a node, as its programs call them: over the sequencing service of its present life.

A driver says when a life begins and ends, has each turn's events told (`hear`), and is asked for a
turn (`wake_soon`) where something was asked of the service.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from groupcore.errors import ChannelClosedError, GroupRefusedError
from groupcore.host.requests import Requests
from groupcore.sequencing.arguments import check_group, check_process
from groupcore.sequencing.events import ServiceEvent, StateWanted
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.service import Service
from groupcore.shared.pending import Wait

Receiver = Callable[[list[ServiceEvent]], None]
"""Told what a turn has to say, in order; it must not raise."""
CopyState = Callable[[GroupId], bytes | None]
"""The state of a group as of what the receiver has been told; None where there is none to give."""
Entrance = Literal["join", "attend"]


class ServiceGroups:
    """CREATE, JOIN, LEAVE and multicast of one node; `requests` has what is not answered.

    Calls raise BadArgumentError for what is no group, process or message, before they do anything,
    and ChannelClosedError while the node is in no cluster.
    """

    def __init__(
        self,
        wait: Wait,
        options: ServiceOptions,
        wake_soon: Callable[[], None],
        receiver: Receiver,
        copy_state: CopyState,
    ) -> None:
        self.options = options
        self.requests = Requests(wait)
        self._service: Service | None = None
        self._wake_soon = wake_soon
        self._receiver = receiver
        self._copy_state = copy_state

    @property
    def service(self) -> Service:
        """The present life's service; ChannelClosedError while there is none."""
        if self._service is None:
            raise ChannelClosedError("this node has not joined the cluster (yet, or again)")
        return self._service

    @property
    def has_life(self) -> bool:
        """Whether there is a service."""
        return self._service is not None

    def begin_life(self, service: Service) -> None:
        """The node has joined the cluster; what was asked in a former life is answered no more."""
        former, self._service = self._service, service
        if former is not None:
            detail = "the cluster has gone on without this node; join again"
            self.requests.end("left", detail)

    # --- calls ----------------------------------------------------------------------------------

    def open_process(self) -> Process:
        """A new process of this node; ChannelClosedError before the node has joined."""
        return self.service.open_process()

    def close_process(self, process: Process) -> None:
        """The process leaves all its groups."""
        self.service.close_process(process, 0.0)
        self._wake_soon()

    async def create(self, name: str = "", order: Order = Order.CAUSALLY_TOTAL) -> GroupId:
        """CREATE-GROUP: the group of that name, new or not; without a name, a new one.

        GroupRefusedError: `bad_name` for one above 64 characters, `bad_order` where the group is
        of another order.
        """
        return await self._answer(self.service.create(name, order, 0.0))

    async def delete(self, group: GroupId) -> None:
        """Forget a group, with all that was sent there: nobody is in it any more, at any node.

        Its name is free. GroupRefusedError: `unknown_group`, or `moving` while it migrates; then
        ask again.
        """
        await self._answer(self.service.delete(group, 0.0))

    async def _answer(self, request: int) -> GroupId:
        answer = self.requests.answer(request)
        self._wake_soon()
        return await answer

    @property
    def names(self) -> Mapping[str, GroupId]:
        """The groups that have names, as far as this node has heard."""
        return self.service.plane.directory.names

    def group_of(self, name: str) -> GroupId | None:
        """The group of that name, as far as this node has heard; None: there is none."""
        return self.names.get(name)

    async def join(self, process: Process, group: GroupId, *, observes: bool = False) -> int:
        """JOIN-GROUP: the number from which on the process is a member. GroupRefusedError.

        A group that this node has not heard of, by another one's word, is waited for
        (`ServiceOptions.catch_up_s`). An archiver or a bot that is in nearly every `strict` group
        joins with `observes`: it is given each group's order, behind what that rests on, but groups
        that it observes may come in another order across each other than for their members. So S2
        does not count it, and no two groups have to have one sequencer on its account.
        """
        return await self._enter("join", process, group, observes)

    async def attend(self, process: Process, group: GroupId) -> int:
        """Be given a group that another process of this node is a member of, and be no member.

        No number is taken for it, and nobody else hears of it. The number from which on it is given
        messages; `leave` ends it. GroupRefusedError: `not_a_member` where no process of this node
        is in the group, `bad_order` where it is strict.
        """
        return await self._enter("attend", process, group, False)

    async def _enter(self, how: Entrance, process: Process, group: GroupId, observes: bool) -> int:
        check_process(process)
        check_group(group)
        if (process, group) in self.requests.joining:
            raise GroupRefusedError("already_a_member", f"{process} joins group {group}")
        request = self._ask(how, process, group, observes)
        joined = self.requests.join(request, process, group)
        self._wake_soon()
        return await joined

    def _ask(self, how: Entrance, process: Process, group: GroupId, observes: bool) -> int:
        if how == "attend":
            return self.service.attend(process, group, 0.0)
        return self.service.join(process, group, 0.0, observes=observes)

    def leave(self, process: Process, group: GroupId) -> None:
        """LEAVE-GROUP; nothing that is delivered from now on is the process's."""
        self._ask_to_leave(process, group)
        self._wake_soon()

    def _ask_to_leave(self, process: Process, group: GroupId) -> int:
        return self.service.leave(process, group, 0.0)

    def send(self, process: Process, group: GroupId, payloads: Sequence[bytes]) -> int:
        """DO-MULTICAST at the end of this turn; the process's own number of the last message.

        Messages are `bytes`. GroupRefusedError when nothing is sent: `unknown_group`, `left`,
        `too_large`. Who sends much waits for `room`.
        """
        number = self.service.send(process, group, payloads, 0.0)
        if number and self.options.durable:
            self.requests.unsaved.sent(process, group, number)
        self._wake_soon()
        return number

    def send_volatile(self, process: Process, group: GroupId, payload: bytes) -> None:
        """A message that only counts until the next one; may be lost. GroupRefusedError."""
        self.service.send_volatile(process, group, payload, 0.0)
        self._wake_soon()

    async def saved(self) -> None:
        """Wait until everything that was sent here up to now survives the loss of all nodes.

        Where nodes have no log nothing does, and it returns at once. ChannelClosedError when this
        node's life ends before.
        """
        await self.requests.unsaved.none_left()

    async def room(self) -> None:
        """Wait while too much of this node's has not been accepted."""
        await self.requests.room()

    # --- events ---------------------------------------------------------------------------------

    def hear(self, events: Sequence[ServiceEvent]) -> None:
        """What a turn has to say: to the receiver, and then to who waits for it.

        A state that another node wants is one as of the events before (`StateWanted`).
        """
        told: list[ServiceEvent] = []
        for event in events:
            if isinstance(event, StateWanted):
                self._tell(told)
                told = []
                self.service.give_state(event.token, self._copy_state(event.group))
                self._wake_soon()
                continue
            told.append(event)
        self._tell(told)

    def _tell(self, told: list[ServiceEvent]) -> None:
        if told:
            self._receiver(told)
        settle = self.requests.settle
        for event in told:
            settle(event)
