"""Groupcore: group communication with total order, and replicated objects on top of it.

The protocols are plain state machines without I/O (`groupcore.layers`, `groupcore.stack`); the
asyncio shell is `groupcore.aio`, and the same objects run on virtual time in `groupcore.sim`.
"""

from groupcore.errors import GroupcoreError

__all__ = ["GroupcoreError", "__version__"]

__version__ = "0.1.0"
