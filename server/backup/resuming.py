"""A backup outlasts what the cluster does meanwhile: views, an exclusion, a node that comes back.

Each part of a backup, the first turn, a document, a picture, is asked for by itself and changes
nothing, so it is asked for again when the cluster has gone on without this node meanwhile; what was
packed before stays packed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from groupcore.errors import ChannelClosedError
from groupcore.shared import ClosedError, OutcomeUnknownError, RefusedError
from server.errors import BadMessageError

logger = logging.getLogger("server")

T = TypeVar("T")

PATIENCE_S: Final = 300.0
"""So long a part may fail again and again before the backup fails."""
AGAIN_S: Final = 0.5
"""Between two attempts at a part."""
ATTEMPT_S: Final = 60.0
"""The longest attempt: what waits for a view that has gone ends with it."""
PASSING: Final = ("not_ready", "not_primary", "busy")
"""Codes of refusals that the next view ends."""


async def outlasting(what: str, attempt: Callable[[], Awaitable[T]]) -> T:
    """What the attempt gives, made again as long as the cluster goes on without this node.

    Raises what the attempt raised last, when that has gone on for PATIENCE_S; anything that no
    view change explains is raised at once.
    """
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            async with asyncio.timeout(ATTEMPT_S):
                return await attempt()
        except (ChannelClosedError, ClosedError, OutcomeUnknownError, TimeoutError) as error:
            failure: Exception = error
        except RefusedError as error:
            if error.code != "left":
                raise
            failure = error
        except BadMessageError as error:
            if error.code not in PASSING:
                raise
            failure = error
        if time.monotonic() > until:
            raise BadMessageError(
                "not_ready", f"the backup has waited too long for {what}: {failure}"
            ) from failure
        logger.info("the backup takes up %s again: %s", what, repr(failure))
        await asyncio.sleep(AGAIN_S)
