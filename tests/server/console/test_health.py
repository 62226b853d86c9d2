"""What the console says of views that follow each other too fast, and of who waits for whom."""

from __future__ import annotations

from typing import Any

import pytest

from server.console.health import (
    CERTIFICATE_DAYS,
    EXCLUSIONS_MIN,
    FLAPPING_S,
    VIEWS_MIN,
    alerts_of,
    health_of,
    of_waiting,
)

NOW_S = 1_000_000.0
Shown = dict[str, Any]


def views(*members: str, every_s: float = 20.0, last_s: float = NOW_S) -> list[Shown]:
    """One view after the other, the newest first; its members are letters."""
    count = len(members)
    made = [
        {"at_s": last_s - every_s * (count - number), "members": list(names), "primary": True}
        for number, names in enumerate(members)
    ]
    return made[::-1]


def said(*members: str, **times: float) -> list[Shown]:
    alerts = alerts_of({}, [], [], 0, None, views(*members, **times), NOW_S)
    assert health_of(alerts) == ("fair" if alerts else "good")
    return [alert.about for alert in alerts if alert.code == "views_flap"]


def test_a_restart_of_each_node_is_no_flapping() -> None:
    assert said("abc", "bc", "bca", "ca", "cab", "ab", "abc") == []


def test_a_node_that_comes_and_goes_is_named_with_how_often() -> None:
    (about,) = said("abc", *("ac", "acb") * EXCLUSIONS_MIN)
    assert about["nodes"] == [{"node": "b", "times": EXCLUSIONS_MIN}]
    assert (about["views"], about["s"]) == (2 * EXCLUSIONS_MIN, FLAPPING_S)


def test_many_views_are_said_whoever_they_leave_out() -> None:
    (about,) = said("abcd", *("abc", "abcd", "abd", "abdc") * 2, "acd")
    assert about["views"] > VIEWS_MIN
    assert about["nodes"][0] == {"node": "c", "times": 2}


@pytest.mark.parametrize("ago_s", [FLAPPING_S + 1, 10 * FLAPPING_S])
def test_what_was_long_ago_is_over(ago_s: float) -> None:
    assert said("abc", *("ac", "acb") * 20, every_s=1.0, last_s=NOW_S - ago_s) == []


def test_a_minority_view_counts_for_nothing() -> None:
    told = views("abc", *("ac", "acb") * 5)
    for one in told:
        one["primary"] = False
    assert alerts_of({}, [], [], 0, None, told, NOW_S) == []


def waiting(reason: str, *missing: str) -> Shown:
    """What a node says that it waits for."""
    return {"reason": reason, "text": f"{reason}: {' '.join(missing)}", "missing": list(missing)}


def test_nodes_that_wait_for_the_same_are_one_alert_that_says_for_whom() -> None:
    alike = {node: waiting("quorum", "a", "b") for node in "cd"}
    alerts = of_waiting({**alike, "e": waiting("bound", "a")})
    assert [(alert.level, alert.code) for alert in alerts] == [("bad", "awaits")] * 2
    assert [alert.about["nodes"] for alert in alerts] == [["c", "d"], ["e"]]
    assert [alert.about["missing"] for alert in alerts] == [["a", "b"], ["a"]]


@pytest.mark.parametrize("reason", ["first", "forming", "joining", "foreign", "taking"])
def test_what_ends_by_itself_is_no_alert(reason: str) -> None:
    assert of_waiting({"c": waiting(reason), "d": None}) == []


def node_says(**more: object) -> Shown:
    """What a node that is well says of itself."""
    said = {"state": "serving", "waiting": None, "version": "0.1.0", "keys": {"changing": False}}
    numbers = ("wait_ms", "cpu", "slept_s", "behind", "log_queue_bytes", "sessions")
    return {**said, **dict.fromkeys(numbers, 0), "sessions_max": 9, "pictures_missing": 0, **more}


@pytest.mark.parametrize(
    ("days", "expected"),
    [
        (None, []),
        (CERTIFICATE_DAYS + 1.0, []),
        (CERTIFICATE_DAYS - 0.5, [("warn", "certificate_ends", {"node": "a", "days": 29})]),
        (0.5, [("warn", "certificate_ends", {"node": "a", "days": 0})]),
        (-0.1, [("bad", "certificate_over", {"node": "a"})]),
    ],
)
def test_a_certificate_that_ends_is_said_in_time(
    days: float | None, expected: list[tuple[str, str, Shown]]
) -> None:
    found = {"a": node_says(certificate_days=days)}
    assert [tuple(alert) for alert in alerts_of(found, "a", [], 1, None)] == expected


def test_a_node_of_a_former_version_says_nothing_of_its_certificate() -> None:
    assert alerts_of({"a": node_says()}, "a", [], 1, None) == []
