"""The library's errors: one base class, one class a kind of mistake.

What comes from outside and is wrong (a forged datagram, a header of another version) raises none
of these out of the core: it is dropped and counted by reason. These are for callers.
"""


class GroupcoreError(Exception):
    """Base of every error that this library raises on purpose."""


class CompositionError(GroupcoreError):
    """A stack cannot be composed: a layer misses an event that no other layer provides."""


class WireError(GroupcoreError):
    """Bytes from outside are not what the protocol allows; `reason` is the drop counter's name."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class ChannelClosedError(GroupcoreError):
    """The channel is not connected (any more); connect it before sending."""


class NotPrimaryError(GroupcoreError):
    """This member is outside the primary view; ordered sends wait until it is back."""


class NotAMemberError(GroupcoreError):
    """The destination is not in the present view; what is sent there would not arrive."""


class IdInUseError(GroupcoreError):
    """Another live member has this node id; give this node an id of its own."""


class MessageTooLargeError(GroupcoreError):
    """The message is larger than the channel's limit; split it or raise the limit."""


class BadArgumentError(GroupcoreError):
    """An argument is not what the call takes; nothing is done. The text says what to give."""


class SettingsError(GroupcoreError):
    """A setting is wrong; the text names the setting and the remedy."""


class KeyFileError(GroupcoreError):
    """The cluster key cannot be read or is not a key."""


class KeyRotationError(GroupcoreError):
    """The cluster keeps its key; the text names the node, the reason and the remedy."""


class TransferBusyError(GroupcoreError):
    """A member takes one state at a time, and gives one away at a time; wait for the former."""


class GroupRefusedError(GroupcoreError):
    """A request about a group changed nothing; `code` is one of `sequencing.events.Refused`."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"{detail} ({code})")
        self.code = code


class PlanError(GroupcoreError):
    """A placement plan cannot be carried out; nothing of it has been. `item` is what is wrong.

    `code`: `bad_plan` for a text that is no plan; for one of its groups `unknown_group`, `twice`,
    `unknown_node`, `draining` or `breaks_s2`.
    """

    def __init__(self, item: str, problem: str, remedy: str, code: str = "bad_plan") -> None:
        super().__init__(f"{item}: {problem}; {remedy}")
        self.code = code
        self.item = item
        self.problem = problem
        self.remedy = remedy
