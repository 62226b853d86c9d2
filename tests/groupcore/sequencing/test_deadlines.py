"""Times by key: the rules of `deadlines`."""

from __future__ import annotations

from random import Random

from groupcore.sequencing.deadlines import SLACK, Deadlines


def test_a_key_has_the_time_that_was_set_last() -> None:
    times: Deadlines[str] = Deadlines()
    times.set("a", 1.0)
    times.set("b", 2.0)
    times.set("a", 3.0)
    assert times.next() == 2.0
    assert times.take_due(2.5) == ["b"]
    assert times.take_due(2.5) == []
    assert times.take_due(3.0) == ["a"]
    assert times.next() is None


def test_what_is_dropped_is_never_due() -> None:
    times: Deadlines[str] = Deadlines()
    times.set("a", 1.0)
    times.drop("a")
    times.drop("never set")
    assert times.next() is None
    assert times.take_due(9.0) == []
    assert "a" not in times


def test_it_gives_what_a_plain_table_would_give() -> None:
    random = Random(1)
    times: Deadlines[int] = Deadlines()
    plain: dict[int, float] = {}
    for now in range(2_000):
        key = random.randrange(40)
        if random.random() < 0.2:
            times.drop(key)
            plain.pop(key, None)
        else:
            plain[key] = now + random.random() * 50
            times.set(key, plain[key])
        due = sorted((at, one) for one, at in plain.items() if at <= now)
        assert times.take_due(now) == [one for _, one in due]
        for _, one in due:
            del plain[one]
        assert times.next() == min(plain.values(), default=None)
        assert len(times) == len(plain)


def test_times_that_count_no_more_are_thrown_out() -> None:
    times: Deadlines[str] = Deadlines()
    for at in range(10_000):
        times.set("a", float(at))
    assert len(times._heap) <= 2 + SLACK
    assert times.next() == 9_999.0
