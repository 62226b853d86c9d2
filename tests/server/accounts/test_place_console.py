"""The console looks at groups of places as at all others, and says what they are called."""

from __future__ import annotations

from tests.server.accounts.people import Browser
from tests.server.accounts.test_place_rights import board_of, enter
from tests.server.support import eventually


async def test_the_console_shows_cells_of_a_place_by_its_title_and_in_the_overlap(
    ann: Browser,
) -> None:
    doc = await board_of(ann)
    async with await ann.page() as page:
        cell = await enter(page, doc)

        async def is_shown() -> bool:
            status, found = await ann.ask("GET", "/admin/groups?search=place/")
            assert status == 200, found
            rows = {row["name"]: row for row in found["groups"]}
            return cell in rows and rows[cell]["title"] == "Board"

        await eventually(is_shown, "the cell is in the list, with the place's title")
        status, overlap = await ann.ask("GET", "/admin/overlap")
        assert status == 200, overlap
