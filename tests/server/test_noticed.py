"""What happens again and again: one entry at once, one with the count when the window is over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from server.errors import BadMessageError
from server.noticed import DOCUMENT, KINDS, OTHERS, READ, REFUSED, Noticed


class World:
    """A clock by hand, and the entries that were written."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.is_apart = False
        self.entries: list[tuple[str, str, str, str]] = []
        self.noticed = Noticed(self._write, lambda: self.now_s)

    async def _write(self, by: str, what: str, about: str, origin: str) -> None:
        if self.is_apart:
            raise BadMessageError("not_primary", "apart")
        self.entries.append((by, what, about, origin))

    async def after(self, time_s: float) -> None:
        """So much later, when all is written."""
        await asyncio.sleep(0)
        self.now_s += time_s
        self.noticed.look()
        for _ in range(3):
            await asyncio.sleep(0)


def played(play: Callable[[World], Awaitable[None]]) -> None:
    async def main() -> None:
        await play(World())

    asyncio.run(main())


def test_a_console_that_polls_is_one_entry_a_window_with_its_count() -> None:
    async def play(world: World) -> None:
        for _ in range(300):
            world.noticed.note(READ, "user:1", "", "127.0.0.1")
            await world.after(4.0)
        assert world.entries[:2] == [
            ("user:1", READ, "", "127.0.0.1"),
            ("user:1", READ, "times=149", "127.0.0.1"),
        ]
        assert len(world.entries) == 1 + 1200 // 600
        await world.after(600.0)
        counts = [int(about.partition("=")[2] or 1) for _, _, about, _ in world.entries]
        assert sum(counts) == 300

    played(play)


def test_a_flood_of_refusals_is_few_entries_and_none_is_uncounted() -> None:
    async def play(world: World) -> None:
        for number in range(5_000):
            origin = f"10.0.{number // 250 % 20}.{number % 250}"
            world.noticed.note(REFUSED, "", f"GET /admin/{number % 7}", origin)
        await world.after(0.0)
        assert len(world.entries) == KINDS[REFUSED].most + 1
        await world.after(60.0)
        assert len(world.entries) <= 2 * (KINDS[REFUSED].most + 1)
        counts = [int(about.partition("times=")[2] or 1) for _, _, about, _ in world.entries]
        assert sum(counts) == 5_000
        assert any(about.startswith(OTHERS) for _, _, about, _ in world.entries)

    played(play)


def test_refusals_elsewhere_leave_exports_their_room() -> None:
    async def play(world: World) -> None:
        for number in range(100):
            world.noticed.note(REFUSED, f"user:{number}", "GET /admin/log", "127.0.0.1")
        world.noticed.note(DOCUMENT, "user:1", "doc", "127.0.0.1")
        await world.after(0.0)
        assert world.entries[-1] == ("user:1", DOCUMENT, "doc", "127.0.0.1")

    played(play)


def test_what_the_cluster_does_not_take_is_counted_on() -> None:
    async def play(world: World) -> None:
        world.is_apart = True
        await world.noticed.note_first(DOCUMENT, "user:1", "doc", "127.0.0.1")
        world.noticed.note(DOCUMENT, "user:1", "doc", "127.0.0.1")
        await world.after(5.0)
        assert not world.entries
        world.is_apart = False
        await world.after(5.0)
        assert world.entries == [("user:1", DOCUMENT, "doc times=2", "127.0.0.1")]

    played(play)


def test_windows_that_are_over_are_forgotten_and_the_rest_is_written_at_the_end() -> None:
    async def play(world: World) -> None:
        world.noticed.note(READ, "user:1", "", "127.0.0.1")
        await world.after(600.0)
        world.noticed.note(READ, "user:1", "", "127.0.0.1")
        await world.after(1.0)
        assert [about for _, _, about, _ in world.entries] == ["", ""]
        world.noticed.note(READ, "user:1", "", "127.0.0.1")
        await world.noticed.close()
        assert [about for _, _, about, _ in world.entries] == ["", "", ""]

    played(play)
