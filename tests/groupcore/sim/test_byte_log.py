"""The simulated log as bytes: what is found out, what is dropped, and the judge of it (26)."""

from __future__ import annotations

from random import Random

import pytest

from groupcore.sequencing.log import LogPart
from groupcore.sim.byte_log import SPOILS, ByteLog, DamagedLog
from groupcore.sim.checkers.log_integrity import LogIntegrity
from groupcore.sim.clock import Clock
from groupcore.sim.disk import HEALTHY, Disk
from groupcore.sim.trace import DISK_LOST, Lived, Record, Trace
from groupcore.sim.trace_streams import LogRecovered

WORDS = (b"one", b"two", b"three", b"four")


def log_of(*words: bytes) -> ByteLog:
    """A log with a commit for each word."""
    log = ByteLog()
    for mark, word in enumerate(words, 1):
        log.append([LogPart(mark, word)])
    return log


def test_a_log_is_read_as_it_was_written() -> None:
    assert log_of(*WORDS).read() == list(WORDS)


@pytest.mark.parametrize("how", SPOILS)
@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_to_what_was_stored_is_found_out(how: str, seed: int) -> None:
    log = log_of(*WORDS)
    assert log.spoil(how, Random(seed))
    with pytest.raises(DamagedLog):
        log.read()


def test_any_bit_that_turns_is_found_out() -> None:
    """Those of the length of the last part, too, behind which nothing is that could be missing."""
    for bit in range(8 * len(log_of(*WORDS).data)):
        log = log_of(*WORDS)
        log.data[bit // 8] ^= 1 << bit % 8
        with pytest.raises(DamagedLog):
            log.read()


@pytest.mark.parametrize("seed", range(20))
def test_a_torn_tail_is_dropped_and_written_over(seed: int) -> None:
    log = log_of(*WORDS)
    log.tear([LogPart(9, b"torn by the power")], Random(seed))
    found = log.read()
    assert found in (list(WORDS), [*WORDS, b"torn by the power"])
    log.adopt(len(found))
    log.append([LogPart(10, b"next")])
    assert log.read() == [*found, b"next"]


def test_a_fresh_part_stands_for_everything_before_it() -> None:
    log = log_of(*WORDS)
    log.append([LogPart(9, b"state", fresh=True), LogPart(10, b"more")])
    assert log.read() == [b"state", b"more"]


def test_a_checkpoint_stands_for_what_was_before_it_when_that_is_dropped() -> None:
    log = log_of(*WORDS)
    log.append([LogPart(9, b"state", checkpoint=True)])
    log.append([LogPart(10, b"behind")])
    assert log.read() == [*WORDS, b"state", b"behind"]
    log.append([LogPart(11, b"dropping", dropping=True)])
    assert log.read() == [b"state", b"behind", b"dropping"]


def test_an_empty_log_cannot_be_spoilt() -> None:
    assert not ByteLog().spoil("flipped", Random(1))


def disk_of(*words: bytes) -> Disk:
    """A disk with such a log, after a power cut."""
    clock = Clock(Random(1))
    disk = Disk(clock, Random(2), HEALTHY)
    for mark, word in enumerate(words, 1):
        disk.append([LogPart(mark, word)], lambda: None)
    clock.run_until(10**9)
    disk.crash()
    return disk


@pytest.mark.parametrize("seed", range(30))
def test_a_node_that_starts_finds_its_log_damaged(seed: int) -> None:
    disk = disk_of(*WORDS)
    disk._torn = Random(seed)
    disk.spoil()
    recovered = disk.verify()
    assert disk.damaged
    assert recovered is not None
    assert recovered.spoilt == disk.spoilt
    disk.wipe()
    assert (disk.log, disk.damaged, disk.spoilt, disk.verify()) == ([], False, "", None)


def judged(*records: Record) -> list[str]:
    return [violation.text for violation in LogIntegrity().check(Trace(list(records)))]


def read(kept: int, right: bool = True, damaged: bool = False) -> LogRecovered:
    """b has read so many of four stored parts."""
    return LogRecovered(1, "b", 1, kept, 4, right, damaged, "flipped")


def test_26_a_longer_log_than_what_was_stored_is_right() -> None:
    assert judged(read(5)) == []


def test_26_stored_parts_that_are_missing_are_a_breach() -> None:
    assert judged(read(3)) == ["b takes 3 of 4 stored parts for all (flipped)"]


def test_26_what_was_never_written_is_a_breach() -> None:
    assert judged(read(4, right=False)) == [
        "b takes 4 parts for its log, which it never wrote (flipped)"
    ]


def test_26_who_finds_damage_sets_it_aside_before_it_starts() -> None:
    start = Lived(3, "b", 2, "start", "")
    lost = Lived(2, "b", 1, DISK_LOST, "")
    assert judged(read(0, damaged=True), lost, start) == []
    assert judged(read(0, damaged=True), start) == [
        "b starts with a log that it has found damaged (flipped)"
    ]
