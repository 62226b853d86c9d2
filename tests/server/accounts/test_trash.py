"""The trash: nobody writes in it, all of it can be had back, and what is deleted stays so."""

from __future__ import annotations

from groupcore.shared.access import Right
from server.accounts.people import HOME
from server.accounts.roles import KEEPER, USER, Role
from tests.server.accounts.offices import ORIGIN, Office, office
from tests.server.accounts.test_people import refused
from tests.server.accounts.test_shelves import check_tree, code_of, folder, move

DAY_S = 24 * 3600.0


async def throw(here: Office, *items: str) -> None:
    await here.accounts.throw_away(here.as_ann, list(items), ORIGIN)


async def restore(here: Office, *items: str) -> None:
    await here.accounts.restore(here.as_ann, list(items), ORIGIN)


async def delete(here: Office, *items: str) -> int:
    return await here.accounts.delete_for_good(here.as_ann, list(items), ORIGIN)


def test_nobody_writes_in_the_trash_and_all_read_on() -> None:  # T1
    async def main(here: Office) -> None:
        doc = await here.document()
        bob = USER + await here.hire("bob")
        assert here.accounts.rights(doc)[bob] is Right.WRITE
        number = here.accounts.rights_number
        await throw(here, doc)
        assert here.accounts.rights(doc) == {
            KEEPER: Right.MANAGE,
            here.as_ann: Right.READ,
            bob: Right.READ,
        }
        assert here.accounts.rights_number > number
        await restore(here, doc)
        assert here.accounts.rights(doc)[bob] is Right.WRITE

    office(main)


def test_a_folder_takes_what_is_in_it_along_and_gives_it_back() -> None:
    async def main(here: Office) -> None:
        accounts = here.accounts
        await folder(here, "f")
        await folder(here, "g", "f")
        inside, alone = await here.document("inside"), await here.document("alone")
        await move(here, here.as_ann, inside, "g")
        await move(here, here.as_ann, alone, "g")
        await throw(here, alone)
        await throw(here, "f")
        assert accounts.rights(inside)[here.as_ann] is Right.READ
        found = accounts.buried(inside)
        assert found is not None
        assert found.by == here.as_ann
        await refused("trashed", move(here, here.as_ann, inside, ""))
        await refused("trashed", move(here, here.as_ann, await here.document("x"), "g"))
        await refused("trashed", accounts.rename_folder(here.as_ann, "g", "G", ORIGIN))
        await refused("not_found", accounts.restore(here.as_ann, [inside], ORIGIN))
        await restore(here, "f")
        assert accounts.buried(inside) is None
        assert accounts.parents(inside) == ["g", "f"]
        assert accounts.buried(alone) is not None

    office(main)


def test_restored_it_is_in_the_nearest_place_that_there_is() -> None:
    async def main(here: Office) -> None:
        accounts = here.accounts
        await folder(here, "f")
        await folder(here, "g", "f")
        for name in ("one", "two", "three"):
            await here.document(name)
            await move(here, here.as_ann, name, "g")
            await throw(here, name)
        await throw(here, "g")
        await restore(here, "one")
        assert accounts.parents("one") == ["f"]
        assert await delete(here, "g") == 0
        assert accounts.parents("two") == ["f"]
        await throw(here, "f")
        await restore(here, "two")
        assert accounts.parents("two") == []
        await delete(here, "f")
        await restore(here, "three")
        assert (accounts.parents("three"), list(accounts.folders)) == ([], [])
        check_tree(accounts)

    office(main)


def test_a_folder_comes_back_under_a_name_that_is_free() -> None:
    async def main(here: Office) -> None:
        await folder(here, "f", name="Tours")
        await throw(here, "f")
        await folder(here, "g", name="Tours")
        await restore(here, "f")
        assert here.accounts.folders["f"].name == "Tours 2"
        check_tree(here.accounts)

    office(main)


def test_a_folder_in_the_trash_survives_the_folder_that_it_was_in() -> None:
    async def main(here: Office) -> None:
        await folder(here, "f")
        await folder(here, "g", "f")
        await folder(here, "h", "g")
        doc = await here.document()
        await move(here, here.as_ann, doc, "h")
        await throw(here, "g")
        await throw(here, "f")
        assert await delete(here, "f") == 0
        assert list(here.accounts.folders) == ["g", "h"]
        await restore(here, "g")
        assert here.accounts.parents(doc) == ["h", "g"]
        check_tree(here.accounts)

    office(main)


def test_what_is_deleted_has_no_people_and_no_links_and_its_id_is_not_given_again() -> None:  # T2
    async def main(here: Office) -> None:
        accounts, doc = here.accounts, await here.document()
        await accounts.add_link(here.as_ann, "digest", doc, Role.VIEWER, DAY_S, "", ORIGIN)
        await refused("not_found", accounts.delete_for_good(here.as_ann, [doc], ORIGIN))
        await throw(here, doc)
        bob = USER + await here.hire("bob")
        await refused("forbidden", accounts.delete_for_good(bob, [doc], ORIGIN))
        assert await delete(here, doc) == 1
        assert accounts.rights(doc) == {KEEPER: Right.MANAGE}
        assert not accounts.links
        assert not accounts.document_roles
        assert not accounts.trash
        assert list(accounts.doomed) == [doc]
        for _ in range(2):
            again = accounts.file_document(here.as_ann, doc, HOME, ORIGIN)
            await refused("taken", again)
            assert await accounts.adopt_documents([doc], ORIGIN) == 0
            await accounts.wiped(doc)
        assert not accounts.doomed

    office(main)


def test_the_trash_is_emptied_of_what_is_old() -> None:
    async def main(here: Office) -> None:
        accounts = here.accounts
        await folder(here, "f")
        old, new = await here.document("old"), await here.document("new")
        await move(here, here.as_ann, old, "f")
        await throw(here, "f")
        await here.world.elapse(80.0)
        await throw(here, new)
        assert not accounts.has_old_trash(100.0, accounts.time_s)
        await here.world.elapse(30.0)
        await folder(here, "tick")
        assert accounts.has_old_trash(100.0, accounts.time_s)
        assert await accounts.delete_old(100.0) == 1
        assert set(accounts.documents) == {new}
        assert set(accounts.trash) == {new}
        assert accounts.notes[-1].by == "admin"

    office(main)


def test_who_may_throw_away_and_restore() -> None:
    async def main(here: Office) -> None:
        accounts, doc = here.accounts, await here.document()
        await folder(here, "f")
        eve = USER + await here.hire("eve", Role.VIEWER)
        out = await here.hire("out", Role.NONE)
        await refused("forbidden", accounts.throw_away(eve, [doc], ORIGIN))
        await refused("forbidden", accounts.throw_away(eve, ["f"], ORIGIN))
        await refused("not_found", accounts.throw_away(USER + out, [doc], ORIGIN))
        await accounts.set_document_role(here.as_ann, doc, out, Role.EDITOR, ORIGIN)
        await refused("not_found", accounts.throw_away(USER + out, [doc], ORIGIN))
        await accounts.set_document_role(here.as_ann, doc, out, Role.OWNER, ORIGIN)
        await accounts.throw_away(USER + out, [doc], ORIGIN)
        bob = USER + await here.hire("bob")
        await accounts.restore(bob, [doc], ORIGIN)
        await accounts.throw_away(bob, [doc, "f"], ORIGIN)
        await refused("forbidden", accounts.delete_for_good(bob, ["f"], ORIGIN))
        await refused("bad_request", accounts.throw_away(bob, [], ORIGIN))

    office(main)


def test_a_workspace_goes_empty_or_with_everything_to_the_trash() -> None:
    async def main(here: Office) -> None:
        accounts, by = here.accounts, here.as_ann
        await accounts.add_workspace(by, "empty", "Empty", ORIGIN)
        assert await accounts.remove_workspace(by, "empty", False, ORIGIN)
        await refused("forbidden", accounts.remove_workspace(by, HOME, True, ORIGIN))
        await accounts.add_workspace(by, "choir", "Choir", ORIGIN)
        bob = await here.hire("bob")
        await accounts.set_role(by, "choir", bob, Role.EDITOR, ORIGIN)
        await accounts.invite(by, "inv", "choir", Role.EDITOR, "", DAY_S, ORIGIN)
        await accounts.make_folder(by, "f", "choir", "", "F", ORIGIN)
        await accounts.file_into(by, "song", "choir", "f", ORIGIN)
        await refused("not_empty", accounts.remove_workspace(by, "choir", False, ORIGIN))
        await refused("forbidden", accounts.remove_workspace(USER + bob, "choir", True, ORIGIN))
        assert not await accounts.remove_workspace(by, "choir", True, ORIGIN)
        assert accounts.rights("song")[USER + bob] is Right.READ
        await refused("trashed", accounts.file_into(by, "new", "choir", "", ORIGIN))
        await accounts.restore(by, ["choir"], ORIGIN)
        assert accounts.rights("song")[USER + bob] is Right.WRITE
        await accounts.remove_workspace(by, "choir", True, ORIGIN)
        assert await delete(here, "choir") == 1
        assert list(accounts.workspaces) == [HOME]
        assert not accounts.folders
        assert not accounts.invitations
        assert not accounts.trash
        assert list(accounts.doomed) == ["song"]

    office(main)


def test_throwing_away_and_moving_at_once_is_one_or_the_other() -> None:
    async def main(here: Office) -> None:
        await folder(here, "f")
        doc = await here.document()
        one, other = here.at
        thrown = one.throw_away(here.as_ann, [doc], ORIGIN)
        moved = other.move(here.as_ann, [doc], HOME, "f", ORIGIN)
        await thrown
        assert await code_of(moved) in ("", "trashed")
        assert here.accounts.buried(doc) is not None

    for seed in range(3):
        office(main, seed, nodes=2)
