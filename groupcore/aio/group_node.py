"""A node of the sequencing service, for asyncio programs.

    async with GroupNode("demo", node_id="a", receiver=print) as node:
        group = await node.create("news")
        process = node.open_process()
        await node.join(process, group)
        node.send(process, group, [b"hello"])

Its channel carries the control plane; the service's packets travel beside it, on the same sockets.
When the cluster has gone on without this node, its processes are over (`Over`): the program opens
new ones and joins again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self, TypedDict, Unpack

from groupcore.aio.asked import Asked
from groupcore.aio.channel import Channel
from groupcore.aio.identity import NodeIdentity
from groupcore.aio.key_file import KeyFile
from groupcore.aio.keys import NodeKeys
from groupcore.aio.lineage import Lineage
from groupcore.aio.log_store import LogStorage
from groupcore.aio.plans import RunningPlan
from groupcore.aio.revoking import NodeRevocations
from groupcore.endpoint import Delivery
from groupcore.errors import ChannelClosedError, GroupRefusedError, SettingsError
from groupcore.events import Event
from groupcore.sequencing.arguments import check_group, check_process
from groupcore.sequencing.commands import Command
from groupcore.sequencing.events import (
    MembersChanged,
    ServiceEvent,
    SetAside,
    StateWanted,
    Told,
)
from groupcore.sequencing.names import GroupId, Order, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.sequencing.service import Service
from groupcore.sequencing.tracing import Recorder
from groupcore.sequencing.watch import Watch
from groupcore.stacks import StackOptions
from groupcore.view import Address

log = logging.getLogger(__name__)


class NodeSettings(TypedDict, total=False):
    """The settings of the channel beneath, see there."""

    bind: str
    port: int
    multicast: str | None
    initial_hosts: Sequence[str]
    key: bytes | KeyFile | None
    ttl: int
    cluster_size: int
    lineage: Lineage | None
    datagram_bytes_max: int | None
    leave_timeout_s: float
    stack: str | Sequence[str]
    stack_options: StackOptions | None
    identity: NodeIdentity | None


CopyState = Callable[[GroupId], bytes | None]


@dataclass(slots=True)
class Over(ServiceEvent):
    """The life of this node is over: its processes are gone, its groups' states are not kept up."""


class GroupNode:
    """One node. `receiver` is called with what each turn has to say, in order; it must not raise.

    Calls raise BadArgumentError for what is no group, process or message, before they do anything.

    `copy_state` gives the state of a group as of what the receiver has been told, for another
    node; None where it has none that others could use: they ask somebody else. `data_dir`: a folder
    of the node's own, for its log, or a `LogStorage` on one; with it what is `saved` survives the
    loss of all nodes at once. All nodes of a cluster have one, or none has. `recorder` makes what
    each life of the node writes its trace to (`groupcore.trace`); `watch` has some of all lives.
    Settings are those of `Channel`. Use one node from one loop.
    """

    def __init__(
        self,
        cluster: str,
        *,
        node_id: str,
        receiver: Callable[[list[ServiceEvent]], None],
        copy_state: CopyState = lambda group: b"",
        options: ServiceOptions | None = None,
        data_dir: Path | str | LogStorage | None = None,
        recorder: Callable[[], Recorder] | None = None,
        **settings: Unpack[NodeSettings],
    ) -> None:
        self.options = options or ServiceOptions()
        self.storage: LogStorage | None = None
        if data_dir is not None:
            self.options = replace(self.options, durable=True)
            if not isinstance(data_dir, LogStorage):
                data_dir = LogStorage(data_dir, cluster, node_id)
            self.storage = data_dir
            if settings.get("lineage") is not None:
                raise SettingsError("lineage: the folder `data_dir` is one; leave it out")
            settings["lineage"] = self.storage
            # A node that has lost its disk counts for no copy; the others must be enough.
            size = settings.get("cluster_size", 1)
            if size > 1 and self.options.k > size // 2:
                most = f"with a log at most {size // 2} where cluster_size is {size}"
                raise SettingsError(f"options.k {self.options.k} is too many: {most}")
        elif self.options.durable:
            raise SettingsError("options.durable needs a folder for the log; give `data_dir`")
        self._recorder = recorder
        self._receiver = receiver
        self._copy_state = copy_state
        self._service: Service | None = None
        self.asked = Asked()
        self.watch = Watch()
        self.channel = Channel(
            cluster, node_id=node_id, hosting=self, receiver=self._ignore, **settings
        )
        key = settings.get("key")
        self.keys = NodeKeys(
            key if isinstance(key, KeyFile) else None,
            self.channel.secret.ring,
            self.propose,
            lambda: self.counters().get("transport.drops.unknown_key_epoch", 0),
            lambda: self._service is None and not self.counters().get("transport.peers", 0),
        )
        self.revocations = NodeRevocations(
            self.channel.identity, self.propose, self.channel.wake_soon, self.channel.end
        )

    async def __aenter__(self) -> Self:
        """Join the cluster, or form it; errors are those of `Channel.connect`."""
        self.keys.start()
        self.revocations.start()
        await self.channel.connect()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave the cluster."""
        await self.close()

    async def close(self) -> None:
        """Leave the cluster."""
        await self.channel.close()
        self.keys.close()
        self.revocations.close()
        self.asked.end("left", "this node has left the cluster")

    # --- processes and groups -------------------------------------------------------------------

    def open_process(self) -> Process:
        """A new process of this node; ChannelClosedError before the node has joined."""
        return self.service.open_process()

    def close_process(self, process: Process) -> None:
        """The process leaves all its groups."""
        self.service.close_process(process, 0.0)
        self.channel.wake_soon()

    async def create(self, name: str = "", order: Order = Order.CAUSALLY_TOTAL) -> GroupId:
        """CREATE-GROUP: the group of that name, new or not; without a name, a new one.

        GroupRefusedError: `bad_name` for one above 64 characters, `bad_order` where the group is
        of another order.
        """
        request = self.service.create(name, order, 0.0)
        return await self._answer(request)

    async def delete(self, group: GroupId) -> None:
        """Forget a group, with all that was sent there: nobody is in it any more, at any node.

        Its name is free. GroupRefusedError: `unknown_group`, or `moving` while it migrates; then
        ask again.
        """
        await self._answer(self.service.delete(group, 0.0))

    @property
    def names(self) -> Mapping[str, GroupId]:
        """The groups that have names, as far as this node has heard."""
        return self.service.plane.directory.names

    def renew(self, groups: Sequence[GroupId]) -> int:
        """Have this node's log and archive keep states of these groups, as of now or of later, in
        the place of all that was sent there before; deleted groups leave the log with that.

        A number for `has_erased`, which counts in this life of the node only. ChannelClosedError,
        SettingsError without `data_dir`.
        """
        if self.storage is None:
            raise SettingsError("renew needs a node with a log; give `data_dir`")
        service = self.service
        service.idle.end()
        number = service.archiving.renew(groups)
        self.channel.wake_soon()
        return number

    def has_erased(self, number: int) -> bool:
        """Whether the log on disk holds nothing of what was to go with this `renew`; ask again if
        not. ChannelClosedError."""
        if self.storage is None:
            return False
        self.storage.clear_again()
        is_done = self.service.archiving.erasing.done >= number
        return is_done and not self.storage.is_clearing

    async def join(self, process: Process, group: GroupId, *, observes: bool = False) -> int:
        """JOIN-GROUP: the number from which on the process is a member. GroupRefusedError.

        A group that this node has not heard of, by another one's word, is waited for
        (`ServiceOptions.catch_up_s`). An archiver or a bot that is in nearly every `strict` group
        joins with `observes`: it is given each group's order, behind what that rests on, but groups
        that it observes may come in another order across each other than for their members. So S2
        does not count it, and no two groups have to have one sequencer on its account.
        """
        check_process(process)
        check_group(group)
        if (process, group) in self.asked.joining:
            raise GroupRefusedError("already_a_member", f"{process} joins group {group}")
        joined = self.asked.join(
            self.service.join(process, group, 0.0, observes=observes), process, group
        )
        self.channel.wake_soon()
        return await joined

    async def attend(self, process: Process, group: GroupId) -> int:
        """Be given a group that another process of this node is a member of, and be no member.

        No number is taken for it, and nobody else hears of it. The number from which on it is given
        messages; `leave` ends it. GroupRefusedError: `not_a_member` where no process of this node
        is in the group, `bad_order` where it is strict.
        """
        check_process(process)
        check_group(group)
        if (process, group) in self.asked.joining:
            raise GroupRefusedError("already_a_member", f"{process} joins group {group}")
        attended = self.asked.join(self.service.attend(process, group, 0.0), process, group)
        self.channel.wake_soon()
        return await attended

    def leave(self, process: Process, group: GroupId) -> None:
        """LEAVE-GROUP; nothing that is delivered from now on is the process's."""
        self.service.leave(process, group, 0.0)
        self.channel.wake_soon()

    def send(self, process: Process, group: GroupId, payloads: Sequence[bytes]) -> int:
        """DO-MULTICAST at the end of this loop turn; the process's own number of the last one.

        Messages are `bytes`. GroupRefusedError when nothing is sent: `unknown_group`, `left`,
        `too_large`. Who sends much waits for `room`.
        """
        number = self.service.send(process, group, payloads, 0.0)
        if number and self.storage is not None:
            self.asked.unsaved.sent(process, group, number)
        self.channel.wake_soon()
        return number

    async def saved(self) -> None:
        """Wait until everything that was sent here up to now survives the loss of all nodes.

        Without `data_dir` nothing does, and it returns at once. ChannelClosedError when this
        node's life ends before.
        """
        await self.asked.unsaved.none_left()

    def send_volatile(self, process: Process, group: GroupId, payload: bytes) -> None:
        """A message that only counts until the next one; may be lost. GroupRefusedError."""
        self.service.send_volatile(process, group, payload, 0.0)
        self.channel.wake_soon()

    async def room(self) -> None:
        """Wait while too much of this node's has not been accepted."""
        await self.asked.uncongested.wait()

    async def move(self, groups: Sequence[GroupId], target: Address, reason: str = "plan") -> int:
        """Ask for a migration; the events tell when it has happened.

        `Refused` with the number that this returns tells why it has not: `unknown_group`,
        `unknown_node`, `breaks_s2`, `moving`, `draining`, `arriving`,
        `already_there`.
        """
        request = self.service.move(groups, target, reason, 0.0)
        self.channel.wake_soon()
        return request

    def run_plan(self, plan: str | bytes, at_once: int = 4) -> RunningPlan:
        """Carry out a placement plan, so many moves at a time; iterate over its progress.

        The plan is a JSON text, `{"plan": 1, "groups": {"<name or number>": "<node>", ...}}`.
        PlanError says what is wrong with it (an unknown group or node, one that is drained, a
        strict component that would be split) before anything is moved.
        """
        service = self.service
        number = service.run_plan(plan, at_once, 0.0)

        def call_off() -> None:
            service.cancel_plan(number, 0.0)
            self.channel.wake_soon()

        running = self.asked.plans[number] = RunningPlan(call_off)
        self.channel.wake_soon()
        return running

    def drain(self, name: str, on: bool) -> int:
        """Have a node sequence nothing any more: its groups migrate to others. Or let it again.

        `Refused` with the number that this returns tells why nothing has changed: `unknown_node`.
        """
        request = self.service.drain(name, on, 0.0)
        self.channel.wake_soon()
        return request

    async def rotate_key(self) -> int:
        """Have all nodes take a new cluster key, while they work; its key epoch.

        Put the new key on a line behind the present one in every node's `KeyFile` first. Returns
        when no node accepts the former one any more. KeyRotationError names the node that lacks
        the key: the cluster keeps the present one then.
        """
        return await self.keys.rotate()

    def propose(self, command: Command) -> None:
        """Say a command in the control plane's order."""
        self.service.propose(command, 0.0)
        self.channel.wake_soon()

    @property
    def service(self) -> Service:
        """The present life's service; ChannelClosedError while there is none."""
        if self._service is None:
            raise ChannelClosedError("this node has not joined the cluster (yet, or again)")
        return self._service

    def owner_of(self, group: GroupId) -> str | None:
        """The node that sequences the group, as far as this one knows; None for an unknown one.

        `OwnerChanged` tells of every group that is created, and when its sequencer is another.
        """
        owner = self.service.plane.owner(group)
        return None if owner is None else owner.name

    def counters(self) -> dict[str, int]:
        """Counters of everything, by name."""
        return self.channel.counters()

    async def _answer(self, request: int) -> GroupId:
        answered = self.asked.answer(request)
        self.channel.wake_soon()
        return await answered

    # --- from the pump --------------------------------------------------------------------------

    def begin(self, service: Service) -> None:
        """A life begins; what was waited for in the former one is over."""
        former, self._service = self._service, service
        self.keys.begin(service.plane.me)
        self.revocations.begin(service.plane.me)
        service.watch(self.watch)
        if self._recorder is not None:
            service.trace(self._recorder())
        if former is not None:
            self.asked.end("left", "the cluster has gone on without this node; join again")
            self._receiver([Over()])

    def on_events(self, events: list[ServiceEvent]) -> None:
        """What a turn has to say, to the receiver and to who waits."""
        told: list[ServiceEvent] = []
        for event in events:
            if isinstance(event, StateWanted):
                self._tell(told)
                told = []
                self.service.give_state(event.token, self._copy_state(event.group))
                self.channel.wake_soon()
                continue
            told.append(event)
        self._tell(told)

    def _tell(self, told: list[ServiceEvent]) -> None:
        """The receiver hears first."""
        if told:
            self._receiver(told)
        for event in told:
            if isinstance(event, SetAside):
                place, detail = event.place, event.detail
                log.warning(
                    "command %d of view %d, by %s, is set aside by all nodes: %s",
                    place.commands,
                    place.view,
                    event.by,
                    detail,
                )
            self.asked.settle(event)
            if isinstance(event, MembersChanged | Told):
                self.keys.on_event(event)
                self.revocations.on_event(event)

    def _ignore(self, deliveries: list[Delivery | Event]) -> None:
        """The control plane's channel has nothing for the application."""
