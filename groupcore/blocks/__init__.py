"""Building blocks: what programs put between a channel and themselves.

Each stands on a `Channel` and offers more than it: callbacks instead of reading
(`PullPushAdapter`), calls of functions (`RpcDispatcher`), a dict that is the same everywhere
(`ReplicatedDict`), a state in pieces at the taker's pace (`Fragments`), a SQLite database that is
fetched before joining (`Prefetcher`). One page for each is in docs/blocks.
"""

from groupcore.blocks.adapter import PullPushAdapter
from groupcore.blocks.errors import (
    FullError,
    ListenerError,
    NestedCallError,
    NoAnswerError,
    NotANumberError,
    OutcomeUnknownError,
    RegistrationError,
    RemoteError,
    RequestRefusedError,
    SuspectedError,
    TransferFailedError,
    ValueRefusedError,
)
from groupcore.blocks.fragments import FragmentedState, Fragments
from groupcore.blocks.listener import Listener
from groupcore.blocks.prefetcher import Prefetcher
from groupcore.blocks.replicated_dict import Change, Replaced, ReplicatedDict
from groupcore.blocks.rpc import RpcDispatcher
from groupcore.blocks.rpc_calls import Gather, Outcome
from groupcore.blocks.values import Value

__all__ = [
    "Change",
    "FragmentedState",
    "Fragments",
    "FullError",
    "Gather",
    "Listener",
    "ListenerError",
    "NestedCallError",
    "NoAnswerError",
    "NotANumberError",
    "Outcome",
    "OutcomeUnknownError",
    "Prefetcher",
    "PullPushAdapter",
    "RegistrationError",
    "RemoteError",
    "Replaced",
    "ReplicatedDict",
    "RequestRefusedError",
    "RpcDispatcher",
    "SuspectedError",
    "TransferFailedError",
    "Value",
    "ValueRefusedError",
]
