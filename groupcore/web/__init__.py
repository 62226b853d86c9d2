"""Shared objects for browsers: `SharedObjects(node, types=[...])` is an application to mount.

It needs Starlette, which `pip install "groupcore[web]"` brings. docs/shared/web.md tells how to use
it, docs/protocol-objects.md what goes over the wire.
"""

from groupcore.gateway.errors import BadRequestError, MissingPackageError
from groupcore.gateway.interest import Interest
from groupcore.gateway.settings import Badge
from groupcore.web.application import SharedObjects

__all__ = ["BadRequestError", "Badge", "Interest", "MissingPackageError", "SharedObjects"]
