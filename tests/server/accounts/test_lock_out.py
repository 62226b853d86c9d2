"""Nobody who knows an address keeps its owner out, and guessing stays bounded all the same."""

from __future__ import annotations

from contextlib import AsyncExitStack

import pytest

from server.accounts.guard import RULES, Guard, Rule, Secret
from server.accounts.turns import KEPT_S, Turns
from server.errors import TooFastError
from tests.server.accounts.people import PASSWORD, Browser, found_home, hire, service
from tests.server.support import Cluster, eventually

DAY_S = 24 * 3600.0
HERE, OTHER = "198.51.100.7", "203.0.113.9"


class Clock:
    """Time that the test sets."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.guard = Guard(lambda: self.now_s)

    def tries(self, place: str, device: str = "", secret: Secret = Secret.PASSWORD) -> float:
        """One try that fails; how long it has to wait, 0 when it was let through."""
        try:
            self.guard.attempt(secret, "ann", place, device)
        except TooFastError as error:
            return float(error.wait_s)
        return 0.0

    def knows(self, place: str, device: str = "", secret: Secret = Secret.PASSWORD) -> float:
        """One try with the right secret."""
        try:
            made = self.guard.attempt(secret, "ann", place, device)
        except TooFastError as error:
            return float(error.wait_s)
        self.guard.knew(made)
        return 0.0


async def wait_out(browser: Browser, email: str) -> None:
    """Guess until one has to wait."""
    for _ in range(7):
        _, problem = await browser.sign_in(email, "wrong guess")
    assert problem["code"] == "wait"


async def test_an_attack_on_an_address_keeps_its_owner_out_nowhere(cluster: Cluster) -> None:
    """Found: 69 requests an hour by one stranger refused the owner 1,857 of 1,857 times."""
    node = await cluster.start("a", proxies="127.0.0.1")
    async with AsyncExitStack() as stack:
        ann, eve, new = [await stack.enter_async_context(Browser(node)) for _ in range(3)]
        for browser, place in ((ann, HERE), (eve, OTHER), (new, "192.0.2.5")):
            browser.http.headers["X-Forwarded-For"] = place
        await found_home(ann)
        await ann.ask("DELETE", "/session")
        await wait_out(eve, "ann@example.org")
        assert (await ann.sign_in("ann@example.org"))[0] == 201, "where the owner was before"
        assert (await new.sign_in("ann@example.org"))[0] == 201, "and from a place that is new"
        assert (await eve.sign_in("ann@example.org", "wrong guess"))[0] == 429


async def test_a_browser_that_is_known_signs_in_from_the_attackers_own_address(
    ann: Browser,
) -> None:
    await ann.ask("DELETE", "/session")
    async with Browser(ann.node) as eve:
        await wait_out(eve, "ann@example.org")
        assert (await eve.sign_in("ann@example.org"))[0] == 429
    assert (await ann.sign_in("ann@example.org"))[0] == 201


async def test_a_known_browser_is_known_to_its_own_accounts_only(ann: Browser) -> None:
    await hire(ann, "bob")
    accounts = service(ann.node).accounts
    bob = accounts.emails["bob@example.org"]
    async with Browser(ann.node) as eve:
        await wait_out(eve, "bob@example.org")
    await ann.ask("DELETE", "/session")
    value = ann.cookies["groupcore-device"]
    assert bob not in value
    assert (await ann.sign_in("bob@example.org"))[0] == 429, "her mark is none of his"


async def test_a_mark_that_somebody_has_made_up_is_none(ann: Browser) -> None:
    async with Browser(ann.node) as eve:
        await wait_out(eve, "ann@example.org")
        good = ann.cookies["groupcore-device"]
        mark, _, code = good.partition(".")
        for made_up in (
            f"{mark}.{'0' * len(code)}",
            f"{mark[:-1]}0.{code}" if mark[-1] != "0" else f"{mark[:-1]}1.{code}",
            f"0-{'0' * 16}.{code}",
            "~" * 400,
            "x" * 5_000,
        ):
            eve.http.cookie_jar.update_cookies({"groupcore-device": made_up})
            assert (await eve.sign_in("ann@example.org"))[0] == 429, made_up


async def test_guesses_in_a_known_browser_have_to_wait_too(ann: Browser) -> None:
    await wait_out(ann, "ann@example.org")
    async with Browser(ann.node) as new:
        assert (await new.sign_in("ann@example.org"))[0] == 201


async def test_the_owner_changes_the_password_while_it_is_attacked(ann: Browser) -> None:
    async with Browser(ann.node) as eve:
        await wait_out(eve, "ann@example.org")
    body = {"current": PASSWORD, "password": "another horse battery"}
    assert (await ann.ask("PUT", "/me/password", body))[0] == 204


async def test_what_is_tried_of_one_kind_of_secret_counts_for_no_other(ann: Browser) -> None:
    """Found: 20 wrong secrets of one kind refused every other kind to all from that address."""
    _, space = await ann.ask("POST", "/workspaces/home/invitations", {"role": "viewer"})
    async with Browser(ann.node) as eve:
        for path in ("/links/enter", "/invitations/look", "/users/first/look"):
            for _ in range(30):
                status, problem = await eve.ask("POST", path, {"secret": "gcx_wrong"})
            assert (status, problem["code"]) == (429, "wait"), path
        assert (await eve.sign_in("ann@example.org"))[0] == 201
        status, _ = await eve.ask("POST", "/invitations/look", {"secret": space["secret"]})
        assert status == 200, "a right secret of 256 bits is never kept waiting"
        assert (await eve.ask("POST", "/session/passkey/begin", {"alone": True}))[0] == 201


async def test_who_looks_for_accounts_by_addresses_has_to_wait(ann: Browser) -> None:
    async def look(number: int) -> str:
        body = {"email": f"guess{number}@example.org", "role": "viewer"}
        _, answer = await ann.ask("POST", "/workspaces/home/members", body)
        return str(answer["code"])

    codes = [await look(number) for number in range(25)]
    assert codes[:20] == ["not_found"] * 20
    assert codes[-1] == "wait"


async def test_the_person_is_told_how_often_somebody_failed(ann: Browser) -> None:
    assert (await ann.ask("GET", "/me"))[1]["attempts"] is None
    accounts = service(ann.node).accounts
    async with Browser(ann.node) as eve:
        for _ in range(3):
            await eve.sign_in("ann@example.org", "wrong guess")
    user = accounts.emails["ann@example.org"]
    await eventually(lambda: accounts.denied(user, accounts.time_s)[0] == 3, "counted")
    for _ in range(2):  # a sign-in behind which nothing was tried takes nothing away
        assert (await ann.sign_in("ann@example.org"))[0] == 201
        _, me = await ann.ask("GET", "/me")
        assert me["attempts"]["count"] == 3


async def test_the_log_names_no_address_that_was_tried(ann: Browser) -> None:
    async with Browser(ann.node) as eve:
        for email in ("ann@example.org", "nobody@example.org", "nobody@example.org"):
            await eve.sign_in(email, "wrong guess")
    accounts = service(ann.node).accounts
    denied: list[str] = []

    def are_noted() -> bool:
        denied[:] = [one.about for one in accounts.notes if one.what == "sign_in.denied"]
        return len(denied) == 3

    await eventually(are_noted, "noted")
    assert denied[0] == accounts.emails["ann@example.org"]
    assert denied[1] == denied[2]
    assert denied[1].startswith("address-")


# --- a day of it, by the clock ------------------------------------------------------------------


def test_a_day_of_one_strangers_guesses_keeps_a_new_place_waiting_never() -> None:
    clock, refused, guesses, next_s = Clock(), 0, 0, 0.0
    for minute in range(24 * 60):
        clock.now_s = minute * 60.0
        if clock.now_s >= next_s:
            wait_s = clock.tries(OTHER)
            guesses += not wait_s
            next_s = clock.now_s + wait_s
        refused += clock.knows(HERE) > 0
    assert refused == 0
    assert 90 < guesses < 130


@pytest.mark.parametrize("secret", RULES)
def test_guesses_of_an_account_from_any_number_of_places_are_bounded(secret: Secret) -> None:  # L2
    clock, guesses, known = Clock(), 0, 0
    rule: Rule = RULES[secret]
    free, every_s, ahead = rule.account
    for minute in range(24 * 60):
        clock.now_s = minute * 60.0
        for place in range(100):
            guesses += not clock.tries(f"10.0.0.{place}", secret=secret)
        known += not clock.knows(HERE, "mark", secret)
    assert (free + DAY_S / every_s) / 2 < guesses <= free + ahead + DAY_S / every_s
    assert known == 24 * 60  # L1


def test_a_new_place_is_given_a_turn_behind_others_that_ask_more_often() -> None:
    clock = Clock()
    waits: dict[str, float] = {}
    for minute in range(6 * 60):
        clock.now_s = minute * 60.0
        for place in ("a", "b", "c"):
            if clock.now_s >= waits.get(place, 0.0):
                waits[place] = clock.now_s + clock.tries(place)
    clock.now_s += 1.0
    told_s, turns = clock.knows(HERE), 0
    assert told_s > 0, "the attack has used up what is free"
    while told_s and turns < 2:
        assert told_s <= 6 * 300.0
        clock.now_s += told_s
        told_s, turns = clock.knows(HERE), turns + 1
    assert told_s == 0


def test_a_turn_is_kept_for_who_was_told_of_it() -> None:  # R2
    turns = Turns(free=1, every_s=10.0, queue=2)
    assert turns.take("key", "eve", 0.0) == 0
    assert turns.take("key", "ann", 1.0) == 9.0
    for now_s in (2.0, 5.0, 9.0):
        assert turns.take("key", "eve", now_s) > 0
    assert turns.take("key", "ann", 10.0) == 0
    assert turns.take("key", "zoe", 11.0) > 0


def test_turns_that_nobody_takes_are_given_to_others_and_a_line_is_bounded() -> None:  # R3
    turns = Turns(free=1, every_s=10.0, queue=2)
    assert turns.take("key", "a", 0.0) == 0
    waits = [turns.take("key", who, 0.0) for who in "bcdef"]
    assert waits == [10.0, 20.0, 30.0, 30.0, 30.0]
    assert turns.take("key", "g", 20.0 + KEPT_S + 1) == 0


def test_as_many_tries_as_a_rule_says_and_keys_are_bounded() -> None:  # R1
    turns = Turns(free=3, every_s=10.0, queue=0, keys_max=5)
    let_in = sum(turns.take("key", str(tick), tick / 2) == 0 for tick in range(200))
    assert let_in == 3 + 9
    for number in range(20):
        turns.take(str(number), "who", 100.0)
    assert len(turns) == 5


def test_what_was_right_counts_nowhere() -> None:
    clock = Clock()
    for _ in range(500):
        assert clock.knows(HERE) == 0
        assert clock.knows(HERE, "mark") == 0
