"""What a turn of the service has caused, for its driver to carry out."""

from __future__ import annotations

from dataclasses import dataclass

from groupcore.batch import Batch
from groupcore.events import Event
from groupcore.sequencing.events import ServiceEvent
from groupcore.sequencing.log import LogPart


@dataclass(slots=True)
class ServiceOutput:
    """What a turn has caused: packets, ordered messages for the control plane, events.

    `control`: what the control plane's stack is to be told. `log`: what the driver is to store,
    before any record of membership of the same turn or a later one; when it is stored the driver
    says so (`Service.stored`).
    """

    sends: list[Batch]
    commands: list[bytes]
    events: list[ServiceEvent]
    control: list[Event]
    log: list[LogPart]
