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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self, TypedDict, Unpack

from groupcore.aio.channel import Channel
from groupcore.aio.identity import NodeIdentity
from groupcore.aio.key_file import KeyFile
from groupcore.aio.keys import NodeKeys
from groupcore.aio.lineage import Lineage
from groupcore.aio.log_store import LogStorage
from groupcore.aio.plans import RunningPlan
from groupcore.aio.revoking import NodeRevocations
from groupcore.aio.waiting import wait
from groupcore.endpoint import Delivery
from groupcore.errors import SettingsError
from groupcore.events import Event
from groupcore.host import ServiceGroups
from groupcore.host.groups import CopyState, Receiver
from groupcore.sequencing.commands import Command
from groupcore.sequencing.events import (
    MembersChanged,
    ServiceEvent,
    SetAside,
    Told,
)
from groupcore.sequencing.names import GroupId
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


@dataclass(slots=True)
class Over(ServiceEvent):
    """The life of this node is over: its processes are gone, its groups' states are not kept up."""


class GroupNode(ServiceGroups):
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
        receiver: Receiver,
        copy_state: CopyState = lambda group: b"",
        options: ServiceOptions | None = None,
        data_dir: Path | str | LogStorage | None = None,
        recorder: Callable[[], Recorder] | None = None,
        **settings: Unpack[NodeSettings],
    ) -> None:
        options = options or ServiceOptions()
        self.storage: LogStorage | None = None
        if data_dir is not None:
            options = replace(options, durable=True)
            if not isinstance(data_dir, LogStorage):
                data_dir = LogStorage(data_dir, cluster, node_id)
            self.storage = data_dir
            if settings.get("lineage") is not None:
                raise SettingsError("lineage: the folder `data_dir` is one; leave it out")
            settings["lineage"] = self.storage
            # A node that has lost its disk counts for no copy; the others must be enough.
            size = settings.get("cluster_size", 1)
            if size > 1 and options.k > size // 2:
                most = f"with a log at most {size // 2} where cluster_size is {size}"
                raise SettingsError(f"options.k {options.k} is too many: {most}")
        elif options.durable:
            raise SettingsError("options.durable needs a folder for the log; give `data_dir`")
        super().__init__(wait, options, self._wake_channel, receiver, copy_state)
        self._recorder = recorder
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
            lambda: not self.has_life and not self.counters().get("transport.peers", 0),
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
        self.requests.end("left", "this node has left the cluster")

    # --- groups ---------------------------------------------------------------------------------

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

        running = self.requests.plans[number] = RunningPlan(call_off)
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

    def owner_of(self, group: GroupId) -> str | None:
        """The node that sequences the group, as far as this one knows; None for an unknown one.

        `OwnerChanged` tells of every group that is created, and when its sequencer is another.
        """
        owner = self.service.plane.owner(group)
        return None if owner is None else owner.name

    def counters(self) -> dict[str, int]:
        """Counters of everything, by name."""
        return self.channel.counters()

    # --- from the pump --------------------------------------------------------------------------

    def _wake_channel(self) -> None:
        self.channel.wake_soon()

    def begin(self, service: Service) -> None:
        """A life begins; what was waited for in the former one is over."""
        is_another = self.has_life
        self.begin_life(service)
        self.keys.begin(service.plane.me)
        self.revocations.begin(service.plane.me)
        service.watch(self.watch)
        if self._recorder is not None:
            service.trace(self._recorder())
        if is_another:
            self._receiver([Over()])

    def on_events(self, events: list[ServiceEvent]) -> None:
        """What a turn has to say, to the receiver and to who waits."""
        self.hear(events)
        for event in events:
            if isinstance(event, MembersChanged | Told):
                self.keys.on_event(event)
                self.revocations.on_event(event)
            elif isinstance(event, SetAside):
                _note_set_aside(event)

    def _ignore(self, deliveries: list[Delivery | Event]) -> None:
        """The control plane's channel has nothing for the application."""


def _note_set_aside(event: SetAside) -> None:
    text = "command %d of view %d, by %s, is set aside by all nodes: %s"
    log.warning(text, event.place.commands, event.place.view, event.by, event.detail)
