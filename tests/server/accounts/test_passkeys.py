"""Passkeys: rules of the order, and what is no passkey. Real ones: `test_browser_passkeys.py`."""

from __future__ import annotations

import json
import socket

import pytest

from server.accounts import passkeys, webauthn_codec
from server.accounts.passkeys import PASSKEYS_EACH
from server.accounts.roles import USER, Role
from tests.server.accounts.device import Device
from tests.server.accounts.offices import ORIGIN, Office, office
from tests.server.accounts.people import PASSWORD, Browser, found_home, hire, service
from tests.server.accounts.test_people import refused
from tests.server.support import Cluster

KEY = b"key"


async def equipped(here: Office, name: str = "bob", count: int = 3) -> str:
    """An account with a key whose counter is `count`, and a code `r`."""
    user = await here.hire(name)
    await here.accounts.add_passkey(user, f"k-{name}", "Phone", KEY, count, ["r"], "", ORIGIN)
    return user


def showing(here: Office, half: str, id: str, count: int, is_verified: bool, at: int = 0) -> object:
    accounts = here.at[at]
    return accounts.sign_in_by_passkey(
        half, id, count, is_verified, f"d{half}{at}", "a", "agent", ORIGIN
    )


def test_a_key_signs_in_alone_where_it_has_asked_its_person() -> None:  # P1
    async def main(here: Office) -> None:
        user, accounts = await equipped(here), here.accounts
        await accounts.open_half("h")
        await refused("bad_passkey", showing(here, "h", "k-bob", 4, False))
        await refused("bad_passkey", showing(here, "h", "unknown", 4, True))
        await refused("expired", accounts.whole_sign_in("h", 1, "", "d", "a", "b", ORIGIN))
        await showing(here, "h", "k-bob", 4, True)  # type: ignore[misc]
        assert [one.principal for one in accounts.sign_ins.values()] == [USER + user]
        await refused("expired", showing(here, "h", "k-bob", 5, True))

    office(main)


def test_a_key_is_a_second_factor_in_its_own_account_only() -> None:  # P1
    async def main(here: Office) -> None:
        user, accounts = await equipped(here), here.accounts
        await equipped(here, "eve")
        await refused("second_factor", accounts.sign_in("d", user, "a", "agent", ORIGIN))
        await accounts.half_sign_in("h", user)
        await refused("bad_passkey", showing(here, "h", "k-eve", 4, True))
        await showing(here, "h", "k-bob", 4, False)  # type: ignore[misc]
        await accounts.half_sign_in("i", user)
        await accounts.set_disabled(here.as_ann, user, True, ORIGIN)
        await refused("bad_passkey", showing(here, "i", "k-bob", 5, True))

    office(main)


def test_a_counter_has_to_grow_unless_the_device_has_none() -> None:  # P2
    async def main(here: Office) -> None:
        accounts = here.accounts
        await equipped(here)
        await equipped(here, "eve", 0)
        for half, id, count, is_fine in (
            ("a", "k-bob", 3, False),
            ("b", "k-bob", 0, False),
            ("c", "k-bob", 4, True),
            ("d", "k-eve", 0, True),
            ("e", "k-eve", 0, True),
        ):
            await accounts.open_half(half)
            asked = showing(here, half, id, count, True)
            if is_fine:
                await asked  # type: ignore[misc]
            else:
                await refused("bad_passkey", asked)

    office(main)


def test_keys_are_bounded_and_removed_by_a_code() -> None:
    async def main(here: Office) -> None:
        user, accounts = await equipped(here), here.accounts
        await refused("taken", accounts.add_passkey(user, "k-bob", "x", KEY, 0, [], "", ORIGIN))
        for number in range(PASSKEYS_EACH - 1):
            name = f"k{number}"
            first = accounts.add_passkey(user, name, "Key", KEY, 0, ["other"], "", ORIGIN)
            assert not await first
        await refused("too_many", accounts.add_passkey(user, "y", "x", KEY, 0, [], "", ORIGIN))
        assert accounts.recovery[user] == {"r"}
        await refused("bad_code", accounts.remove_passkey(user, "k-bob", -1, "x", ORIGIN))
        await refused("not_found", accounts.remove_passkey(here.ann, "k-bob", -1, "r", ORIGIN))
        await accounts.remove_passkey(user, "k-bob", -1, "r", ORIGIN)
        assert accounts.has_factor(user)
        await accounts.drop_factors(here.as_ann, user, ORIGIN)
        assert accounts.passkeys == {}
        assert user not in accounts.recovery

    office(main)


def test_a_hand_over_ends_keys_too() -> None:
    async def main(here: Office) -> None:
        user = await equipped(here)
        await here.accounts.confirm(here.as_ann, user, True, ORIGIN)
        assert here.accounts.passkeys == {}

    office(main)


def test_half_sign_ins_of_nobody_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passkeys, "NAMELESS_MAX", 3)

    async def main(here: Office) -> None:
        user = await here.hire("bob", Role.VIEWER)
        await here.accounts.half_sign_in("bob", user)
        for number in range(6):
            await here.accounts.open_half(f"h{number}")
        assert len(here.accounts.halves) == 4
        assert "bob" in here.accounts.halves

    office(main)


@pytest.mark.slow
async def test_what_is_no_passkey_is_refused(ann: Browser) -> None:
    await hire(ann, "bob")
    async with Browser(ann.node) as bob:
        assert (await bob.ask("POST", "/session/passkey", {"credential": "{}"}))[0] == 410
        status, begun = await bob.ask("POST", "/session/passkey/begin", {})
        assert (status, begun["options"]["userVerification"]) == (201, "required")
        user = (await ann.ask("GET", "/me"))[1]["id"]
        work = service(ann.node).accounts.add_passkey(user, "AAAA", "x", KEY, 0, [], "", "")
        await work
        full = {
            "id": "AAAA",
            "rawId": "AAAA",
            "type": "public-key",
            "response": {"clientDataJSON": "e30", "authenticatorData": "AA", "signature": "AA"},
        }
        said = ["x", "[]", "{}", "1", "[" * 10_000, json.dumps({"id": "AAAA"}), json.dumps(full)]
        for one in [*said, json.dumps({**full, "response": {**full, "signature": None}})]:
            status, problem = await bob.ask("POST", "/session/passkey", {"credential": one})
            assert (status, problem["code"]) == (401, "bad_passkey"), one
        await bob.sign_in("bob@example.org")
        assert (await bob.ask("POST", "/me/passkeys/begin"))[0] == 201
        for one in said:
            body = {"credential": one, "name": "x", "current": PASSWORD}
            status, problem = await bob.ask("POST", "/me/passkeys", body)
            assert (status, problem["code"]) == (401, "bad_passkey"), one
        assert (await bob.ask("GET", "/me/passkeys"))[1] == {"passkeys": []}


@pytest.mark.slow
async def test_a_key_signs_for_its_page_its_challenge_and_once(cluster: Cluster) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://localhost:{port}"
    node = await cluster.start("a", http=f"127.0.0.1:{port}", public_url=url)
    async with Browser(node) as ann, Browser(node) as other:
        await found_home(ann)
        device = Device("localhost", url)
        _, begun = await ann.ask("POST", "/me/passkeys/begin")
        made = device.made(begun["options"]["challenge"])
        body = {"credential": made, "name": "Phone", "current": PASSWORD}
        elsewhere = Device("localhost", "http://localhost:1").made(begun["options"]["challenge"])
        for wrong in (elsewhere, device.made("AAAA")):
            status, problem = await ann.ask("POST", "/me/passkeys", {**body, "credential": wrong})
            assert (status, problem["code"]) == (401, "bad_passkey")
        status, added = await ann.ask("POST", "/me/passkeys", body)
        assert (status, len(added["recovery"])) == (201, 10)
        _, begun = await other.ask("POST", "/session/passkey/begin", {"alone": True})
        challenge = begun["options"]["challenge"]
        phished = Device("localhost", "http://localhost.example:1")
        forged = Device("localhost", url, number=8)
        forged.id = device.id
        silent = Device("localhost", url)
        silent.verifies = False
        for liar in (phished, forged, silent):
            said = {"credential": liar.signed(challenge)}
            status, problem = await other.ask("POST", "/session/passkey", said)
            assert (status, problem["code"]) == (401, "bad_passkey")
        said = {"credential": device.signed(challenge)}
        status, session = await other.ask("POST", "/session/passkey", said)
        assert (status, session["user"]["name"]) == (201, "Ann")
        again = await other.ask("POST", "/session/passkey", said)
        assert again[0] == 410
        await other.ask("POST", "/session/passkey/begin", {"alone": True})
        assert (await other.ask("POST", "/session/passkey", said))[0] == 401  # a replay


@pytest.mark.slow
async def test_an_office_behind_one_address_signs_in_by_passkeys_without_waiting(
    ann: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a device says is believed here; whether it fits is for `test_browser_passkeys.py`."""
    user = (await ann.ask("GET", "/me"))[1]["id"]
    accounts = service(ann.node).accounts
    await accounts.add_passkey(user, "AAAA", "x", KEY, 0, [], "", "")
    monkeypatch.setattr(
        "server.accounts.webauthn_codec.shown_key", lambda *words: webauthn_codec.Shown(0, True)
    )
    async with Browser(ann.node) as office:
        for _ in range(25):
            assert (await office.ask("POST", "/session/passkey/begin", {"alone": True}))[0] == 201
            said = {"credential": json.dumps({"id": "AAAA"})}
            assert (await office.ask("POST", "/session/passkey", said))[0] == 201
    assert len(accounts.halves) == 0
    async with Browser(ann.node) as stranger:
        answers = [
            (await stranger.ask("POST", "/session/passkey/begin", {"alone": True}))[0]
            for _ in range(25)
        ]
        assert answers[0] == 201
        assert answers[-1] == 429  # each costs the cluster a message
