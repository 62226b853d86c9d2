"""Pages that follow a part of a place's outline: joined at a cut, followed in order, left."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from groupcore.gateway.gateway import Gateway
from groupcore.gateway.place_kinds import far
from groupcore.shared.places import PlaceOutline
from groupcore.shared.places.digest import CellDigest
from groupcore.shared.places.outlook import Outlook
from groupcore.shared.places.regions import REGIONS_MAX, regions_in
from groupcore.shared.places.squares import ROOT, Box, path_at, quarters, square_of
from tests.groupcore.aio.test_objects import until
from tests.groupcore.web.gateways import Site, tab
from tests.groupcore.web.tabs import Heard, Tab

pytestmark = pytest.mark.slow

NAME = "place/hall"
HERE = (-1, -1, 1, 1)
THERE = (900_000_000, 900_000_000, 900_000_002, 900_000_002)
DEPTH = 7


Far = dict[str, list[Any]]


class Map:
    """What a page knows of a place, from what it heard."""

    def __init__(self) -> None:
        self.tree: dict[str, str] = {}
        self.far: Far = {}
        self.version = 0

    def hear(self, message: Heard) -> None:
        """A snapshot, or changes; what is no news is passed over."""
        if message["t"] == "snapshot":
            state = message["state"]
            for root in state.get("left", [""]):
                for path in [one for one in self.tree if one.startswith(root) and one != root]:
                    self.far.pop(path, None)
                    del self.tree[path]
            self._take(state["tree"], state["far"])
        elif message["version"] > self.version:
            for _, _, _, details in message["items"]:
                for kind, *rest in details:
                    if kind == "tree":
                        self._take(rest[1], [])
                    elif kind == "far":
                        self._take([], rest[0])
        self.version = message["version"]

    def _take(self, tree: list[Any], far: list[Any]) -> None:
        for path, role in tree:
            self.tree[path] = role
            if role == "out":
                del self.tree[path]
            if role != "leaf":
                self.far.pop(path, None)
        for path, *digest in far:
            self.far[path] = digest
            if digest[0] == 0:
                del self.far[path]


async def outlined(site: Site) -> tuple[Gateway, PlaceOutline]:
    """A node with a place that is quartered down to the origin."""
    await site.start("a")
    node = site.cluster.nodes["a"]
    gateway = Gateway(node, {"PlaceOutline": PlaceOutline}, linger_s=0.2)
    site.gateways["places"] = gateway
    outline = await node.session().open(PlaceOutline, NAME)
    await outline.split([path_at(0, 0, depth) for depth in range(DEPTH)])
    return gateway, outline


async def page_of(gateway: Gateway, number: int, sight: tuple[int, ...]) -> tuple[Tab, Map]:
    page, known = tab(number), Map()
    await page.connect(gateway, "ann")
    known.hear(await page.open("PlaceOutline", NAME, sight=list(sight)))
    return page, known


async def heard(page: Tab, known: Map) -> None:
    """Hear all that the page was told up to now: an answer comes behind it."""
    page.say("look", name=NAME, sight=[0, 0, 0, 0])
    await until(lambda: any(one["t"] == "error" for one in page.heard))
    for told in page.heard:
        if told["t"] in ("snapshot", "changes"):
            known.hear(told)
    page.heard = []


def expected(outline: PlaceOutline, sight: tuple[int, ...]) -> tuple[dict[str, str], Far]:
    """What there is to be known of a place by who sees this, made anew."""
    outlook = Outlook(outline)
    regions = outlook.regions(Box(*sight))
    shown = [far(path, digest) for path, digest in outlook.far(regions).items()]
    return dict(outlook.roles(regions)), {str(path): digest for path, *digest in shown}


async def test_p1_a_page_has_the_parts_that_it_sees_as_they_are(site: Site) -> None:
    gateway, outline = await outlined(site)
    page, known = await page_of(gateway, 1, HERE)
    assert known.tree == expected(outline, HERE)[0]
    assert path_at(0, 0, DEPTH) in known.tree
    await outline.split([path_at(*THERE[:2], depth) for depth in (1, 2, 3, 4)])
    lowest = path_at(*THERE[:2], 5)
    await outline.describe(lowest, CellDigest(900, *square_of(lowest), ("red",)))
    await heard(page, known)
    assert (known.tree, known.far) == expected(outline, HERE)
    assert lowest not in known.tree
    assert known.far[path_at(*THERE[:2], 2)][0] == 896  # about as many as there are
    page.say("look", name=NAME, sight=list(THERE))
    await heard(page, known)
    assert (known.tree, known.far) == expected(outline, THERE)
    assert (lowest in known.tree, path_at(0, 0, DEPTH) in known.tree) == (True, False)


async def test_p1_holds_whatever_is_done_while_somebody_looks_around(site: Site) -> None:
    gateway, outline = await outlined(site)
    page, known = await page_of(gateway, 1, HERE)
    draw = Random(198)
    sight = HERE
    for _ in range(150):
        leaves = [one for one, role in outline.tree.items() if role == "leaf"]
        some = draw.choice(leaves)
        chosen = draw.random()
        if chosen < 0.3:
            await outline.split([some, quarters(some)[draw.randrange(4)]])
        elif chosen < 0.45:
            await outline.unite(draw.choice(list(outline.tree)))
        elif chosen < 0.75:
            await outline.describe(some, CellDigest(draw.randrange(400), *square_of(some)))
        else:
            size = 1 << draw.randrange(18, 30)
            x, y = draw.choice([HERE, THERE])[:2]
            sight = (x - size, y - size, x + size, y + size)
            page.say("look", name=NAME, sight=list(sight))
            continue  # what is done next comes in the same frame
        if draw.random() < 0.6:
            await heard(page, known)
            assert (known.tree, known.far) == expected(outline, sight)


async def test_f2_a_page_that_was_too_slow_is_given_its_parts_anew(site: Site) -> None:
    gateway, outline = await outlined(site)
    page, known = await page_of(gateway, 1, HERE)
    page.is_slow = True
    await outline.split([path_at(0, 0, DEPTH)])
    gateway.flush()
    page.say("look", name=NAME, sight=list(THERE))
    await outline.split([path_at(*THERE[:2], 1)])
    gateway.flush()
    assert not [one for one in page.heard if one["t"] in ("changes", "snapshot")]
    page.is_slow = False
    told = await page.hears("snapshot", name=NAME)
    known.hear(told)
    assert "left" not in told["state"]
    assert (known.tree, known.far) == expected(outline, THERE)


async def test_who_comes_back_is_given_what_it_sees_now(site: Site) -> None:
    gateway, outline = await outlined(site)
    page, known = await page_of(gateway, 1, HERE)
    page.lose()
    await outline.split([path_at(0, 0, DEPTH)])
    again = Tab(page.client)
    await again.connect(gateway, "ann")
    had = {"birth": "another", "version": known.version}
    known.hear(await again.open("PlaceOutline", NAME, sight=list(HERE), **had))
    assert known.tree == expected(outline, HERE)[0]


async def test_who_sees_all_is_told_as_before(site: Site) -> None:
    gateway, outline = await outlined(site)
    page = tab(1)
    await page.connect(gateway, "ann")
    state = (await page.open("PlaceOutline", NAME))["state"]
    assert dict(state["tree"]) == dict(outline.tree)
    lowest = path_at(0, 0, DEPTH)
    await outline.describe(lowest, CellDigest(9, 0, 0, 1, 1))
    told = await page.hears("changes", name=NAME)
    assert told["items"][0][3] == [["far", [[lowest, 9, [0, 0, 1, 1], []]]]]


async def test_what_concerns_no_part_is_told_to_all_and_what_is_elsewhere_to_nobody(
    site: Site,
) -> None:
    gateway, outline = await outlined(site)
    page, known = await page_of(gateway, 1, HERE)
    below = [path_at(*THERE[:2], depth) for depth in (1, 2, 3, 4)]
    await outline.split(below)
    await heard(page, known)
    before = known.version
    lowest = path_at(*THERE[:2], 5)
    await outline.split([lowest])
    await outline.rename("Attic")
    told = await page.hears("changes", name=NAME)
    assert (before < told["version"], told["items"][0][2:]) == (
        True,
        ["rename", [["title", "Attic"]]],
    )


@pytest.mark.parametrize(
    "sight", [[0, 0, 1], [0, 0, 0, 0], [1, 0, 0, 1], [0, 0, 1.5, 1], "here", [0, 0, 1 << 60, 1]]
)
async def test_what_is_no_sight_is_refused(site: Site, sight: object) -> None:
    gateway, _ = await outlined(site)
    page, _ = await page_of(gateway, 1, HERE)
    page.say("look", name=NAME, sight=sight)
    assert (await page.hears("error"))["code"] == "bad_message"


async def test_a_type_without_parts_is_followed_as_a_whole(site: Site) -> None:
    [gateway] = await site.start("a")
    page = tab(1)
    await page.connect(gateway)
    page.say("open", name="clicks", type="Counter", sight=list(HERE))
    assert (await page.hears("error", name="clicks"))["code"] == "bad_message"
    page.say("look", name="clicks", sight=list(HERE))
    assert (await page.hears("error", name="clicks"))["code"] == "not_open"


def test_r3_what_is_followed_of_a_tree_has_a_bound_and_the_nearest_comes_first() -> None:
    tree, level = {ROOT: "leaf"}, [ROOT]
    for _ in range(6):
        tree.update(dict.fromkeys(level, "inner"))
        level = [quarter for path in level for quarter in quarters(path)]
        tree.update(dict.fromkeys(level, "leaf"))
    whole = Box(*square_of(ROOT))
    assert len(regions_in(tree, whole)) <= REGIONS_MAX
    spot = Box(1_000, 1_000, 1_001, 1_001)
    found = regions_in(tree, spot)
    assert found == {ROOT, path_at(1_000, 1_000, 2), path_at(1_000, 1_000, 4)}
