"""What pages may say to those near their people: where they stand, as whom, and how often."""

from __future__ import annotations

import pytest

from groupcore.gateway.errors import BadRequestError
from server.accounts.roles import Role
from server.documents.names import place_of
from server.places.earshot import SIDE, Uttered, is_square, square_of
from server.places.speaking import AGAIN_S, BURST, Speaking

HERE = "place/hall/near/0:-1"
WORDS: list[object] = ["words", "Eve", 10, -10, 6_400, "hello"]


class Roles:
    """Ann writes, Vera reads."""

    def shown_name(self, principal: str) -> str | None:
        return {"user:ann": "Ann", "user:vera": "Vera"}.get(principal)

    def role_in(self, principal: str, document: str) -> Role:
        assert document == "hall"
        return Role.VIEWER if principal == "user:vera" else Role.EDITOR


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_e1_words_are_published_where_they_are_said() -> None:
    speaking = Speaking(None, Clock())
    assert speaking.publishing("", "a", HERE, WORDS) == WORDS
    for square in ("0:0", "all", "-1:-1"):
        with pytest.raises(BadRequestError, match="belong to 0:-1"):
            speaking.publishing("", "a", f"place/hall/near/{square}", WORDS)
    to_all: list[object] = ["wave", "Eve", 10, -10, 0, ""]
    assert speaking.publishing("", "a", "place/hall/near/all", to_all) == to_all
    with pytest.raises(BadRequestError, match="belong to all"):
        speaking.publishing("", "a", HERE, to_all)


def test_e2_words_have_the_name_of_the_account() -> None:
    speaking = Speaking(Roles(), Clock())
    said = speaking.publishing("user:ann", "a", HERE, WORDS)
    assert said == ["words", "Ann", *WORDS[2:]]
    said = speaking.publishing("link:x", "b", HERE, WORDS)
    assert said == ["words", "Guest", *WORDS[2:]]


def test_e3_who_may_not_write_says_nothing() -> None:
    with pytest.raises(BadRequestError) as caught:
        Speaking(Roles(), Clock()).publishing("user:vera", "v", HERE, WORDS)
    assert caught.value.code == "forbidden"


def test_e3_nobody_says_more_than_a_few_things_a_second() -> None:
    clock = Clock()
    speaking = Speaking(None, clock)

    def says(who: str = "a") -> bool:
        try:
            speaking.publishing("", who, HERE, WORDS)
        except BadRequestError as error:
            return error.code != "busy"
        return True

    assert [says() for _ in range(BURST + 2)] == [True] * BURST + [False] * 2
    assert says("b")
    clock.now_s += AGAIN_S / 2
    assert not says()
    clock.now_s += AGAIN_S / 2
    assert [says(), says()] == [True, False]
    clock.now_s += 1_000.0
    assert [says() for _ in range(BURST + 1)] == [True] * BURST + [False]


@pytest.mark.parametrize(
    "value", [None, 7, [], ["words"], [*WORDS, 1], {"kind": "words"}, "words", [WORDS]]
)
def test_what_is_no_utterance_is_left_to_the_topic_to_refuse(value: object) -> None:
    assert Speaking(Roles(), Clock()).publishing("user:ann", "a", HERE, value) == value


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "sing"},
        {"text": ""},
        {"text": "x" * 301},
        {"kind": "wave"},
        {"name": "n" * 81},
        {"x": 2**40},
        {"reach": 64_001},
        {"reach": -1},
    ],
)
def test_no_other_utterances_can_be_made(changes: dict[str, object]) -> None:
    usual: dict[str, object] = {"kind": "words", "name": "Ann", "x": 0, "y": 0, "reach": 1}
    with pytest.raises(ValueError, match=r"."):
        Uttered(**{**usual, "text": "hi", **changes})  # type: ignore[arg-type]


def test_squares_have_names_of_one_form() -> None:
    assert square_of(SIDE, -1) == "1:-1"
    assert all(map(is_square, ["0:0", "-7:12345", "all"]))
    assert not any(map(is_square, ["", "0", "0:0:0", "1:123456", "ALL", "0:0\n", "--1:0"]))
    assert place_of("place/hall/near/0:0") == ("PlaceEarshot", "hall", "", "place")
    assert place_of("place/hall/near/x") is None
    assert place_of("place/hall/near") is None
