"""What plans have brought, by what the pipeline has measured behind their ends."""

from __future__ import annotations

import json
from pathlib import Path

from server.console.outcome import AFTER_S, Measured, latest, outcomes
from server.console.results import measured_windows


def plan(id: str, began_s: float, ended_s: float | None) -> dict[str, object]:
    return {"id": id, "began_s": began_s, "ended_s": ended_s}


def test_a_plan_has_brought_what_was_measured_until_the_next_one() -> None:
    windows = [Measured(at, 3.0 - at / 100, 1_000.0 + at) for at in range(0, 200, 10)]
    windows.append(Measured(195.0, 1.5, None))
    found = outcomes([plan("one", 40, 50), plan("two", 100, 110), plan("open", 198, None)], windows)
    assert found == {
        "one": {"windows": 5, "imbalance": 2.3, "latency_us": 1_070.0},
        "two": {"windows": 10, "imbalance": 1.5, "latency_us": 1_150.0},
    }


def test_what_was_measured_much_later_is_no_plan_s_doing() -> None:
    late = [Measured(50 + AFTER_S, 1.0, 5.0), Measured(49.9, 1.0, 5.0)]
    assert outcomes([plan("one", 40, 50)], late) == {}
    untimed = [Measured(60, 1.25, None)]
    assert outcomes([plan("one", 40, 50)], untimed)["one"] == {
        "windows": 1,
        "imbalance": 1.25,
        "latency_us": None,
    }


def test_what_rests_on_more_windows_is_newer() -> None:
    few, more = {"windows": 2, "imbalance": 1.5}, {"windows": 3, "imbalance": 1.2}
    again = {"windows": 2, "imbalance": 1.4}
    assert latest(None, None) is None
    assert latest(None, few) == latest(few, None) == few
    assert latest(few, more) == latest(more, few) == more
    assert latest(few, again) == again


async def test_windows_are_read_anew_where_the_file_is_another(tmp_path: Path) -> None:
    assert await measured_windows(None) == ()
    assert await measured_windows(tmp_path) == ()
    path = tmp_path / "load.json"
    window = {"at_s": 5, "imbalance": 2, "latency_us": None, "runs": 0, "fullest_us": 1}
    for count in (1, 2):
        path.write_text(json.dumps({"load": 1, "windows": [window] * count}), encoding="utf-8")
        assert await measured_windows(tmp_path) == (Measured(5.0, 2.0, None),) * count
    for wrong in ("[]", "{", '{"windows": 5}', '{"windows": [{}]}', '{"windows": [5]}'):
        path.write_text(wrong, encoding="utf-8")
        assert await measured_windows(tmp_path) == ()
