"""The second factor: rules of the order."""

from __future__ import annotations

import pyotp
import pytest

from server.accounts import factors
from server.accounts.errors import AccountError
from server.accounts.factors import HALVES_MAX, TRIES_MAX
from server.accounts.roles import ADMIN, USER, Role
from server.accounts.totp import (
    check_totp_secret,
    drawn,
    new_recovery_codes,
    new_totp_secret,
    recovery_digest,
    step_of,
    totp_address,
)
from tests.server.accounts.offices import ORIGIN, Office, office
from tests.server.accounts.test_people import refused

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


async def guarded(here: Office) -> str:
    """An account with a second factor whose code of step 10 was used; it has a code `r`."""
    user = await here.hire("bob")
    await here.accounts.set_totp(user, SECRET, 10, ["r", "s"], "", ORIGIN)
    return user


def test_who_has_a_second_factor_is_not_signed_in_without_it() -> None:  # C1
    async def main(here: Office) -> None:
        user, accounts = await guarded(here), here.accounts
        await refused("second_factor", accounts.sign_in("d", user, "a", "agent", ORIGIN))
        await accounts.half_sign_in("h", user)
        assert accounts.sign_in_of("h", accounts.time_s) is None
        whole = accounts.whole_sign_in("h", 11, "", "d", "a", "agent", ORIGIN)
        assert (await whole).principal == USER + user
        again = accounts.whole_sign_in("h", 12, "", "e", "a", "agent", ORIGIN)
        await refused("expired", again)  # a half is good once

    office(main)


def test_a_code_is_good_once_whichever_node_is_shown_it() -> None:  # C2
    async def main(here: Office) -> None:
        user = await guarded(here)
        one, other = here.at
        await one.half_sign_in("h", user)
        await one.half_sign_in("i", user)
        await other.refresh()
        asked = (
            one.whole_sign_in("h", 11, "", "d", "a", "agent", ORIGIN),
            other.whole_sign_in("i", 11, "", "e", "b", "agent", ORIGIN),
        )
        ended = []
        for pending in asked:
            try:
                await pending
                ended.append("in")
            except AccountError as error:
                ended.append(error.code)
        assert sorted(ended) == ["bad_code", "in"]
        await one.refresh()
        assert one.totps[user].last_step == 11

    for seed in range(8):
        office(main, seed, nodes=2)


def test_a_code_for_recovery_is_good_once() -> None:  # C2
    async def main(here: Office) -> None:
        user, accounts = await guarded(here), here.accounts
        await accounts.half_sign_in("h", user)
        await accounts.whole_sign_in("h", -1, "r", "d", "a", "agent", ORIGIN)
        await accounts.half_sign_in("h", user)
        for recovery in ("r", "x", ""):
            again = accounts.whole_sign_in("h", -1, recovery, "e", "a", "agent", ORIGIN)
            await refused("bad_code", again)
        assert accounts.recovery[user] == {"s"}

    office(main)


def test_a_half_sign_in_ends_with_wrong_codes_and_with_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # C3
    monkeypatch.setattr(factors, "HALF_S", 100.0)

    async def main(here: Office) -> None:
        user, accounts = await guarded(here), here.accounts
        await accounts.half_sign_in("h", user)
        for _ in range(TRIES_MAX):
            assert accounts.half("h", accounts.time_s) is not None
            await accounts.wrong_code("h", ORIGIN)
        await refused("expired", accounts.whole_sign_in("h", 11, "", "d", "a", "agent", ORIGIN))
        await accounts.wrong_code("h", ORIGIN)  # nothing
        await accounts.half_sign_in("i", user)
        await here.world.elapse(101)
        await refused("expired", accounts.whole_sign_in("i", 11, "", "d", "a", "agent", ORIGIN))
        await accounts.expire()
        assert accounts.halves == {}

    office(main)


def test_half_sign_ins_are_bounded_and_need_an_account_that_is_on() -> None:
    async def main(here: Office) -> None:
        user, accounts = await guarded(here), here.accounts
        for number in range(HALVES_MAX + 3):
            await accounts.half_sign_in(f"h{number}", user)
        assert len(accounts.halves) == HALVES_MAX
        await accounts.set_disabled(here.as_ann, user, True, ORIGIN)
        await refused("bad_credentials", accounts.half_sign_in("x", user))
        last = f"h{HALVES_MAX + 2}"
        await refused("expired", accounts.whole_sign_in(last, 11, "", "d", "a", "agent", ORIGIN))

    office(main)


def test_a_second_factor_is_removed_by_a_code_or_by_who_manages_accounts() -> None:
    async def main(here: Office) -> None:
        user, accounts = await guarded(here), here.accounts
        await refused("taken", accounts.set_totp(user, SECRET, 12, [], "", ORIGIN))
        await refused("bad_code", accounts.remove_totp(user, 10, "", ORIGIN))
        await refused("forbidden", accounts.drop_factors(USER + user, user, ORIGIN))
        other = USER + await here.hire("eve", Role.EDITOR)
        await refused("forbidden", accounts.drop_factors(other, user, ORIGIN))
        await accounts.set_totp(here.ann, SECRET, 1, [], "", ORIGIN)
        # An owner's browser in other hands removes no factor of the owner.
        await refused("forbidden", accounts.drop_factors(here.as_ann, here.ann, ORIGIN))
        await accounts.drop_factors(here.as_ann, user, ORIGIN)
        assert not accounts.has_factor(user)
        await accounts.drop_factors(ADMIN, here.ann, ORIGIN)
        await accounts.set_totp(user, SECRET, 12, ["r"], "", ORIGIN)
        await accounts.remove_totp(user, -1, "r", ORIGIN)
        assert not accounts.has_factor(user)

    office(main)


def test_with_a_second_factor_all_other_sign_ins_end() -> None:
    async def main(here: Office) -> None:
        user, accounts = await here.hire("bob"), here.accounts
        kept = await accounts.sign_in("d", user, "a", "agent", ORIGIN)
        await accounts.sign_in("e", user, "a", "agent", ORIGIN)
        await accounts.set_totp(user, SECRET, 10, [], kept.id, ORIGIN)
        mine = [one.id for one in accounts.sign_ins.values() if one.principal == USER + user]
        assert mine == [kept.id]

    office(main)


def test_codes_are_those_of_the_rfc_and_clocks_may_be_a_step_off() -> None:
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"  # RFC 6238, appendix B
    assert step_of(secret, "287082", -1, 59.0) == 1
    assert step_of(secret, "28 70-82", -1, 59.0 + 30) == 1
    assert step_of(secret, "287082", -1, 59.0 + 61) == -1
    assert step_of(secret, "287082", 1, 59.0) == -1  # was used
    assert step_of(secret, "081804", -1, 1111111109.0) == 1111111109 // 30
    for code in ("", "28708", "2870822", "\uff12\uff18\uff17\uff10\uff18\uff12", "abcdef"):
        assert step_of(secret, code, -1, 59.0) == -1


def test_keys_and_codes_for_recovery_are_drawn_long_enough() -> None:
    key = new_totp_secret()
    assert check_totp_secret(key) == key
    for wrong in ("", "a" * 32, key[:-1], key + "A", key[:-1] + "1"):
        with pytest.raises(AccountError):
            check_totp_secret(wrong)
    codes = new_recovery_codes()
    assert len(set(codes)) == 10
    assert recovery_digest(codes[0].upper().replace("-", " ")) == recovery_digest(codes[0])
    assert pyotp.parse_uri(totp_address(key, "ann@example.org")).secret == key


def test_the_picture_is_a_path_of_squares() -> None:
    size, path = drawn(totp_address(SECRET, "ann@example.org"))
    assert 20 < size < 80
    assert path.startswith("M4 4h1v1h-1z")
    assert set(path) <= set("Mhvz-0123456789 ")
