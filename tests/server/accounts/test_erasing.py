"""Erasing a person: in the order, at all nodes alike, and for good."""

from __future__ import annotations

import pytest

from server.accounts.erasing import HAND_OVER, STAY, TRASH
from server.accounts.errors import AccountError
from server.accounts.people import HOME
from server.accounts.roles import ADMIN, USER, Role
from tests.server.accounts.offices import ORIGIN, Office, office


async def settled(here: Office) -> str:
    """Bob, with one of each thing that an account can have; his id."""
    bob = await here.hire("bob")
    accounts, by = here.accounts, USER + bob
    await accounts.file_document(by, "diary", HOME, ORIGIN)
    await accounts.sign_in("sign-in", bob, "a", "Firefox", ORIGIN)
    await accounts.add_token(by, "token", bob, "robot", ("documents:read",), 60.0, ORIGIN)
    await accounts.set_totp(bob, "JBSWY3DPEHPK3PXP", 1, ["recovery"], "", ORIGIN)
    await accounts.add_passkey(bob, "key", "phone", b"public", 0, [], "", ORIGIN)
    await accounts.write_letter("letter", bob, "reset", ORIGIN)
    await accounts.half_sign_in("half", bob)
    await accounts.link_provider(bob, "subject-of-bob", "bob@example.org", ORIGIN)
    await accounts.deny(bob, "", ORIGIN)
    await accounts.invite(here.as_ann, "invited", HOME, Role.VIEWER, "bob@example.org", 60, ORIGIN)
    plan = await here.document()
    await accounts.set_document_role(here.as_ann, plan, bob, Role.EDITOR, ORIGIN)
    link = await accounts.add_link(here.as_ann, "link", plan, Role.VIEWER, 60.0, "", ORIGIN)
    await accounts.enter_link(link, bob, ORIGIN)
    return bob


def test_nothing_of_the_state_says_who_an_erased_account_was() -> None:  # E1
    async def main(here: Office) -> None:
        bob = await settled(here)
        accounts = here.accounts
        await accounts.erase(USER + bob, bob, STAY, "", ORIGIN)
        fields = {
            name: repr(getattr(accounts, name))
            for name in type(accounts).__annotations__ | all_annotations(type(accounts))
        }
        for word in ("bob@example.org", "'bob'", "subject-of-bob", "JBSWY3DPEHPK3PXP", "robot"):
            assert not [name for name, text in fields.items() if word in text], word
        kept = {name for name, text in fields.items() if bob in text.replace("'", " ").split()}
        assert bob not in accounts.users
        assert kept <= {"erased", "notes", "documents"}
        assert accounts.sign_in_of("sign-in", accounts.time_s) is None
        assert accounts.token_of("token", accounts.time_s) is None
        assert accounts.by_email("bob@example.org") is None
        assert accounts.document_role(USER + bob, "plan") is Role.NONE

    office(main)


def all_annotations(kind: type) -> dict[str, object]:
    """The fields of a class and those before it."""
    found: dict[str, object] = {}
    for one in kind.__mro__:
        if one.__module__.startswith("server."):
            found |= one.__annotations__ if "__annotations__" in vars(one) else {}
    return {name: kind for name, kind in found.items() if not name.isupper() and name != "formerly"}


def test_all_nodes_erase_alike_and_a_node_that_joins_has_nothing_of_it() -> None:
    async def main(here: Office) -> None:
        bob = await settled(here)
        await here.accounts.erase(USER + bob, bob, TRASH, "", ORIGIN)
        await here.world.settle()
        for accounts in here.at:
            assert bob in accounts.erased
            assert bob not in accounts.users
            assert accounts.buried("diary") is not None

    office(main, nodes=3)


@pytest.mark.parametrize("fate", [TRASH, STAY])
def test_what_only_the_person_owned_goes_where_they_say(fate: str) -> None:
    async def main(here: Office) -> None:
        bob = await settled(here)
        assert here.accounts.only_theirs(bob) == ["diary"]
        await here.accounts.erase(USER + bob, bob, fate, "", ORIGIN)
        assert (here.accounts.buried("diary") is not None) == (fate == TRASH)
        assert here.accounts.document_role(here.as_ann, "diary") is Role.OWNER

    office(main)


def test_what_only_the_person_owned_is_handed_over() -> None:
    async def main(here: Office) -> None:
        bob, accounts = await settled(here), here.accounts
        eve = await here.hire("eve", Role.NONE)
        space = "choir"
        await accounts.set_role(here.as_ann, HOME, bob, Role.OWNER, ORIGIN)
        await accounts.add_workspace(USER + bob, space, "Choir", ORIGIN)
        await accounts.set_role(USER + bob, space, here.ann, Role.VIEWER, ORIGIN)
        with pytest.raises(AccountError, match="Choir"):
            await accounts.erase(USER + bob, bob, TRASH, "", ORIGIN)
        await accounts.erase(USER + bob, bob, HAND_OVER, eve, ORIGIN)
        assert accounts.workspace_role(USER + eve, space) is Role.OWNER
        assert accounts.document_role(USER + eve, "diary") is Role.OWNER
        assert accounts.workspace_role(USER + eve, HOME) is Role.NONE

    office(main)


def test_a_workspace_of_nobody_else_goes_into_the_trash_and_is_restored_for_nobody() -> None:
    async def main(here: Office) -> None:
        bob, accounts = await settled(here), here.accounts
        await accounts.set_role(here.as_ann, HOME, bob, Role.OWNER, ORIGIN)
        await accounts.add_workspace(USER + bob, "choir", "Choir", ORIGIN)
        await accounts.erase(here.as_ann, bob, STAY, "", ORIGIN)
        assert "choir" in accounts.trash
        eve = await here.hire("eve")
        await accounts.set_disabled(here.as_ann, eve, True, ORIGIN)  # W1 is asked of no trash
        with pytest.raises(AccountError, match="owner"):
            await accounts.restore(ADMIN, ["choir"], ORIGIN)

    office(main)


def test_who_may_not_erase_does_not_and_an_owner_of_the_first_workspace_stays() -> None:
    async def main(here: Office) -> None:
        bob, accounts = await settled(here), here.accounts
        eve = await here.hire("eve")
        for by in (USER + eve, USER + "nobody", "link:x"):
            with pytest.raises(AccountError, match="owner"):
                await accounts.erase(by, bob, STAY, "", ORIGIN)
        with pytest.raises(AccountError, match="Home"):
            await accounts.erase(here.as_ann, here.ann, STAY, "", ORIGIN)
        for heir in (bob, "nobody", ""):
            with pytest.raises(AccountError):
                await accounts.erase(here.as_ann, bob, HAND_OVER, heir, ORIGIN)
        assert bob in accounts.users

    office(main)


def test_an_account_that_was_erased_is_not_erased_twice_nor_made_again() -> None:  # E2
    async def main(here: Office) -> None:
        bob, accounts = await settled(here), here.accounts
        for _ in range(2):
            await accounts.erase(here.as_ann, bob, STAY, "", ORIGIN)
        assert sum(note.what == "user.erased" for note in accounts.notes) == 1
        again = await here.hire("bob")
        assert again != bob
        assert accounts.document_role(USER + again, "diary") is Role.EDITOR, "as in HOME, not more"

    office(main)


def test_a_backup_of_before_is_erased_again_but_no_other_account_of_its_id() -> None:
    async def main(here: Office) -> None:
        bob, accounts = await settled(here), here.accounts
        made_s = accounts.users[bob].created_s
        assert not await accounts.erase_again(bob, made_s + 5, "")
        assert bob in accounts.users
        assert await accounts.erase_again(bob, made_s, "nobody")
        assert not await accounts.erase_again(bob, made_s, "")
        assert bob not in accounts.users
        ann_made_s = accounts.users[here.ann].created_s
        assert await accounts.erase_again(here.ann, ann_made_s, "")
        assert not accounts.has_owner

    office(main)
