"""Building blocks: what programs put between a channel and themselves.

Each stands on a `Channel` and offers more than it: callbacks instead of reading
(`PullPushAdapter`), calls of functions (`RpcDispatcher`), a dict that is the same everywhere
(`ReplicatedDict`). One page for each is in docs/blocks.
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
    ValueRefusedError,
)
from groupcore.blocks.listener import Listener
from groupcore.blocks.replicated_dict import Change, Replaced, ReplicatedDict
from groupcore.blocks.rpc import RpcDispatcher
from groupcore.blocks.rpc_calls import Gather, Outcome
from groupcore.blocks.values import Value

__all__ = [
    "Change",
    "FullError",
    "Gather",
    "Listener",
    "ListenerError",
    "NestedCallError",
    "NoAnswerError",
    "NotANumberError",
    "Outcome",
    "OutcomeUnknownError",
    "PullPushAdapter",
    "RegistrationError",
    "RemoteError",
    "Replaced",
    "ReplicatedDict",
    "RequestRefusedError",
    "RpcDispatcher",
    "SuspectedError",
    "Value",
    "ValueRefusedError",
]
