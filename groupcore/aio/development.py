"""The development operator: nodes on loopback have certificates with no set-up.

Its key is made at the first start, in a folder of this user that nobody else can look into, and
each node of the user signs its own certificate with it. So other users of the machine are not of
this user's clusters; programs of the user are, as they could read the node's key as well.
"""

from __future__ import annotations

import logging
import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from groupcore.aio.identity import NodeIdentity, node_key, operator_key, signed_up
from groupcore.aio.private import OTHERS, make_folder
from groupcore.errors import KeyFileError
from groupcore.identity.card import Credentials
from groupcore.identity.signed import public_bytes
from groupcore.identity.trust import Trust

log = logging.getLogger(__name__)

FILE = "development-operator.key"
DAYS = 3_650


def folders() -> list[Path]:
    """Where the key may be, the best place first."""
    found = []
    for name in ("XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        named = os.environ.get(name, "")
        found += [Path(named)] if named.startswith("/") else []
    home = Path("~").expanduser()
    if home.is_absolute():
        found.insert(1 if os.environ.get("XDG_STATE_HOME") else 0, home / ".local" / "state")
    return [*(parent / "groupcore" for parent in found), Path(f"/tmp/groupcore-{os.getuid()}")]


def development_operator() -> Ed25519PrivateKey | None:
    """The key, where there is one or can be; None where no folder is this user's alone."""
    for folder in folders():
        if _is_private(folder) and (folder / FILE).exists():
            return operator_key(folder / FILE)
    for folder in _usable():
        with suppress(KeyFileError):
            return operator_key(folder / FILE)
    return None


def development_identity(
    cluster: str, node_id: str, folder: Path | None = None
) -> NodeIdentity | None:
    """What a node on loopback shows of itself; `folder` keeps its key, else it is of this life.

    None where no operator's key can be kept. KeyFileError where a key is damaged.
    """
    operator = development_operator()
    if operator is None:
        log.warning("no folder is this user's alone: nodes have no certificates")
        return None
    key = Ed25519PrivateKey.generate() if folder is None else node_key(folder)
    certificate = signed_up(operator, public_bytes(key), cluster, node_id, DAYS)
    trust = Trust(cluster, [public_bytes(operator)], time.time)
    return NodeIdentity(Credentials(key, certificate, trust), development=True)


def _usable() -> Iterator[Path]:
    for folder in folders():
        with suppress(OSError):
            make_folder(folder)
        if _is_private(folder):
            yield folder


def _is_private(folder: Path) -> bool:
    """Whether it is a folder, no link, of this user, that nobody else can do anything with."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    is_own = found.st_uid == os.getuid() and not found.st_mode & OTHERS
    return stat.S_ISDIR(found.st_mode) and is_own
