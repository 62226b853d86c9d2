"""The journal: this node's durable copy of the order, written by a group-commit thread.

When the disk is full the writer keeps what it has and tries again; any other error ends it, see
`groupcore.aio.commits`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from groupcore.aio import commits
from groupcore.aio.commits import GroupCommit
from server.errors import IdInUseProblem, SettingsProblem
from server.store import Record, Recovered, Store, StoredDocument, open_store


class Journal:
    """This node's durable copy of the order. Open it, read `recovered`, then `start` it.

    `on_synced(epoch, position)` is called on the loop after each commit that moved the end of the
    log; `on_trouble(kind, detail)` with kind `full`, `recovered` or `failed`.
    """

    def __init__(self, folder: Path, cluster: str, node_id: str) -> None:
        self._lock = lock_folder(folder)
        try:
            self._store = open_store(folder, cluster, node_id)
            self.recovered: Recovered = self._store.recover()
        except BaseException:
            os.close(self._lock)
            raise
        self._writer = GroupCommit(self._store, "journal")
        self._replaced = False
        self._last = self._store.chain
        self._on_synced: Callable[[int, int], None] = lambda epoch, position: None

    @property
    def queued_bytes(self) -> int:
        """What waits to be written."""
        return self._writer.queued_bytes

    @property
    def commits(self) -> int:
        """Groups that are on disk."""
        return self._writer.commits

    @property
    def failed(self) -> bool:
        """Whether nothing is written any more."""
        return self._writer.failed

    @property
    def full(self) -> bool:
        """Whether there is no room on the disk."""
        return self._writer.full

    def start(
        self,
        on_synced: Callable[[int, int], None],
        on_trouble: Callable[[str, str], None],
    ) -> None:
        """Start the writer; called on the loop that the callbacks shall run on."""
        self._on_synced = on_synced
        self._last = self._store.chain
        self._writer.start(on_trouble, self._after)

    async def close(self) -> None:
        """Write what is queued, then close the files."""
        await self._writer.close()
        os.close(self._lock)

    # --- commands: none of these waits ----------------------------------------------------------

    def append(self, records: list[Record]) -> None:
        """Add ordered operations at the end of the log."""
        size = sum(len(record.payload) for record in records)
        self._writer.put(lambda store: store.append(records), size)

    def put_document(self, stored: StoredDocument) -> None:
        """Store a document's state."""
        self._writer.put(lambda store: store.put_document(stored), len(stored.state))

    def checkpoint(self, position: int, prune_to: int) -> None:
        """Every document is stored as of `position`; records up to `prune_to` may go."""
        self._writer.put(lambda store: store.set_checkpoint(position, prune_to))

    def put_epoch(self, epoch: int, floor: int) -> None:
        """A new epoch begins behind `floor`."""
        self._writer.put(lambda store: store.put_epoch(epoch, floor))

    def replace(self, state: Recovered) -> None:
        """Take a whole state over, atomically, in place of everything about the order."""

        def run(store: Store) -> None:
            # A crash behind this line must not find a head that the new branch does not reach.
            store.write_head(0, 0, bytes(16))
            store.replace(state)
            self._replaced = True

        self._writer.put(run)

    async def read(self, after: int, count: int) -> list[tuple[Record, bytes]]:
        """Records behind a position with their chains; waits for all queued before."""
        return await self._writer.ask(lambda store: store.read_log(after, count))

    async def chain_at(self, position: int) -> bytes | None:
        """The chain at a position, None when the log no longer holds it."""
        return await self._writer.ask(lambda store: store.chain_at(position))

    async def flushed(self) -> tuple[int, int, bytes]:
        """Wait until everything queued is on disk; epoch, position and chain there."""
        return await self._writer.ask(lambda store: (store.epoch, store.position, store.chain))

    # --- the channel's lineage port: called from worker threads, or before the writer runs -------

    durable = True
    """What the channel stores here outlives the process."""

    def begin(self, incarnation_least: int) -> tuple[int, bytes | None]:
        """Begin a life of the channel: an incarnation above all former ones, the last record."""

        def run(store: Store) -> tuple[int, bytes | None]:
            former = int.from_bytes(store.get_meta("incarnation") or b"", "big")
            incarnation = max(incarnation_least, former + 1)
            store.set_meta("incarnation", incarnation.to_bytes(8, "big"))
            return incarnation, store.get_lineage()

        if self._writer.runs:
            return self._writer.wait_for(run)
        self._store.begin()
        result = run(self._store)
        self._store.commit()
        return result

    def store(self, record: bytes) -> None:
        """Keep the channel's record durably; OSError when it could not be kept."""
        self._writer.wait_for(lambda store: store.put_lineage(record))

    def _after(self) -> Callable[[], None] | None:
        """In the writer's thread, behind a commit: the loop hears when the log's end has moved."""
        moved = self._replaced or self._store.chain != self._last
        self._last, self._replaced = self._store.chain, False
        if not moved:
            return None
        place = (self._store.epoch, self._store.position)
        return lambda: self._on_synced(*place)


def lock_folder(folder: Path) -> int:
    """Take the data folder for this process; IdInUseProblem when another one has it."""
    try:
        return commits.lock_folder(folder)
    except BlockingIOError:
        raise IdInUseProblem(
            f"another process uses the data folder {folder}; stop it, or choose another --data"
        ) from None
    except OSError as error:
        raise SettingsProblem(f"--data {folder} cannot be used: {error}") from None
