"""Signing in with a second factor, over HTTP."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import pyotp
import pytest

from server.accounts.totp import STEP_S
from tests.server.accounts.idp import TestProvider, through
from tests.server.accounts.people import PASSWORD, Browser, found_home, hire, service
from tests.server.support import Cluster

BOB = "bob@example.org"


@pytest.fixture
async def bob(ann: Browser) -> AsyncIterator[Browser]:
    await hire(ann, "bob")
    async with Browser(ann.node) as browser:
        await browser.sign_in(BOB)
        yield browser


def code_of(key: str, steps: int = 0) -> str:
    return pyotp.TOTP(key).at(time.time() + steps * STEP_S)


async def set_up(browser: Browser, steps: int = -1) -> tuple[str, list[str]]:
    """The key, and codes for recovery; the code of the step before is used up."""
    status, begun = await browser.ask("POST", "/me/totp")
    assert status == 201, begun
    key = begun["secret"]
    body = {"secret": key, "code": code_of(key, steps), "current": PASSWORD}
    status, made = await browser.ask("PUT", "/me/totp", body)
    assert status == 200, made
    return key, made["recovery"]


async def test_a_password_is_not_enough_and_each_code_is_good_once(bob: Browser) -> None:
    async with Browser(bob.node) as other:
        await other.sign_in(BOB)
        key, recovery = await set_up(bob)
        assert (await other.ask("GET", "/session"))[1]["principal"] is None  # signed in before
        assert (await bob.ask("GET", "/me"))[1]["second_factor"] is True
        assert await other.sign_in(BOB) == (202, {"second": ["code"]})
        assert (await other.ask("GET", "/session"))[1]["principal"] is None
        status, problem = await other.ask("POST", "/session/second", {"code": "000000"})
        assert (status, problem["code"]) == (401, "bad_code")
        status, session = await other.ask("POST", "/session/second", {"code": code_of(key)})
        assert (status, session["user"]["email"]) == (201, BOB)
        assert set(other.cookies) == {"groupcore", "groupcore-device"}
        await other.sign_in(BOB)
        again = await other.ask("POST", "/session/second", {"code": code_of(key)})
        assert (again[0], again[1]["code"]) == (401, "bad_code")  # a replay
        code = recovery[0].upper()
        assert (await other.ask("POST", "/session/second", {"code": code}))[0] == 201
        await other.sign_in(BOB)
        assert (await other.ask("POST", "/session/second", {"code": code}))[0] == 401


async def test_half_a_sign_in_opens_nothing_and_ends_with_wrong_codes(bob: Browser) -> None:
    key, _ = await set_up(bob)
    async with Browser(bob.node) as other:
        await other.sign_in(BOB)
        half = other.cookies["groupcore-second"]
        for path in ("/me", "/documents", "/files"):
            bearer = {"Authorization": f"Bearer {half}"}
            assert (await other.ask("GET", path))[0] == 401
            assert (await other.ask("GET", path, **bearer))[0] == 401
        answers = [
            (await other.ask("POST", "/session/second", {"code": "000000"}))[1]["code"]
            for _ in range(6)
        ]
        assert answers[:5] == ["bad_code"] * 5
        assert answers[5] in ("expired", "wait")
        status, _ = await other.ask("POST", "/session/second", {"code": code_of(key)})
        assert status in (410, 429)
        assert (await other.ask("GET", "/session"))[1]["principal"] is None
    async with Browser(bob.node) as nobody:
        status, problem = await nobody.ask("POST", "/session/second", {"code": code_of(key)})
        assert (status, problem["code"]) == (410, "expired")


async def test_it_is_set_up_by_who_knows_the_password_and_has_the_device(bob: Browser) -> None:
    _, begun = await bob.ask("POST", "/me/totp")
    key = begun["secret"]
    assert begun["uri"].startswith("otpauth://totp/")
    assert begun["path"].startswith("M")
    wrong = {"secret": key, "code": code_of(key), "current": "wrong password"}
    assert (await bob.ask("PUT", "/me/totp", wrong))[1]["code"] == "bad_credentials"
    bad = {"secret": key, "code": "000000", "current": PASSWORD}
    assert (await bob.ask("PUT", "/me/totp", bad))[1]["code"] == "bad_code"
    weak = {"secret": "AAAA", "code": "000000", "current": PASSWORD}
    assert (await bob.ask("PUT", "/me/totp", weak))[0] == 400
    assert (await bob.ask("GET", "/me"))[1]["second_factor"] is False
    await set_up(bob)
    assert (await bob.ask("POST", "/me/totp"))[0] == 409


async def test_it_is_removed_by_a_code_and_by_an_owner(ann: Browser, bob: Browser) -> None:
    _, recovery = await set_up(bob)
    status, problem = await bob.ask("POST", "/me/totp/remove", {"code": "000000"})
    assert (status, problem["code"]) == (401, "bad_code")
    assert (await bob.ask("POST", "/me/totp/remove", {"code": recovery[0]}))[0] == 204
    async with Browser(bob.node) as other:
        assert (await other.sign_in(BOB))[0] == 201
    await set_up(bob, steps=1)
    user = (await bob.ask("GET", "/me"))[1]["id"]
    assert (await bob.ask("DELETE", f"/users/{user}/factors"))[0] == 403
    assert (await ann.ask("DELETE", f"/users/{user}/factors"))[0] == 204
    assert (await bob.ask("GET", "/me"))[1]["second_factor"] is False
    whats = [one.what for one in service(ann.node).accounts.notes]
    assert whats.count("factor.added") == whats.count("factor.removed") == 2
    assert not any(recovery[0] in one.about for one in service(ann.node).accounts.notes)


async def test_who_comes_from_the_provider_is_asked_for_the_code_too(
    ann_with_idp: Browser, idp: TestProvider
) -> None:
    await hire(ann_with_idp, "bob")
    async with Browser(ann_with_idp.node) as bob, Browser(ann_with_idp.node) as other:
        await bob.sign_in(BOB)
        key, _ = await set_up(bob)
        assert await through(other, idp) == "/sign-in#second=code"
        assert (await other.ask("GET", "/session"))[1]["principal"] is None
        status, session = await other.ask("POST", "/session/second", {"code": code_of(key)})
        assert (status, session["user"]["email"]) == (201, BOB)


async def test_half_begun_at_one_node_is_made_whole_at_another(cluster: Cluster) -> None:
    """Behind a proxy each request may come to another node."""
    cluster.size = 2
    one, other = await cluster.start_all("a", "b")
    async with Browser(one) as ann, Browser(one) as bob, Browser(one) as elsewhere:
        await found_home(ann)
        await hire(ann, "bob")
        await bob.sign_in(BOB)
        key, _ = await set_up(bob)
        await elsewhere.sign_in(BOB)
        elsewhere.go(other)
        await service(other).accounts.refresh()
        status, _ = await elsewhere.ask("POST", "/session/second", {"code": code_of(key)})
        assert status == 201
