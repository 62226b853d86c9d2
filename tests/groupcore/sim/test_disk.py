"""The simulated disk: what an fsync makes safe, what a crash leaves."""

from __future__ import annotations

from random import Random

from groupcore.sim.clock import SECOND, Clock
from groupcore.sim.disk import HEALTHY, Append, Disk, Replace
from groupcore.sim.trace import Mid


def entry(number: int) -> tuple[Mid, int]:
    return Mid("a", 1, number), number


class Machine:
    """A disk, its clock, and which fsyncs have ended."""

    def __init__(self, seed: int = 1) -> None:
        self.clock = Clock(Random(1))
        self.disk = Disk(self.clock, Random(seed), HEALTHY)
        self.done: list[str] = []

    def append(self, *numbers: int) -> None:
        """Write messages."""
        for number in numbers:
            self.disk.write(Append(1, number, entry(number)))

    def wait(self) -> None:
        """Let every fsync end."""
        self.clock.run_until(self.clock.now_ns + SECOND)


def test_what_was_synced_survives_a_crash() -> None:
    machine = Machine()
    machine.append(1, 2)
    machine.disk.sync(lambda: machine.done.append("synced"))
    machine.wait()
    machine.disk.crash()
    journal = machine.disk.start()
    assert machine.done == ["synced"]
    assert (journal.epoch, journal.position, journal.entries) == (1, 2, [entry(1), entry(2)])


def test_a_crash_keeps_a_prefix_of_what_was_not_synced() -> None:
    lengths = []
    for seed in range(20):
        machine = Machine(seed)
        machine.append(1, 2, 3)
        machine.disk.crash()
        journal = machine.disk.start()
        assert journal.entries == [entry(number) for number in range(1, journal.position + 1)]
        lengths.append(journal.position)
    assert sorted(set(lengths)) == [0, 1, 2, 3]


def test_what_is_written_after_a_sync_began_is_not_safe_by_it() -> None:
    machine = Machine(seed=3)
    machine.append(1)
    machine.disk.sync(lambda: machine.append(2))
    machine.wait()
    machine.disk.crash()
    assert machine.disk.start().position in (1, 2)


def test_an_fsync_that_a_crash_interrupts_never_ends() -> None:
    machine = Machine()
    machine.append(1)
    machine.disk.sync(lambda: machine.done.append("synced"))
    machine.disk.store(b"record", lambda: machine.done.append("stored"))
    machine.disk.crash(keep_all=True)
    machine.wait()
    assert machine.done == []
    assert machine.disk.start().position == 1
    assert machine.disk.lineage == b"record"


def test_the_newest_stored_record_replaces_the_one_before() -> None:
    machine = Machine()
    machine.disk.store(b"one", lambda: machine.done.append("one"))
    machine.disk.store(b"two", lambda: machine.done.append("two"))
    machine.wait()
    assert machine.done == ["one", "two"]
    assert machine.disk.lineage == b"two"


def test_replacing_the_state_drops_what_was_there() -> None:
    machine = Machine()
    machine.append(1, 2, 3)
    machine.disk.write(Replace(2, 1, (entry(9),)))
    machine.disk.crash(keep_all=True)
    journal = machine.disk.start()
    assert (journal.epoch, journal.position, journal.entries) == (2, 1, [entry(9)])


def test_every_life_has_a_larger_incarnation() -> None:
    machine = Machine()
    machine.disk.start()
    first = machine.disk.incarnation
    machine.disk.crash()
    machine.disk.start()
    assert machine.disk.incarnation > first


def test_on_a_full_disk_nothing_becomes_safe_until_there_is_room_again() -> None:
    machine = Machine()
    machine.disk.full = 1
    machine.append(1)
    machine.disk.sync(lambda: machine.done.append("synced"))
    machine.disk.store(b"one", lambda: machine.done.append("stored"))
    machine.wait()
    assert (machine.done, machine.disk.lineage) == ([], None)
    machine.disk.full = 0
    machine.wait()
    machine.wait()
    assert (sorted(machine.done), machine.disk.lineage) == (["stored", "synced"], b"one")


def test_what_an_fsync_failed_for_is_gone_and_the_owner_is_told() -> None:
    machine = Machine()
    machine.disk.on_error = lambda: machine.done.append("error")
    machine.disk.errors = 1
    machine.append(1)
    machine.disk.sync(lambda: machine.done.append("synced"))
    machine.wait()
    assert machine.done == ["error"]
    machine.disk.crash(keep_all=True)
    assert machine.disk.start().position == 0


def test_a_record_that_could_not_be_stored_is_written_anew_and_in_order() -> None:
    machine = Machine()
    machine.disk.errors = 1
    machine.disk.store(b"one", lambda: machine.done.append("one"))
    machine.disk.store(b"two", lambda: machine.done.append("two"))
    for _ in range(4):
        machine.wait()
    assert (machine.done, machine.disk.lineage) == (["one", "two"], b"two")


def test_a_slow_disk_takes_longer_and_healing_ends_the_waiting() -> None:
    machine = Machine()
    machine.disk.slow_ns.append(30 * SECOND)
    machine.disk.sync(lambda: machine.done.append("synced"))
    machine.wait()
    assert machine.done == []
    machine.disk.heal()
    machine.wait()
    assert machine.done == ["synced"]


def test_a_wiped_disk_knows_nothing_any_more() -> None:
    machine = Machine()
    machine.append(1)
    machine.disk.sync(lambda: None)
    machine.disk.store(b"record", lambda: None)
    machine.wait()
    machine.disk.start()
    machine.disk.wipe()
    assert (machine.disk.lineage, machine.disk.incarnation) == (None, 0)
    assert machine.disk.start().position == 0
