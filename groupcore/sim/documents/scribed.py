"""The groups of a simulated node, of which the trace has what is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from groupcore.host import ServiceGroups
from groupcore.host.groups import CopyState, Entrance, Receiver
from groupcore.sequencing.names import GroupId, Process
from groupcore.sequencing.options import ServiceOptions
from groupcore.shared.pending import Wait
from groupcore.sim.documents.scribe import Scribe


class ScribedGroups(ServiceGroups):
    """`scribe` is that of the node's present life."""

    def __init__(
        self,
        scribe: Scribe,
        wait: Wait,
        options: ServiceOptions,
        wake_soon: Callable[[], None],
        receiver: Receiver,
        copy_state: CopyState,
    ) -> None:
        super().__init__(wait, options, wake_soon, receiver, copy_state)
        self.scribe = scribe

    def close_process(self, process: Process) -> None:
        """See `ServiceGroups`."""
        super().close_process(process)
        self.scribe.closes(process)

    def _ask(self, how: Entrance, process: Process, group: GroupId, observes: bool) -> int:
        request = super()._ask(how, process, group, observes)
        self.scribe.asks(request, how, process, group)
        return request

    def _ask_to_leave(self, process: Process, group: GroupId) -> int:
        request = super()._ask_to_leave(process, group)
        self.scribe.asks(request, "leave", process, group)
        return request

    def send(self, process: Process, group: GroupId, payloads: Sequence[bytes]) -> int:
        """See `ServiceGroups`."""
        number = super().send(process, group, payloads)
        if number:
            self.scribe.sends(process, group, number - len(payloads) + 1, payloads)
        return number
