"""The host of groups and objects on a node: sans-I/O, the same on asyncio and on virtual time.

`ServiceGroups` is what programs call of a node's sequencing service, `Requests` what they wait for,
and `ObjectHost` the shared objects and sessions of a node. A driver gives them a `Runtime`, has
them told each turn's events, and lets a turn of the node follow where they ask for one.
"""

from groupcore.host.groups import ServiceGroups
from groupcore.host.objects import ObjectHost
from groupcore.host.requests import PlanWatcher, Requests

__all__ = ["ObjectHost", "PlanWatcher", "Requests", "ServiceGroups"]
