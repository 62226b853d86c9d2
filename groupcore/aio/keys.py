"""The keys of one node while it runs: its key file, its ring, its part in a rotation.

It carries out what `key_rotation` says, in the order of the node's events, and looks after what
needs no order: a node that hears others under a key that it does not know reads its file again,
and one that hears nobody tries the keys of its file in turn.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from groupcore.aio.key_file import KeyFile
from groupcore.errors import GroupcoreError, KeyFileError, KeyRotationError, SettingsError
from groupcore.key_rotation import (
    TOPIC,
    Fail,
    KeyRotation,
    Look,
    Retire,
    Say,
    Saying,
    Seal,
    Step,
    Word,
    unpack_word,
)
from groupcore.seal import Keyring, key_epoch, key_print
from groupcore.sequencing.commands import Command, Tell
from groupcore.sequencing.events import MembersChanged, ServiceEvent, Told
from groupcore.view import Address

log = logging.getLogger(__name__)

LINGER_S = 5.0
"""So long a former key is accepted when nobody seals with it any more: what is under way comes."""
LOOK_S = 1.0
"""How often a node looks whether it hears others under a key that it does not know."""


class NodeKeys:
    """One node's; `propose` says a command in the control plane's order.

    `unopened` counts datagrams under unknown keys, `alone` says whether no other node is known.
    """

    def __init__(
        self,
        file: KeyFile | None,
        ring: Keyring,
        propose: Callable[[Command], None],
        unopened: Callable[[], int],
        alone: Callable[[], bool],
    ) -> None:
        self.ring = ring
        self._file = file
        self._propose = propose
        self._unopened = unopened
        self._alone = alone
        self._rotation: KeyRotation | None = None
        self._waiting: set[asyncio.Future[int]] = set()
        self._lingering: asyncio.TimerHandle | None = None
        self._looking: asyncio.TimerHandle | None = None
        self._counted = 0

    def shown(self) -> dict[str, object]:
        """For who operates the node: the key epoch in use, those accepted, whether they change."""
        offered = self._rotation is not None and self._rotation.offered is not None
        return {
            "epoch": self.ring.current,
            "accepted": list(self.ring.epochs),
            "changing": offered or self._lingering is not None,
        }

    def start(self) -> None:
        """Look from time to time, where there is a file to look into."""
        if self._file is not None:
            self._looking = asyncio.get_running_loop().call_later(LOOK_S, self._look)

    def close(self) -> None:
        """The node ends."""
        for handle in (self._looking, self._lingering):
            if handle is not None:
                handle.cancel()
        self._end("this node ends")

    async def rotate(self) -> int:
        """Have all nodes take the newest key of this node's file; its epoch, when that is done.

        KeyRotationError, KeyFileError: the cluster keeps its key, and why.
        """
        if self._file is None:
            raise KeyRotationError("this node has no key file; start all nodes with one")
        newest = self._file.read()[-1]
        epoch = key_epoch(newest)
        if self.ring.epochs == (epoch,):
            raise KeyRotationError(
                "the key file holds only the key that is in use; on every node put a new one on a "
                "line behind it, then ask again"
            )
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            self._say(Word(Saying.OFFER, epoch, key_print(newest)))
            return await future
        finally:
            self._waiting.discard(future)

    def begin(self, me: Address) -> None:
        """A life of the node begins."""
        self._rotation = KeyRotation(me)
        self._end("the cluster has gone on without this node; ask again")

    def on_event(self, event: ServiceEvent) -> None:
        """What is said of keys, and between whom."""
        rotation = self._rotation
        if rotation is None:
            return
        if isinstance(event, MembersChanged):
            self._carry_out(rotation.install(event.members, self._half_way()))
        elif isinstance(event, Told) and event.topic == TOPIC:
            word = unpack_word(event.body)
            if word is not None:
                self._carry_out(rotation.hear(event.by, word))

    def _half_way(self) -> tuple[int, bytes] | None:
        """The key in use, if it is the newest and a former one is accepted beside it."""
        epochs, key = self.ring.epochs, self.ring.key(self.ring.current)
        if key is None or len(epochs) == 1 or epochs[-1] != self.ring.current:
            return None
        return self.ring.current, key_print(key)

    # --- steps ----------------------------------------------------------------------------------

    def _carry_out(self, steps: list[Step]) -> None:
        for step in steps:
            match step:
                case Say(word):
                    self._say(word)
                case Look(epoch, print_):
                    self._find(epoch, print_)
                case Seal(epoch):
                    self.ring.use(epoch)
                case Retire(epoch):
                    self._linger(epoch)
                case Fail(reason):
                    log.error("the cluster keeps its key: %s", reason)
                    self._end(reason)

    def _say(self, word: Word) -> None:
        self._propose(Tell(TOPIC, word.packed()))

    def _find(self, epoch: int, print_: bytes) -> None:
        """Accept the key that is offered, if the file or the ring has it, and say so."""
        if self._lingering is not None:  # the former keys may be needed again
            self._lingering.cancel()
            self._lingering = None
        reason = self._lacks(epoch, print_)
        self._say(Word(Saying.LACK if reason else Saying.HAVE, epoch, print_, reason))

    def _lacks(self, epoch: int, print_: bytes) -> str:
        """Why this node has no such key; nothing when it has."""
        try:
            self._read()
        except (KeyFileError, SettingsError) as error:
            return str(error)
        key = self.ring.key(epoch)
        if key is None or key_print(key) != print_:
            return "its key file does not hold the new key; put it on a line behind the present one"
        return ""

    def _read(self) -> None:
        if self._file is not None:
            for key in self._file.read():
                self.ring.add(key_epoch(key), key)

    def _linger(self, epoch: int) -> None:
        loop = asyncio.get_running_loop()
        self._lingering = loop.call_later(LINGER_S, self._retire, epoch)

    def _retire(self, epoch: int) -> None:
        """Let the former keys go, here and in the file."""
        self._lingering = None
        for former in self.ring.epochs:
            if former != epoch:
                self.ring.remove(former)
        key = self.ring.key(epoch)
        if self._file is not None and key is not None:
            try:
                if self._file.read() != (key,):
                    self._file.keep(key)
            except (KeyFileError, OSError) as error:
                log.warning(
                    "the key is changed, but %s still holds a former one (%s): take it out, or "
                    "this node begins with it at its next start",
                    self._file.path,
                    error,
                )
        log.info("the cluster's key is that of key epoch %d", epoch)
        for future in self._waiting:
            if not future.done():
                future.set_result(epoch)

    def _end(self, reason: str) -> None:
        for future in self._waiting:
            if not future.done():
                future.set_exception(KeyRotationError(reason))

    # --- without an order -----------------------------------------------------------------------

    def _look(self) -> None:
        """Others seal with a key that this node does not know, or nobody answers."""
        self._looking = asyncio.get_running_loop().call_later(LOOK_S, self._look)
        unopened, self._counted = self._unopened() - self._counted, self._unopened()
        if unopened > 0:
            try:
                self._read()
            except GroupcoreError as error:
                log.warning("others use another key, and this node's cannot be read: %s", error)
        if self._alone() and len(self.ring.epochs) > 1:
            self.ring.use_next()
