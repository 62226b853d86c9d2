"""What the processes of a node ask of it: to be in groups, and to send there.

An argument that is none raises BadArgumentError, and nothing has been done. Of `send` and
`send_volatile` it is known at once whether they can be done: they raise GroupRefusedError, so that
who has called knows which of its calls it was. What somebody else has to answer has a number,
which `Joined` or `Refused` carries.
"""

from __future__ import annotations

from collections.abc import Sequence

from groupcore.errors import GroupRefusedError
from groupcore.sequencing.arguments import (
    check_flag,
    check_group,
    check_payload,
    check_payloads,
    check_process,
)
from groupcore.sequencing.expected import Expected
from groupcore.sequencing.idle import Idle
from groupcore.sequencing.joining import Joining
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.plane import Plane
from groupcore.sequencing.sections import Local
from groupcore.sequencing.sender import Sender
from groupcore.sequencing.volatile import Volatiles


class ProcessCalls:
    """A part of the service."""

    plane: Plane
    idle: Idle
    sender: Sender
    joining: Joining
    expected: Expected
    volatiles: Volatiles
    _processes: int

    def open_process(self) -> Process:
        """A new process of this node."""
        self._processes += 1
        process = Process(self.plane.me, self._processes)
        self.sender.locals[process] = Local(process)
        return process

    def close_process(self, process: Process, now: float) -> None:
        """The process ends: it leaves all its groups."""
        self.idle.end()
        del now
        check_process(process)
        for group in self.joining.groups_of(process):
            self.joining.leave(self.plane.request(), process, group)
        self.expected.close(process)
        self.joining.close(process)
        self.sender.close(process)

    def join(self, process: Process, group: GroupId, now: float, *, observes: bool = False) -> int:
        """JOIN-GROUP; `Joined` or `Refused` answers.

        A group that this node has not heard of is waited for, for `catch_up_s`. `observes`: the
        process gives up the order across `strict` groups, and so fuses none (decision 0060).
        """
        self.idle.end()
        del now
        check_process(process)
        check_group(group)
        check_flag(observes, "observes")
        request = self.plane.request()
        self.expected.join(request, process, group, observes)
        return request

    def attend(self, process: Process, group: GroupId, now: float) -> int:
        """Be given a group that a process of this node is a member of; `Joined` or `Refused`.

        No number is taken for it, and no other node hears of it (decision 184). `leave` ends it.
        Refused: `not_a_member` where none of this node is, `bad_order` for a strict group.
        """
        self.idle.end()
        del now
        check_process(process)
        check_group(group)
        request = self.plane.request()
        self.joining.attend(request, process, group)
        return request

    def leave(self, process: Process, group: GroupId, now: float) -> int:
        """LEAVE-GROUP; what is delivered from now on is not the process's."""
        self.idle.end()
        del now
        check_process(process)
        check_group(group)
        request = self.plane.request()
        self.expected.leave(request, process, group)
        return request

    def send(self, process: Process, group: GroupId, payloads: Sequence[bytes], now: float) -> int:
        """DO-MULTICAST; the process's own number of the last message in this group.

        It need not be a member. 0 when there is no message. GroupRefusedError, and nothing of it
        is sent: `unknown_group`, `left`, `too_large`.
        """
        self.idle.end()
        del now
        limit = self.plane.options.message_bytes_max
        payloads = check_payloads(payloads)
        local = self._may_send(process, group)
        size = sum(map(len, payloads))
        if size > limit and max(map(len, payloads)) > limit:
            raise self._refusal("too_large", f"a message is above {limit} bytes; split it")
        return self.sender.send(local, group, payloads, size) if payloads else 0

    def send_volatile(self, process: Process, group: GroupId, payload: bytes, now: float) -> None:
        """A message that only counts until the next one; may be lost.

        GroupRefusedError as with `send`.
        """
        self.idle.end()
        del now
        check_payload(payload)
        self._may_send(process, group)
        limit = self.plane.options.volatile_bytes_max
        if len(payload) > limit:
            raise self._refusal("too_large", f"a volatile message is above {limit} bytes")
        self.volatiles.send(process, group, payload)

    def _may_send(self, process: Process, group: GroupId) -> Local:
        check_process(process)
        check_group(group)
        if group not in self.plane.records:
            raise self._refusal("unknown_group", f"there is no group {group}; create it first")
        local = self.sender.open_local(process)
        if local is None:
            raise self._refusal("left", f"{process} is closed; open a process first")
        return local

    def _refusal(self, code: str, detail: str) -> GroupRefusedError:
        self.plane.counters[f"refused.{code}"] += 1
        return GroupRefusedError(code, detail)
