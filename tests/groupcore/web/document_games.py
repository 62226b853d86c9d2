"""Many simulated clusters in one process, for a test in TypeScript that plays pages.

What comes in and goes out are arrays in MessagePack, each behind its length in four bytes: of
requests [game, verb, ...], and of as many answers. Verbs: `begin` (a dict of `seed`, `delay_s`,
`disks`, `lists`, `objects`, `hosts` and `alone`), `go`, `look` and `trim` as of
`document_world.Office`, `end`; and `spent`: the CPU time of all of them, in seconds. An answer is
[true, value], or [false, what has gone wrong].
"""

from __future__ import annotations

import gc
import sys
import time
import traceback
from typing import Any, BinaryIO

from msgpack import packb, unpackb

from groupcore.shared.testing import Weather
from tests.groupcore.web.document_world import Office

LENGTH_BYTES = 4
COLLECT_AFTER = 50_000
"""New objects before the collector looks for cycles among them, as where pytest simulates."""
Given = Any
Request = list[Any]


class Games:
    """The clusters, by number."""

    def __init__(self) -> None:
        self._offices: dict[int, Office] = {}

    def answer(self, request: Request) -> list[object]:
        """Do what is asked."""
        try:
            return [True, self._do(*request)]
        except Exception:
            return [False, traceback.format_exc()]

    def _do(self, game: int, verb: str, given: Given = None, limit_s: float = 0.0) -> object:
        match verb:
            case "begin":
                weather = Weather(delay_least_s=0.001, delay_most_s=given["delay_s"])
                setting = {key: value for key, value in given.items() if key != "delay_s"}
                office = Office(weather=weather, **setting)
                self._offices[game] = office
            case "go":
                return self._offices[game].go(given, limit_s)
            case "look":
                return self._offices[game].look()
            case "spent":
                return time.process_time()
            case "trim":
                self._offices[game].world.trim()
            case _:
                self._offices.pop(game, None)
        return None


def serve(source: BinaryIO, target: BinaryIO) -> None:
    """Answer batches until there are none."""
    games = Games()
    while head := source.read(LENGTH_BYTES):
        batch = unpackb(source.read(int.from_bytes(head, "big")))
        packed = packb([games.answer(request) for request in batch])
        target.write(len(packed).to_bytes(LENGTH_BYTES, "big") + packed)
        target.flush()


if __name__ == "__main__":
    # What is loaded stays, and games make few cycles: it need not look there each time.
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)
    serve(sys.stdin.buffer, sys.stdout.buffer)
