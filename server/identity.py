"""The identity of this node, from its settings: an operator's certificate, or one of its own."""

from __future__ import annotations

import logging

from groupcore.aio.development import development_identity
from groupcore.aio.identity import NodeIdentity, node_identity
from groupcore.aio.private import make_folder
from groupcore.errors import KeyFileError
from server.errors import KeyProblem, ServerError
from server.settings import Settings

logger = logging.getLogger("server")


def make_identity(settings: Settings) -> NodeIdentity | None:
    """What the node shows of itself; KeyProblem names the remedy.

    With `--operator-key` it needs a certificate of that operator; without a key of any kind it is
    on loopback, and has one of its user's development operator. None: the cluster key alone.
    """
    try:
        make_folder(settings.data)
    except OSError as error:
        raise ServerError(f"--data {settings.data} cannot be made: {error.strerror}") from None
    try:
        if settings.operator_key is not None:
            return node_identity(
                settings.data, settings.operator_key, settings.cluster, settings.node_id
            )
        if settings.key_file is None:
            return development_identity(settings.cluster, settings.node_id)
    except KeyFileError as error:
        raise KeyProblem(f"--operator-key: {error}") from None
    logger.warning(
        "nodes are told from others by the cluster key alone: who has it can speak for each of "
        "them; --operator-key gives each a certificate of its own"
    )
    return None
