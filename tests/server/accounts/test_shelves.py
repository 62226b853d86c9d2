"""Folders and moves: who may, what cannot be, and what the order decides."""

from __future__ import annotations

import random

from groupcore.shared.pending import Pending
from server.accounts.errors import AccountError
from server.accounts.people import HOME
from server.accounts.roles import ADMIN, USER, Role
from server.accounts.shelves import DEPTH_MAX, Shelves
from tests.server.accounts.offices import ORIGIN, Office, office
from tests.server.accounts.test_people import refused


async def folder(here: Office, id: str, parent: str = "", name: str = "") -> str:
    """A folder of Ann's in HOME."""
    await here.accounts.make_folder(here.as_ann, id, HOME, parent, name or id, ORIGIN)
    return id


async def move(here: Office, by: str, item: str, place: str, workspace: str = HOME) -> None:
    await here.accounts.move(by, [item], workspace, place, ORIGIN)


async def code_of(work: Pending[None]) -> str:
    """With which code it was refused; empty when it was done."""
    try:
        await work
    except AccountError as error:
        return error.code
    return ""


def check_tree(accounts: Shelves) -> None:
    """F1, F2, F3."""
    names = set()
    for one in accounts.folders.values():
        above = accounts.parents(one.id)
        assert one.id not in above
        assert len(above) < DEPTH_MAX
        assert all(accounts.folders[up].workspace == one.workspace for up in above)
        if one.id not in accounts.trash:
            place = one.workspace, one.parent, one.name.casefold()
            assert place not in names
            names.add(place)


def test_a_document_is_made_in_a_folder_and_moved() -> None:
    async def main(here: Office) -> None:
        await folder(here, "f")
        await here.accounts.file_into(here.as_ann, "plan", HOME, "f", ORIGIN)
        assert here.accounts.parents("plan") == ["f"]
        await move(here, here.as_ann, "plan", "")
        assert here.accounts.parents("plan") == []
        await refused("not_found", move(here, here.as_ann, "plan", "none"))
        await refused("not_found", move(here, here.as_ann, "none", "f"))

    office(main)


def test_folders_of_one_place_have_different_names() -> None:  # F3
    async def main(here: Office) -> None:
        await folder(here, "a", name="Tours")
        await folder(here, "b", name="TOURS")
        await folder(here, "c", name="tours")
        names = [one.name for one in here.accounts.folders.values()]
        assert names == ["Tours", "TOURS 2", "tours 3"]
        renamed = await here.accounts.rename_folder(here.as_ann, "c", "Tours", ORIGIN)
        assert renamed.name == "Tours 3"
        await folder(here, "d", "a", "Tours")
        await move(here, here.as_ann, "d", "")
        assert here.accounts.folders["d"].name == "Tours 4"
        for bad in ("", "  ", "x" * 121, "a\x00b"):
            await refused("bad_request", here.accounts.rename_folder(here.as_ann, "c", bad, ORIGIN))
        longest = await here.accounts.rename_folder(here.as_ann, "c", "x" * 120, ORIGIN)
        assert len(longest.name) == 120

    office(main)


def test_folders_are_nested_eight_deep_and_not_deeper() -> None:  # F2
    async def main(here: Office) -> None:
        above = ""
        for number in range(DEPTH_MAX):
            above = await folder(here, f"f{number}", above)
        too_deep = here.accounts.make_folder(here.as_ann, "more", HOME, above, "more", ORIGIN)
        await refused("too_deep", too_deep)
        await folder(here, "other")
        await refused("too_deep", move(here, here.as_ann, "f0", "other"))
        await move(here, here.as_ann, "other", "f6")
        check_tree(here.accounts)

    office(main)


def test_a_folder_never_goes_into_itself_however_moves_meet() -> None:  # F1
    async def main(here: Office) -> None:
        await folder(here, "a")
        await folder(here, "b")
        await folder(here, "c", "a")
        await refused("cycle", move(here, here.as_ann, "a", "a"))
        await refused("cycle", move(here, here.as_ann, "a", "c"))
        one, other = here.at
        moves = [
            one.move(here.as_ann, ["a"], HOME, "b", ORIGIN),
            other.move(here.as_ann, ["b"], HOME, "c", ORIGIN),
        ]
        assert sorted([await code_of(pending) for pending in moves]) == ["", "cycle"]
        check_tree(here.accounts)

    for seed in range(4):
        office(main, seed, nodes=2)


def test_any_moves_at_two_nodes_leave_a_tree() -> None:
    async def main(here: Office) -> None:
        draw = random.Random(7)
        ids = [await folder(here, f"f{number}") for number in range(10)]
        pendings = []
        for _ in range(120):
            at, item, place = draw.choice(here.at), draw.choice(ids), draw.choice(["", *ids])
            pendings.append(at.move(here.as_ann, [item], HOME, place, ORIGIN))
        for pending in pendings:
            assert await code_of(pending) in ("", "cycle", "too_deep")
        check_tree(here.accounts)

    office(main, 5, nodes=2)


def test_editors_arrange_and_viewers_and_strangers_do_not() -> None:
    async def main(here: Office) -> None:
        await folder(here, "f")
        doc = await here.document()
        bob, eve = USER + await here.hire("bob"), USER + await here.hire("eve", Role.VIEWER)
        out = USER + await here.hire("out", Role.NONE)
        await move(here, bob, doc, "f")
        await refused("forbidden", move(here, eve, doc, ""))
        await refused("forbidden", here.accounts.rename_folder(eve, "f", "x", ORIGIN))
        await refused("not_found", move(here, out, doc, ""))
        await refused("not_found", here.accounts.rename_folder(out, "f", "x", ORIGIN))
        made = here.accounts.make_folder(eve, "g", HOME, "", "g", ORIGIN)
        await refused("forbidden", made)
        assert here.accounts.parents(doc) == ["f"]

    office(main)


def test_only_owners_take_something_to_another_workspace() -> None:
    async def main(here: Office) -> None:
        doc, accounts = await here.document(), here.accounts
        bob = await here.hire("bob")
        await accounts.add_workspace(here.as_ann, "choir", "Choir", ORIGIN)
        await accounts.set_role(here.as_ann, "choir", bob, Role.EDITOR, ORIGIN)
        await folder(here, "f")
        await folder(here, "g", "f")
        await move(here, here.as_ann, doc, "g")
        await refused("forbidden", move(here, USER + bob, doc, "", "choir"))
        await refused("forbidden", move(here, USER + bob, "f", "", "choir"))
        eve = USER + await here.hire("eve", Role.VIEWER)
        assert accounts.document_role(eve, doc) is Role.VIEWER
        await move(here, here.as_ann, "f", "", "choir")
        assert accounts.documents[doc].workspace == "choir"
        assert accounts.folders["g"].workspace == "choir"
        assert accounts.document_role(eve, doc) is Role.NONE
        own = "bobs"
        await accounts.file_document(USER + bob, own, HOME, ORIGIN)
        await move(here, USER + bob, own, "g", "choir")
        assert accounts.parents(own) == ["g", "f"]
        check_tree(accounts)

    office(main)


def test_a_folder_that_is_asked_for_again_is_made_once() -> None:
    async def main(here: Office) -> None:
        await folder(here, "f", name="One")
        again = await here.accounts.make_folder(here.as_ann, "f", HOME, "", "One", ORIGIN)
        assert (again.name, len(here.accounts.folders)) == ("One", 1)
        bob = USER + await here.hire("bob")
        await refused("taken", here.accounts.make_folder(bob, "f", HOME, "", "One", ORIGIN))
        doc = await here.document()
        await refused("taken", here.accounts.make_folder(bob, doc, HOME, "", "One", ORIGIN))
        bad = here.accounts.make_folder(bob, "a/b", HOME, "", "One", ORIGIN)
        await refused("taken", bad)

    office(main)


def test_what_is_done_with_files_is_in_the_audit_log() -> None:
    async def main(here: Office) -> None:
        await here.accounts.open_home()
        await here.accounts.make_folder(ADMIN, "f", HOME, "", "F", ORIGIN)
        doc = await here.document()
        await move(here, here.as_ann, doc, "f")
        await here.accounts.throw_away(here.as_ann, [doc], ORIGIN)
        await here.accounts.restore(here.as_ann, [doc], ORIGIN)
        await here.accounts.throw_away(here.as_ann, ["f"], ORIGIN)
        await here.accounts.delete_for_good(here.as_ann, ["f"], ORIGIN)
        noted = [(note.what, note.about) for note in here.accounts.notes[-6:]]
        assert noted == [
            ("document.created", doc),
            ("document.moved", f"{doc} home f"),
            ("document.trashed", doc),
            ("document.restored", doc),
            ("folder.trashed", "f"),
            ("folder.deleted", "f"),
        ]

    office(main)
