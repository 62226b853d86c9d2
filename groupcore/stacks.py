"""Stacks: the layers by name, composed and wired.

This is the picture of a stack: which layers stand over each other, and which questions one asks
another. A stack string names the layers from the lowest to the highest, separated by colons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from groupcore import wire
from groupcore.errors import CompositionError, WireError
from groupcore.layer import Layer
from groupcore.layers.discovery import Discovery, DiscoveryOptions
from groupcore.layers.durability import Durability
from groupcore.layers.failure_detection import DetectionOptions, FailureDetection
from groupcore.layers.fragmentation import Fragmentation
from groupcore.layers.membership import Membership
from groupcore.layers.nakack import Nakack
from groupcore.layers.nakack_headers import NakackOptions
from groupcore.layers.resilience import Resilience
from groupcore.layers.sequencer import Sequencer
from groupcore.layers.stability import Stability
from groupcore.layers.unicast import Unicast, UnicastOptions
from groupcore.membership.state import MembershipOptions, Questions
from groupcore.membership.succession import Record
from groupcore.order_state import OrderState
from groupcore.stack import Stack
from groupcore.view import Address

DEFAULT_STACK = "UDP:PING:FD:NAKACK:UNICAST:STABLE:RESILIENCE:GMS:FRAG:SEQUENCER:DURABILITY"
"""Total order that survives the loss of any minority."""

TRANSPORTS = ("UDP",)
"""Names that may stand first: the transport is under every stack and is no layer of it."""


@dataclass(frozen=True, slots=True)
class StackOptions:
    """The settings of all layers. Sizes in bytes, times in seconds."""

    discovery: DiscoveryOptions = field(default_factory=DiscoveryOptions)
    detection: DetectionOptions = field(default_factory=DetectionOptions)
    nakack: NakackOptions = field(default_factory=NakackOptions)
    unicast: UnicastOptions = field(default_factory=UnicastOptions)
    membership: MembershipOptions = field(default_factory=MembershipOptions)
    body_bytes_max: int = 65_000
    order_window_bytes: int = 1 << 20
    stability_interval_s: float = 0.5
    k: int = 1


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


class _Wiring:
    """The layers under construction, so that a question finds its answer whatever the order."""

    def __init__(
        self, me: Address, random: Random, options: StackOptions, lineage: bytes | None
    ) -> None:
        self.me = me
        self.random = random
        self.options = options
        self.record = read_record(lineage)
        self.discovery = Discovery(me, self.record.view, options.discovery)
        self.detection = FailureDetection(me, options.detection)
        self.nakack = Nakack(me, random, options.nakack, self.detection.unreachable)
        self.sequencer = Sequencer(me, options.order_window_bytes)
        self.ordered = False

    def order_state(self) -> OrderState:
        return self.sequencer.order_state() if self.ordered else OrderState()

    def stability(self) -> Stability:
        nakack = self.nakack
        interval_s = self.options.stability_interval_s
        return Stability(self.me, self.random, nakack.delivered, nakack.highest, interval_s)

    def membership(self) -> Membership:
        questions = Questions(
            digest=self.nakack.digest,
            order_state=self.order_state,
            unheard=self.detection.unheard,
            heard_since=self.detection.heard_since,
            seeking=self.discovery.seeking,
            present=self.discovery.present,
        )
        options = replace(self.options.membership, drains=self.ordered)
        return Membership(self.me, self.random, options, self.record, encode_record, questions)

    def makers(self) -> dict[str, Callable[[], Layer]]:
        """Every layer by its word in a stack string."""
        options = self.options
        return {
            "PING": lambda: self.discovery,
            "FD": lambda: self.detection,
            "NAKACK": lambda: self.nakack,
            "UNICAST": lambda: Unicast(self.me, options.unicast),
            "STABLE": self.stability,
            "RESILIENCE": lambda: Resilience(self.me),
            "GMS": self.membership,
            "FRAG": lambda: Fragmentation(options.body_bytes_max),
            "SEQUENCER": lambda: self.sequencer,
            "DURABILITY": lambda: Durability(self.me, options.k),
        }


def compose(
    spec: str,
    address: Address,
    random: Random,
    options: StackOptions | None = None,
    lineage: bytes | None = None,
) -> Stack:
    """The stack that the string names, for one life of one node.

    `lineage` is the record that the former life stored, None for the first. Raises
    CompositionError for an unknown word or a layer that misses what it requires, WireError
    `bad_record` for a damaged lineage.
    """
    wiring = _Wiring(address, random, options or StackOptions(), lineage)
    words = spec.split(":")
    if words and words[0] in TRANSPORTS:
        words = words[1:]
    wiring.ordered = "SEQUENCER" in words
    makers = wiring.makers()
    for word in words:
        if word not in makers:
            raise CompositionError(f"no layer is called {word}; there are {', '.join(makers)}")
    return Stack([makers[word]() for word in words])
