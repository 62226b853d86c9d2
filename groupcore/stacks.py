"""Stacks: the layers by name, composed and wired.

This is the picture of a stack: which layers stand over each other, and which questions one asks
another. A stack string names the layers from the lowest to the highest, separated by colons.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from random import Random
from typing import Any

from groupcore import wire
from groupcore.composition import check_composition
from groupcore.digest import Digest
from groupcore.errors import CompositionError, WireError
from groupcore.faults import (
    DelayOptions,
    DiscardOptions,
    DuplicateOptions,
    Faults,
    ShuffleOptions,
)
from groupcore.forward_watch import PATIENCE, ForwardWatch
from groupcore.layer import Layer
from groupcore.layers.discovery import Discovery, DiscoveryOptions
from groupcore.layers.durability import Durability
from groupcore.layers.failure_detection import DetectionOptions, FailureDetection
from groupcore.layers.faults import Delay, Discard, Duplicate, Shuffle
from groupcore.layers.flow_control import FlowControl, FlowOptions
from groupcore.layers.flush import Flush, no_streams
from groupcore.layers.fragmentation import Fragmentation
from groupcore.layers.membership import Membership
from groupcore.layers.merge import Merge, MergeOptions
from groupcore.layers.nakack import Nakack
from groupcore.layers.nakack_headers import NakackOptions
from groupcore.layers.pbcast import GossipOptions, Pbcast
from groupcore.layers.probe import Probe, ProbeOptions, Report
from groupcore.layers.queue import Queue
from groupcore.layers.resilience import Resilience
from groupcore.layers.sequencer import Sequencer
from groupcore.layers.stability import Stability
from groupcore.layers.state_transfer import StateTransfer
from groupcore.layers.total import Total
from groupcore.layers.total_headers import TotalOptions
from groupcore.layers.unicast import Unicast, UnicastOptions
from groupcore.membership.ballots import Record
from groupcore.membership.state import MembershipOptions, Questions, anything
from groupcore.order_state import OrderState
from groupcore.stack import Stack
from groupcore.stack_string import Word, parse_stack, unknown_word, with_field, with_settings
from groupcore.transfer.options import StateTransferOptions
from groupcore.view import Address, View

DEFAULT_STACK = (
    "UDP:PROBE:PING:MERGE:FD:NAKACK:UNICAST:STABLE:RESILIENCE:GMS:FLUSH:FC:FRAG:SEQUENCER"
    ":STATE_TRANSFER:QUEUE:DURABILITY"
)
"""Total order that survives the loss of any minority."""

LARGE_GROUP_STACK = "UDP:PROBE:PING:FD:NAKACK(acknowledge=none):UNICAST:PBCAST:GMS:FLUSH:FC:FRAG"
"""Multicasts of each sender in order, no order between senders: for many members.

Nobody acknowledges and nobody reports to all: stability and late repair come by gossip.
"""

TOTAL_STACK = (
    "UDP:PROBE:PING:MERGE:FD:UNICAST:GMS:FLUSH:TOTAL:FC:FRAG:STATE_TRANSFER:QUEUE:DURABILITY"
)
"""The same promises by another protocol: TOTAL repairs and counts holders by itself."""

TRANSPORTS = ("UDP",)
"""Names that may stand first: the transport is under every stack and is no layer of it."""


@dataclass(frozen=True, slots=True)
class StackOptions:
    """The settings of all layers. Sizes in bytes, times in seconds.

    `faults` switches the fault layers, if the stack has any, while it runs. `own`: of a program's
    own layers, by word.
    """

    probe: ProbeOptions = field(default_factory=ProbeOptions)
    discovery: DiscoveryOptions = field(default_factory=DiscoveryOptions)
    merge: MergeOptions = field(default_factory=MergeOptions)
    detection: DetectionOptions = field(default_factory=DetectionOptions)
    nakack: NakackOptions = field(default_factory=NakackOptions)
    unicast: UnicastOptions = field(default_factory=UnicastOptions)
    total: TotalOptions = field(default_factory=TotalOptions)
    membership: MembershipOptions = field(default_factory=MembershipOptions)
    flow: FlowOptions = field(default_factory=FlowOptions)
    faults: Faults = field(default_factory=Faults)
    discard: DiscardOptions = field(default_factory=DiscardOptions)
    delay: DelayOptions = field(default_factory=DelayOptions)
    shuffle: ShuffleOptions = field(default_factory=ShuffleOptions)
    duplicate: DuplicateOptions = field(default_factory=DuplicateOptions)
    body_bytes_max: int = 65_000
    order_window_bytes: int = 1 << 20
    stability_interval_s: float = 0.5
    gossip: GossipOptions = field(default_factory=GossipOptions)
    state: StateTransferOptions = field(default_factory=StateTransferOptions)
    queue_bytes_max: int = 64 << 20
    k: int = 1
    own: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parts:
    """What a program's own layer is made of, in one life of one node.

    `options`: its own, as the stack string and `StackOptions.own` have them; None where it was
    registered without. `body_bytes_max`: no larger body comes to a layer below FRAG.
    """

    me: Address
    random: Random
    options: Any
    body_bytes_max: int


Maker = Callable[[Parts], Layer]


@dataclass(frozen=True, slots=True)
class Known:
    """A layer that can be named in a stack; `options` is its field of StackOptions, if any.

    `make`: of a program's own layer, whose options are these `defaults` where nothing else is said.
    """

    layer: type[Layer]
    options: str | None = None
    make: Maker | None = None
    defaults: Any = None


LAYERS: dict[str, Known] = {
    known.layer.name: known
    for known in (
        Known(Probe, "probe"),
        Known(Discovery, "discovery"),
        Known(Merge, "merge"),
        Known(FailureDetection, "detection"),
        Known(Nakack, "nakack"),
        Known(Unicast, "unicast"),
        Known(Stability, "stability_interval_s"),
        Known(Pbcast, "gossip"),
        Known(Resilience),
        Known(Membership, "membership"),
        Known(Flush),
        Known(FlowControl, "flow"),
        Known(Fragmentation, "body_bytes_max"),
        Known(Total, "total"),
        Known(Sequencer, "order_window_bytes"),
        Known(StateTransfer, "state"),
        Known(Queue, "queue_bytes_max"),
        Known(Durability, "k"),
        Known(Discard, "discard"),
        Known(Delay, "delay"),
        Known(Shuffle, "shuffle"),
        Known(Duplicate, "duplicate"),
    )
}
"""Every layer by its word in a stack string."""


def register_layer(layer: type[Layer], make: Maker, options: object = None) -> None:
    """Has a program's own layer be named in stacks, by its `name`, from now on.

    `make` makes one for each life of each node; `options`: a frozen dataclass with what is used
    where a stack says nothing else, whose plain fields can be set in brackets. Its headers travel
    by `groupcore.headers.travels`. CompositionError for a word that another layer has, or that can
    be none.
    """
    word = layer.name
    if re.fullmatch(r"[A-Z][A-Z0-9_]*", word) is None or word in TRANSPORTS:
        raise CompositionError(f"{word!r} can be no layer's word; use capitals, digits and _")
    if word in LAYERS and LAYERS[word].layer is not layer:
        other = LAYERS[word].layer
        raise CompositionError(f"{word} is {other.__module__}.{other.__qualname__}; take another")
    LAYERS[word] = Known(layer, None, make, options)


@dataclass(frozen=True, slots=True)
class StackPlan:
    """A stack that can be composed: its layers' words, lowest first, and the options of all."""

    words: tuple[str, ...]
    options: StackOptions


def plan_stack(spec: str | Sequence[str], options: StackOptions | None = None) -> StackPlan:
    """The plan of a stack string or list; what stands in brackets there replaces `options`.

    CompositionError for an unknown word, a wrong option, or a layer that misses what it requires;
    the text says what would help.
    """
    words = parse_stack(spec)
    for index, word in enumerate(words):
        _check_word(word, index)
    if words and words[0].name in TRANSPORTS:
        words = words[1:]
    names = tuple(word.name for word in words)
    catalogue = [known.layer for known in LAYERS.values()]
    check_composition([LAYERS[name].layer for name in names], catalogue)
    options = options or StackOptions()
    for word in words:
        if word.settings:
            options = _configured(word, options)
    _check_acknowledgements(names, options.nakack)
    return StackPlan(names, options)


def _check_acknowledgements(names: tuple[str, ...], options: NakackOptions) -> None:
    """CompositionError when nobody acknowledges, and somebody needs it or nothing stands in."""
    if "NAKACK" not in names or options.acknowledge == "all":
        return
    if Resilience.name in names:
        raise CompositionError(
            "RESILIENCE counts acknowledgements; take it out or write NAKACK(acknowledge=all)"
        )
    if Stability.name not in names and Pbcast.name not in names:
        raise CompositionError(
            "NAKACK(acknowledge=none) learns what all hold from STABLE or PBCAST; add one of them "
            "above it"
        )


def _check_word(word: Word, index: int) -> None:
    """CompositionError for a word that no layer has, or a transport that is not the lowest."""
    if word.name in TRANSPORTS:
        if index > 0:
            raise CompositionError(f"{word.name} is the transport; put it first or leave it out")
        if word.settings:
            raise CompositionError(
                f"{word.name} takes no options in a stack; give them to the channel"
            )
    elif word.name not in LAYERS:
        raise unknown_word(word.name, LAYERS)


def _configured(word: Word, options: StackOptions) -> StackOptions:
    """The options, with what one word's brackets say."""
    known = LAYERS[word.name]
    if known.defaults is not None:
        given = with_settings(word, options.own.get(word.name, known.defaults))
        return replace(options, own={**options.own, word.name: given})
    name = known.options
    if name is None:
        return with_settings(word, options, ())
    own = getattr(options, name)
    if is_dataclass(own) and not isinstance(own, type):
        return with_field(options, name, with_settings(word, own))
    return with_settings(word, options, (name,))


def read_record(lineage: bytes | None) -> Record:
    """The voter's record from what was stored; WireError `bad_record` when it is damaged."""
    if lineage is None:
        return Record()
    try:
        record = wire.decode_record(lineage, Record)
    except WireError as error:
        raise WireError("bad_record", str(error)) from None
    assert isinstance(record, Record)
    return record


def encode_record(record: Record) -> bytes:
    """The voter's record as bytes for the disk."""
    return wire.encode_record(record, Record)


def encode_report(report: Report) -> bytes:
    """What a node tells of itself as bytes for the network."""
    return wire.encode_record(report, Report)


@dataclass(frozen=True, slots=True)
class DataPlane:
    """What a data plane beside the stack answers in a view change.

    `stop`: acknowledge nothing more in the view of this number, and say how far each stream is
    here; `has`: whether it is here up to there; `stored`: how far what is on disk goes. `logged`:
    there is a log, so something is; `stored_view`: the last view in it when this life began.
    `disk_mark` grows with what is stored. `known`: of which streams that it has said to be here the
    order up to this position knows less, and how much.
    """

    stop: Callable[[int], Digest] = no_streams
    has: Callable[[Digest], bool] = anything
    stored: Callable[[], Digest] = dict
    logged: bool = False
    stored_view: Callable[[], int] = int
    disk_mark: Callable[[], int] = int
    known: Callable[[int], Digest] = no_streams


class _Wiring:
    """The layers under construction, so that a question finds its answer whatever the order."""

    def __init__(
        self,
        me: Address,
        random: Random,
        options: StackOptions,
        lineage: bytes | None,
        plane: DataPlane | None = None,
    ) -> None:
        self.me = me
        self.random = random
        self.options = options
        self.hosts = plane is not None
        self.plane = plane or DataPlane()
        self.record = read_record(lineage)
        self.probe = Probe(me, options.probe, encode_report)
        blank = self.record.view is None and self.record.accepted is None
        self.empty = self.record.rebuilding or (options.membership.durable and blank)
        self.discovery = Discovery(me, self.known, options.discovery, self.is_empty)
        self.detection = FailureDetection(me, options.detection)
        detection = self.detection
        self.nakack = Nakack(me, random, options.nakack, detection.unanswering, detection.way_to)
        flow = options.flow
        watch = ForwardWatch(PATIENCE * flow.stall_timeout_s, flow.pace_bytes_s)
        self.sequencer = Sequencer(me, options.order_window_bytes, watch=watch)
        watch = ForwardWatch(PATIENCE * flow.stall_timeout_s, flow.pace_bytes_s)
        total = replace(options.total, order_window_bytes=options.order_window_bytes)
        self.total = Total(me, random, total, self.detection.unreachable, watch)
        self.resilience = Resilience(me)
        self.member: Membership | None = None
        self.words: tuple[str, ...] = ()

    @property
    def numbering(self) -> Nakack | Total:
        """The layer of this stack that numbers multicasts: its digest is voted with."""
        return self.total if "TOTAL" in self.words else self.nakack

    @property
    def ordering(self) -> Sequencer | Total | None:
        """The layer of this stack that orders, if there is one."""
        layers: dict[str, Sequencer | Total] = {"TOTAL": self.total, "SEQUENCER": self.sequencer}
        return next((layers[word] for word in self.words if word in layers), None)

    def order_state(self) -> OrderState:
        return OrderState() if self.ordering is None else self.ordering.order_state()

    def position(self) -> int:
        return self.order_state().position

    def known(self) -> View | None:
        return self.record.view if self.member is None else self.member.state.record.view

    def is_empty(self) -> bool:
        return self.empty or (self.member is not None and self.member.state.record.rebuilding)

    def synced(self) -> int:
        return 0 if self.member is None else self.member.state.synced

    def way_to(self, member: Address, proposer: Address) -> Address | None:
        return member if self.member is None else self.member.way_to(member, proposer)

    def stability(self) -> Stability:
        nakack = self.nakack
        interval_s = self.options.stability_interval_s
        return Stability(self.me, self.random, nakack.delivered, nakack.highest, interval_s)

    def gossip(self) -> Pbcast:
        nakack = self.nakack
        return Pbcast(self.me, self.random, nakack.digest, nakack.delivered, self.options.gossip)

    def membership(self) -> Membership:
        questions = Questions(
            digest=self.numbering.digest,
            order_state=self.order_state,
            unheard=self.detection.unheard,
            heard_since=self.detection.heard_since,
            reached_since=self.detection.reached_since,
            seeking=self.discovery.seeking,
            present=self.discovery.present,
            empty=self.discovery.empty,
            stalled=self.detection.stalled,
            has_streams=self.plane.has,
            stored_streams=self.plane.stored,
            stored_view=self.plane.stored_view,
            disk_mark=self.plane.disk_mark,
            indirect=self.detection.indirect,
            way_to=self.detection.way_to,
            is_parting=self.detection.is_parting,
        )
        drains = self.ordering is not None
        given = self.options.membership
        saves = "DURABILITY" in self.words and given.durable and given.application_state
        options = replace(
            given,
            drains=drains,
            data_plane=self.hosts,
            logged=self.plane.logged,
            counts_disks=saves and not self.hosts,
        )
        self.member = Membership(
            self.me, self.random, options, self.record, encode_record, questions
        )
        return self.member

    def flush(self) -> Flush:
        delivered = self.nakack.delivered
        if "TOTAL" in self.words:
            delivered = self.total.queue.delivered
        elif "RESILIENCE" in self.words:
            delivered = self.resilience.delivered
        digest, plane = self.numbering.digest, self.plane
        told = digest, delivered, self.position, plane.stop, self.synced
        return Flush(self.me, *told, self.way_to, plane.known)

    def merge(self) -> Merge:
        return Merge(self.me, self.random, self.discovery.present, self.options.merge)

    def makers(self) -> dict[str, Callable[[], Layer]]:
        """How each layer is made."""
        options = self.options
        return {
            "PROBE": lambda: self.probe,
            "PING": lambda: self.discovery,
            "MERGE": self.merge,
            "FD": lambda: self.detection,
            "NAKACK": lambda: self.nakack,
            "UNICAST": lambda: Unicast(self.me, options.unicast),
            "STABLE": self.stability,
            "PBCAST": self.gossip,
            "RESILIENCE": lambda: self.resilience,
            "GMS": self.membership,
            "FLUSH": self.flush,
            "FC": lambda: FlowControl(self.me, options.flow),
            "FRAG": lambda: Fragmentation(options.body_bytes_max),
            "TOTAL": lambda: self.total,
            "SEQUENCER": lambda: self.sequencer,
            "STATE_TRANSFER": lambda: StateTransfer(self.me, options.state),
            "QUEUE": lambda: Queue(options.queue_bytes_max),
            "DURABILITY": lambda: Durability(self.me, options.k),
            "DISCARD": lambda: Discard(self.random, options.faults, options.discard),
            "DELAY": lambda: Delay(self.random, options.faults, options.delay),
            "SHUFFLE": lambda: Shuffle(self.random, options.faults, options.shuffle),
            "DUPLICATE": lambda: Duplicate(self.random, options.faults, options.duplicate),
        }

    def own_layer(self, known: Known) -> Layer:
        """One of a program's own."""
        assert known.make is not None
        options = self.options
        given = options.own.get(known.layer.name, known.defaults)
        return known.make(Parts(self.me, self.random, given, options.body_bytes_max))


def compose(
    spec: str | Sequence[str],
    address: Address,
    random: Random,
    options: StackOptions | None = None,
    lineage: bytes | None = None,
    data_plane: DataPlane | None = None,
) -> Stack:
    """The stack that the string or list names, for one life of one node.

    `lineage` is the record that the former life stored, None for the first; `data_plane` is beside
    it, if any. Raises CompositionError as `plan_stack` does, and WireError `bad_record` for a
    damaged lineage.
    """
    return build_stack(plan_stack(spec, options), address, random, lineage, data_plane)


def build_stack(
    plan: StackPlan,
    address: Address,
    random: Random,
    lineage: bytes | None = None,
    data_plane: DataPlane | None = None,
) -> Stack:
    """The stack of a plan, as `compose` makes it."""
    wiring = _Wiring(address, random, plan.options, lineage, data_plane)
    wiring.words = plan.words
    makers = wiring.makers()
    stack = Stack(
        [
            makers[word]() if word in makers else wiring.own_layer(LAYERS[word])
            for word in plan.words
        ]
    )
    wiring.probe.sources = stack.sources
    return stack
