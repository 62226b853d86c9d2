"""Locks and leases: fair, told who has it, and never held by the dead."""

from __future__ import annotations

import pytest

from groupcore.sequencing.names import Process
from groupcore.shared import ClosedError
from groupcore.shared.testing import BAD_WEATHER, Weather, World
from groupcore.shared.types import HeldError, Lease, Lock, NotHeldError

WEATHERS = pytest.mark.parametrize("weather", [Weather(), BAD_WEATHER], ids=["good", "bad"])


def holder_of(lease: Lease) -> Process | None:
    return lease.holder


@WEATHERS
@pytest.mark.parametrize("seed", range(6))
def test_one_holds_the_lock_at_a_time_in_the_order_of_the_requests(
    seed: int, weather: Weather
) -> None:
    async def main(world: World) -> None:
        inside: list[str] = []
        tokens: list[int] = []

        async def work(name: str) -> None:
            lock = await world.node(name).open(Lock, "lock")
            for _ in range(4):
                async with lock.hold() as ticket:
                    inside.append(name)
                    assert len(inside) == 1
                    tokens.append(ticket.token)
                    await world.elapse(world.draw.random() / 10)
                    inside.remove(name)

        workers = [world.spawn(work(name)) for name in "abcd"]
        for worker in workers:
            await worker
        assert tokens == sorted(tokens) == list(range(1, 17))
        await world.settle()
        world.assert_equal("lock")

    World(seed, weather).run(main)


def test_the_loser_is_told_who_has_the_lock() -> None:
    async def main(world: World) -> None:
        a = await world.node("a").open(Lock, "lock")
        b = await world.node("b").open(Lock, "lock")
        ticket = await a.try_acquire()
        with pytest.raises(HeldError) as refused:
            await b.try_acquire()
        assert refused.value.holder == a.process
        waiting = world.spawn(b.acquire())
        await world.elapse(1)
        assert (a.holder, a.waiting, waiting.done) == (a.process, [b.process], False)
        await a.release(ticket.token)
        assert (await waiting).process == b.process
        with pytest.raises(NotHeldError):
            await a.release(ticket.token)

    World(1).run(main)


@WEATHERS
@pytest.mark.parametrize("seed", range(4))
def test_the_lock_of_a_process_that_departs_goes_to_the_next(seed: int, weather: Weather) -> None:
    async def main(world: World) -> None:
        locks = {name: await world.node(name).open(Lock, "lock") for name in "abcd"}
        await locks["a"].acquire()
        await locks["b"].request()
        await locks["c"].request()
        last = world.spawn(locks["d"].acquire())
        await world.elapse(5)
        await locks["b"].close()
        world.crash("a")
        await world.elapse(5)
        assert locks["d"].holder == locks["c"].process
        world.crash("c")
        assert (await last).process == locks["d"].process
        assert locks["d"].waiting == []

    World(seed, weather).run(main)


def test_who_closes_the_lock_while_waiting_is_told() -> None:
    async def main(world: World) -> None:
        a = await world.node("a").open(Lock, "lock")
        b = await world.node("b").open(Lock, "lock")
        await a.acquire()
        waiting = world.spawn(b.acquire())
        await world.elapse(1)
        await b.close()
        with pytest.raises(ClosedError):
            await waiting
        await world.settle()
        assert a.waiting == []

    World(1).run(main)


def test_a_ticket_that_somebody_gives_back_is_told_to_who_waits() -> None:
    async def main(world: World) -> None:
        a = await world.node("a").open(Lock, "lock")
        b = await world.node("b").open(Lock, "lock")
        await a.acquire()
        waiting = world.spawn(b.acquire())
        await world.elapse(1)
        await a.release(2)
        with pytest.raises(NotHeldError, match="taken back"):
            await waiting

    World(1).run(main)


def test_a_lease_is_taken_renewed_and_given_back() -> None:
    async def main(world: World) -> None:
        a = await world.node("a").open(Lease, "lease")
        b = await world.node("b").open(Lease, "lease")
        grant = await a.take(10)
        with pytest.raises(HeldError) as refused:
            await b.take(10)
        assert (refused.value.holder, refused.value.until_s) == (a.process, grant.until_s)
        await world.elapse(6)
        longer = await a.renew(grant.token, 10)
        again = await a.take(10)
        assert longer.until_s >= grant.until_s + 5
        assert again.token == longer.token == grant.token
        with pytest.raises(NotHeldError):
            await b.release(grant.token)
        await a.release(grant.token)
        assert (await b.take(10)).token == grant.token + 1
        for seconds in (0, -1, 1e9):
            with pytest.raises(ValueError, match="a lease is for"):
                await b.take(seconds)

    World(1).run(main)


def test_a_lease_ends_by_itself_whatever_the_clocks_of_the_nodes_show() -> None:
    async def main(world: World) -> None:
        a = await world.node("a").open(Lease, "lease")
        b = await world.node("b").open(Lease, "lease")
        grant = await a.take(10)
        await world.elapse(9)
        with pytest.raises(HeldError):
            await b.take(10)
        assert b.holder == a.process
        await world.elapse(1.1)
        assert b.grant == grant
        assert holder_of(b) is None
        taken = await b.take(10)
        assert taken.token == grant.token + 1
        with pytest.raises(NotHeldError):
            await a.renew(grant.token, 10)

    for seed in range(4):
        World(seed, Weather(clock_skew_s=300)).run(main)


def test_a_lease_that_ended_and_nobody_took_can_be_renewed() -> None:
    async def main(world: World) -> None:
        a = await world.node("a").open(Lease, "lease")
        grant = await a.take(1)
        await world.elapse(5)
        assert (await a.renew(grant.token, 1)).token == grant.token

    World(1).run(main)


def test_the_lease_of_a_process_that_departs_is_free() -> None:
    async def main(world: World) -> None:
        a = await world.node("a").open(Lease, "lease")
        b = await world.node("b").open(Lease, "lease")
        await a.take(10_000)
        world.crash("a")
        await world.elapse(2)
        assert (await b.take(1)).process == b.process

    World(1).run(main)
