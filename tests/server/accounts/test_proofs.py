"""Proofs of addresses: what each ends, and letters that are good once."""

from __future__ import annotations

import pytest

from server.accounts import proofs
from server.accounts.errors import AccountError
from server.accounts.people import HOME
from server.accounts.proofs import PROVE, RESET
from server.accounts.records import User
from server.accounts.roles import USER, Role
from tests.server.accounts.offices import ORIGIN, Office, office
from tests.server.accounts.test_offers import claim
from tests.server.accounts.test_people import refused

CEO = "ceo@corp.example"


async def dig_in(here: Office, user: str) -> None:
    """All that a squatter can leave: a sign-in, a token, a second factor, a provider's account."""
    accounts = here.accounts
    await accounts.set_totp(user, "A" * 32, 1, ["r"], "", ORIGIN)
    await accounts.half_sign_in("half", user)
    await accounts.whole_sign_in("half", 2, "", "session", "a", "agent", ORIGIN)
    await accounts.half_sign_in("half", user)
    await accounts.add_token(USER + user, "token", user, "t", ("documents:read",), 90.0, ORIGIN)
    await accounts.link_provider(user, "idp|squatter", "eve@example.org", ORIGIN)


def ways_in(here: Office, user: str) -> list[object]:
    accounts, found = here.accounts, here.accounts.users[user]
    now_s = accounts.time_s
    return [
        *[one for one in accounts.sign_ins.values() if one.principal == USER + user],
        *[one for one in (accounts.token_of("token", now_s), accounts.half("half", now_s)) if one],
        *[one for one in accounts.letters.values() if one.user == user],
        *([found.subject] if found.subject or "idp|squatter" in accounts.subjects else []),
        *([found.verifier] if found.verifier else []),
        *(["factor"] if accounts.has_factor(user) or user in accounts.recovery else []),
    ]


def test_a_hand_over_leaves_no_way_in() -> None:  # V2
    async def main(here: Office) -> None:
        user = await claim(here)
        await dig_in(here, user)
        assert len(ways_in(here, user)) == 6
        await here.accounts.confirm(here.as_ann, user, True, ORIGIN)
        assert ways_in(here, user) == []
        assert here.accounts.is_proved(user)
        assert here.accounts.workspace_role(USER + user, "lobby") is Role.VIEWER

    office(main)


def test_a_password_by_mail_leaves_no_other_way_in_where_nothing_was_proved() -> None:  # V2
    async def main(here: Office) -> None:
        user, accounts = await claim(here), here.accounts
        await dig_in(here, user)
        await accounts.write_letter("l", user, RESET, ORIGIN)
        assert await accounts.reset_by_letter("l", "theirs", ORIGIN) == user
        assert ways_in(here, user) == ["theirs"]
        assert accounts.proofs[user].how == "mail"

    office(main)


def test_a_password_by_mail_keeps_the_second_factor_of_who_was_proved() -> None:
    async def main(here: Office) -> None:
        user, accounts = await here.hire("bob"), here.accounts
        await dig_in(here, user)
        await accounts.write_letter("l", user, RESET, ORIGIN)
        await accounts.reset_by_letter("l", "new", ORIGIN)
        assert accounts.has_factor(user)
        assert accounts.users[user].subject == "idp|squatter"
        assert accounts.token_of("token", accounts.time_s) is None
        assert not [one for one in accounts.sign_ins.values() if one.principal == USER + user]

    office(main)


def test_who_is_signed_in_and_opens_the_letter_keeps_all() -> None:
    async def main(here: Office) -> None:
        user, accounts = await claim(here), here.accounts
        await dig_in(here, user)
        before = ways_in(here, user)
        await accounts.write_letter("l", user, PROVE, ORIGIN)
        await refused("forbidden", accounts.prove_by_letter("l", here.ann, ORIGIN))
        await accounts.prove_by_letter("l", user, ORIGIN)
        assert ways_in(here, user) == before
        assert accounts.is_proved(user)
        await refused("taken", accounts.write_letter("m", user, PROVE, ORIGIN))

    office(main)


def test_a_letter_is_good_once_for_its_purpose_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # V3
    monkeypatch.setitem(proofs.LETTER_S, RESET, 100.0)  # the kit's hours are shorter

    async def main(here: Office) -> None:
        user, accounts = await claim(here), here.accounts
        await accounts.write_letter("l", user, RESET, ORIGIN)
        await refused("expired", accounts.prove_by_letter("l", user, ORIGIN))
        await refused("expired", accounts.reset_by_letter("x", "v", ORIGIN))
        await accounts.reset_by_letter("l", "v", ORIGIN)
        await refused("expired", accounts.reset_by_letter("l", "w", ORIGIN))
        await accounts.write_letter("m", user, RESET, ORIGIN)
        await here.world.elapse(101)
        await refused("expired", accounts.reset_by_letter("m", "w", ORIGIN))
        assert accounts.users[user].verifier == "v"
        assert accounts.has_expired(accounts.time_s)
        await accounts.expire()
        assert accounts.letters == {}

    office(main)


def test_letters_do_not_follow_each_other_at_once_and_make_no_former_one_void() -> None:  # V3
    async def main(here: Office) -> None:
        user, accounts = await claim(here), here.accounts
        await accounts.write_letter("l", user, RESET, ORIGIN)
        await refused("wait", accounts.write_letter("m", user, RESET, ORIGIN))
        await accounts.write_letter("p", user, PROVE, ORIGIN)  # another purpose
        await here.world.elapse(61)
        await accounts.write_letter("m", user, RESET, ORIGIN)  # a stranger has asked for it
        await accounts.reset_by_letter("l", "v", ORIGIN)
        await refused("expired", accounts.reset_by_letter("m", "w", ORIGIN))
        await accounts.write_letter("n", user, RESET, ORIGIN)
        await accounts.set_disabled(here.as_ann, user, True, ORIGIN)
        await refused("expired", accounts.reset_by_letter("n", "v", ORIGIN))
        await refused("not_found", accounts.write_letter("o", user, RESET, ORIGIN))

    office(main)


def test_an_account_has_few_open_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proofs, "BETWEEN_S", 0.0)

    async def main(here: Office) -> None:
        user, accounts = await claim(here), here.accounts
        for number in range(proofs.LETTERS_EACH + 2):
            await accounts.write_letter(f"l{number}", user, RESET, ORIGIN)
            await here.world.elapse(1)
        assert len(accounts.letters) == proofs.LETTERS_EACH
        await refused("expired", accounts.reset_by_letter("l1", "v", ORIGIN))
        await accounts.reset_by_letter("l2", "v", ORIGIN)
        assert accounts.letters == {}

    office(main)


def test_an_address_is_linked_by_a_provider_where_it_is_proved() -> None:  # V1
    async def main(here: Office) -> None:
        user, accounts = await claim(here), here.accounts
        await refused("unproved", accounts.link_by_address("idp|ceo", CEO, ORIGIN))
        nobody = accounts.link_by_address("idp|x", "x@corp.example", ORIGIN)
        await refused("no_account", nobody)
        await accounts.confirm(here.as_ann, user, False, ORIGIN)
        assert await accounts.link_by_address("idp|ceo", CEO, ORIGIN) == user
        await refused("taken", accounts.link_by_address("idp|other", CEO, ORIGIN))
        await accounts.set_disabled(here.as_ann, user, True, ORIGIN)
        await refused("switched_off", accounts.link_by_address("idp|ceo", CEO, ORIGIN))

    office(main)


def test_of_a_link_by_address_and_a_proof_that_meet_either_is_whole() -> None:
    async def main(here: Office) -> None:
        user = await claim(here)
        one, other = here.at
        linking = one.link_by_address("idp|ceo", CEO, ORIGIN)
        await other.confirm(here.as_ann, user, True, ORIGIN)
        code = ""
        try:
            await linking
        except AccountError as error:
            code = error.code
        await one.refresh()
        assert one.users[user].subject == ("" if code else "idp|ceo")
        assert code in ("", "unproved")
        assert one.users[user].verifier == ""

    for seed in range(8):
        office(main, seed, nodes=2)


def test_an_account_that_was_linked_before_there_were_proofs_is_cleared_by_the_provider() -> None:
    async def main(here: Office) -> None:
        user, accounts = await claim(here), here.accounts
        await dig_in(here, user)
        await accounts.set_verifier(USER + user, user, "squatter", "", ORIGIN)
        elsewhere = accounts.prove_at_provider(user, "idp|squatter", "eve@example.org", ORIGIN)
        assert not await elsewhere
        assert not accounts.is_proved(user)
        assert await accounts.prove_at_provider(user, "idp|squatter", CEO, ORIGIN)
        assert ways_in(here, user) == ["idp|squatter"]
        assert not await accounts.prove_at_provider(user, "idp|squatter", CEO, ORIGIN)

    office(main)


def test_what_a_provider_has_said_of_an_account_of_before_stays_when_it_gets_a_password() -> None:
    async def main(here: Office) -> None:
        accounts = here.accounts
        await accounts.invite(here.as_ann, "i", HOME, Role.VIEWER, "", 900.0, ORIGIN)
        user = await accounts.accept_as_new("i", "Bob", CEO, "", "idp|bob", ORIGIN)
        former = User(user, "Bob", CEO, "", 0.0, subject="idp|bob")
        assert accounts.users[user].subject == former.subject
        await accounts.set_verifier(here.as_ann, user, "v", "", ORIGIN)
        assert accounts.is_proved(user)

    office(main)


def test_only_who_manages_accounts_confirms() -> None:
    async def main(here: Office) -> None:
        user, bob = await claim(here), USER + await here.hire("bob", Role.EDITOR)
        await refused("forbidden", here.accounts.confirm(bob, user, False, ORIGIN))
        await refused("forbidden", here.accounts.confirm(USER + user, user, False, ORIGIN))
        await refused("not_found", here.accounts.confirm(here.as_ann, "x", False, ORIGIN))

    office(main)


def test_an_invitation_for_an_address_proves_it_when_an_owner_of_accounts_gave_it() -> None:
    async def main(here: Office) -> None:
        accounts, by = here.accounts, here.as_ann
        await accounts.invite(by, "i", HOME, Role.VIEWER, CEO, 900.0, ORIGIN)
        user = await accounts.accept_as_new("i", "Ceo", CEO, "v", "", ORIGIN)
        assert accounts.proofs[user].how == "owner"
        bob = await here.hire("bob", Role.NONE)
        await accounts.add_workspace(by, "choir", "Choir", ORIGIN)
        await accounts.set_role(by, "choir", bob, Role.OWNER, ORIGIN)
        cfo = "cfo@corp.example"
        await accounts.invite(USER + bob, "j", "choir", Role.VIEWER, cfo, 900.0, ORIGIN)
        other = await accounts.accept_as_new("j", "Cfo", cfo, "v", "", ORIGIN)
        assert not accounts.is_proved(other)

    office(main)
