"""Short games of tokens in real browsers; `make game` plays more of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser

from tests.end_to_end.cluster import NAMES, running_cluster
from tests.end_to_end.token_badge import false_saves
from tests.end_to_end.token_game import LETTERS, Outcome, TokenGame

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.slow,
    pytest.mark.asyncio(loop_scope="session"),
]

GAMES = 4
SEED = 1


async def test_tokens_outlive_splits_joins_kills_and_hours_without_a_connection(
    browser: Browser, tmp_path: Path
) -> None:
    async with running_cluster(tmp_path, *NAMES) as cluster:
        for seed in range(SEED, SEED + GAMES):
            outcome = await TokenGame(cluster, browser, seed).play()
            assert outcome.is_whole, str(outcome)


@pytest.mark.parametrize(
    ("text", "drafts", "kind"),
    [
        ("[A0001][B0001]", "", "missing"),
        ("[A0001][B0001][C00[D0001]01][C0001]", "", "torn"),
        ("[A0001][B0001][C0001][C0001]", "", "doubled"),
        ("[A0001][B0001][C0001]", "kept: [C0001]", "doubled"),
        ("[A0001][B0001]", "kept: [C0001]", "missing"),
    ],
)
async def test_what_is_wrong_with_a_token_is_found(text: str, drafts: str, kind: str) -> None:
    whole = "[A0001][B0001][C0001]"
    outcome = Outcome(1)
    tokens = [f"[{letter}0001]" for letter in LETTERS[:3]]
    outcome.judge([("A", whole), ("a", text)], tokens, set(), drafts)
    if "[D0001]" not in text:
        found = {"missing": outcome.missing, "torn": outcome.torn, "doubled": outcome.doubled}
        assert [name for name, some in found.items() if some] == [kind]
    assert getattr(outcome, kind), outcome
    assert not outcome.is_whole


async def test_what_its_writer_has_taken_back_may_be_there_in_part() -> None:
    outcome = Outcome(1)
    outcome.judge([("A", "[A0001][A00")], ["[A0001]", "[A0002]"], {"[A0002]"}, "")
    assert outcome.is_whole, str(outcome)


CALL = {"t": "call", "name": "doc/b", "n": 1, "answered": 0, "calls": []}
WELCOME = {"t": "welcome", "saves": True}
RESULT = {"t": "result", "name": "doc/b", "n": 1, "results": [None]}
SAVED = {"t": "saved", "name": "doc/b", "n": 1}
REFUSED = {"t": "error", "name": "doc/b", "n": 1, "code": "base_too_old", "temporary": False}


@pytest.mark.parametrize(
    ("happened", "is_false"),
    [
        ([("key", ["A"])], True),
        ([("key", ["A"]), ("out", CALL)], True),
        ([("key", ["A"]), ("out", CALL), ("in", RESULT)], True),
        ([("key", ["A"]), ("out", CALL), ("in", RESULT), ("in", SAVED)], False),
        ([("key", ["A"]), ("out", CALL), ("in", RESULT), ("in", SAVED), ("key", ["0"])], True),
        ([("key", ["A"]), ("out", CALL), ("in", REFUSED)], False),
        ([("key", ["Control+1"])], False),
        ([("key", ["A"]), ("key", ["Control+z"])], False),
    ],
)
async def test_a_badge_that_says_saved_of_what_is_not_is_found(
    happened: list[tuple[str, Any]], is_false: bool
) -> None:
    painted = [("in", WELCOME), *happened, ("paints", ["saved"])]
    events = [(float(at), "A", what, details) for at, (what, details) in enumerate(painted)]
    assert bool(false_saves(events)) is is_false
