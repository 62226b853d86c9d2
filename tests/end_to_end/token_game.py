"""Games of tokens in real browsers: four pages on three nodes, offline and on, nodes killed.

`python -m tests.end_to_end.token_game --games N --seed S` prints at last one line of JSON with
`games`, `tokens`, `missing`, `torn`, `doubled` and `apart`, and ends with 1 unless the last four
are 0. What people do, and when they are cut off and nodes killed, is drawn from the seed; which
block an act meets depends on what the page shows by then.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import aiohttp
from playwright.async_api import Browser, Error

from tests.chromium import chromium
from tests.end_to_end.browser import running_browser
from tests.end_to_end.cluster import NAMES, Cluster, running_cluster
from tests.end_to_end.token_badge import SETTLED, false_saves
from tests.end_to_end.token_evidence import RECORD, Event, events_of, write
from tests.end_to_end.token_page import TokenPage

LETTERS = "ABCD"
TOKEN = re.compile(r"\[[A-Z]\d{4}\]")
FIGURES = ("tokens", "missing", "torn", "doubled", "apart")
LINES = 5
ACTS = ("type",) * 9 + ("split", "split", "join", "join", "cut", "cut", "cut") + (
    "move", "kind", "erase", "undo", "undo", "redo",
)  # fmt: skip
SETTLED_S = 60.0
READY_S = 120.0
"""So long a node that was killed may take to be back, on a machine that has more to do."""
STORED_S = 10.0
"""So long after the badge says saved the page's store may still keep what is saved."""
EVIDENCE = Path(__file__).resolve().parents[2] / "build" / "games"
"""Where failed games leave what they have recorded."""


@dataclass
class Outcome:
    """What has become of the tokens of a game."""

    seed: int
    tokens: int = 0
    missing: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    apart: list[str] = field(default_factory=list)
    journal: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Nothing is wrong."""
        return not (self.missing or self.torn or self.doubled or self.apart)

    @property
    def figures(self) -> dict[str, int]:
        """How many tokens there were, and how many things are wrong, by kind."""
        wrong = {kind: len(getattr(self, kind)) for kind in FIGURES[1:]}
        return {"tokens": self.tokens, **wrong}

    def judge(
        self, places: list[tuple[str, str]], tokens: list[str], taken: set[str], drafts: str
    ) -> None:
        """Look for the tokens in the texts of all places.

        What undo has touched, or its writer has taken out (`taken`), may be there or not. Nobody
        removes a block in these games: who is shown a draft has lost its place.
        """
        self.tokens = len(tokens)
        for token in tokens:
            kept = ", and is a draft" if token in drafts else ""
            times = {where: text.count(token) for where, text in places}
            nowhere = [where for where, count in times.items() if count == 0]
            twice = [where for where, count in times.items() if count > 1]
            if nowhere and token not in taken:
                self.missing.append(f"{token} at {' '.join(nowhere)}{kept}")
            if twice or (kept and not nowhere):
                self.doubled.append(f"{token} at {' '.join(twice)}{kept}")
        # Undo may take a part of what was typed back: what it has left of it is no tear.
        left = "|".join(re.escape(token[:count]) for token in taken for count in range(6, 0, -1))
        for where, text in places:
            rest = re.sub(r"(?m)^[\s#>*\-\d.]*|\s|Plan", "", TOKEN.sub("", text))
            if rest and not re.fullmatch(f"({left})*", rest):
                self.torn.append(f"{rest} at {where}")

    def __str__(self) -> str:
        wrong = [f"{kind}: {one}" for kind in FIGURES[1:] for one in getattr(self, kind)]
        again = f"to see it again: make game GAMES=1 SEED={self.seed}"
        return "\n".join([f"seed {self.seed}", *wrong, *self.journal, again])


class TokenGame:
    """One game on a cluster; `offline`, `kills`: whether people and nodes are cut off."""

    def __init__(
        self,
        cluster: Cluster,
        browser: Browser,
        seed: int,
        *,
        acts: int = 14,
        offline: bool = True,
        kills: bool = True,
    ) -> None:
        self._cluster = cluster
        cluster.ready_s = READY_S
        self._browser = browser
        self._acts = acts
        self._offline = offline
        self._kills = kills
        self.outcome = Outcome(seed)
        self.is_over = False
        self._clipboards = asyncio.Lock()
        self._began_s = 0.0
        self._began = 0.0
        self._events: list[Event] = []
        self._addresses = {
            name: node.url.removeprefix("http://") for name, node in cluster.nodes.items()
        }

    async def play(self) -> Outcome:
        """The whole game."""
        outcome = self.outcome
        first = [f"[{letter}{0:04d}]" for letter in LETTERS]
        doc = await self._cluster.create("a", "\n\n".join("".join(first) for _ in range(1)))
        pages = [await self._page(at, doc) for at in range(len(LETTERS))]
        try:
            self._began_s, self._began = asyncio.get_running_loop().time(), time.time()
            await asyncio.gather(*(self._live(page) for page in pages), self._kill())
            for page in pages:
                await page.context.set_offline(False)
            for page in pages:
                for at in range(10):
                    if page.clipboard:
                        self._note(page.letter, await page.act("cut", Random(at)))
                page.erased.update({page.clipboard} - {""})
            await self._judge(doc, pages, first)
            await self._judge_badges(pages)
            if not outcome.is_whole:
                self._keep()
            self.is_over = True
        finally:
            for page in pages:
                await page.context.close()
        return outcome

    def _keep(self) -> None:
        path = EVIDENCE / f"seed-{self.outcome.seed}-{int(self._began)}.txt"
        write(path, str(self.outcome), self._events, self._began)
        self.outcome.journal.append(f"evidence: {path}")

    async def _page(self, at: int, doc: str) -> TokenPage:
        context = await self._browser.new_context(
            viewport={"width": 1280, "height": 800},
            permissions=["clipboard-read", "clipboard-write"],
            service_workers="block",
        )
        await context.add_init_script(RECORD)
        page = TokenPage(LETTERS[at], context, await context.new_page(), self._clipboards)
        await page.begin(f"{self._cluster.nodes[NAMES[at % len(NAMES)]].url}/doc/{doc}")
        return page

    def _note(self, who: str, what: str) -> None:
        now_s = asyncio.get_running_loop().time() - self._began_s
        self.outcome.journal.append(f"{now_s:6.2f} {who} {what}")
        self._events.append((time.time(), who, "act", what))

    def _draw(self, who: str) -> Random:
        return Random(f"{self.outcome.seed}-{who}")

    async def _live(self, page: TokenPage) -> None:
        """A person's acts; once or twice a game without a connection for some of them."""
        draw = self._draw(page.letter)
        for _ in range(LINES):  # so that there is something to split and join
            if draw.random() < 0.6:
                self._note(page.letter, await page.act("type", draw))
        is_off = False
        for _ in range(self._acts):
            if self._offline and draw.random() < (0.35 if is_off else 0.15):
                is_off = not is_off
                await page.context.set_offline(is_off)
                self._note(page.letter, "offline" if is_off else "online")
            kind = draw.choice(ACTS)
            pause_s = draw.random() * 0.5
            self._note(page.letter, await page.act(kind, draw))
            await asyncio.sleep(pause_s)
        await page.context.set_offline(False)

    async def _kill(self) -> None:
        """A node is killed, and started again."""
        draw = self._draw("kill")
        name, delay_s, away_s = draw.choice(NAMES), 1 + 3 * draw.random(), 0.5 + 2 * draw.random()
        if not self._kills:
            return
        await asyncio.sleep(delay_s)
        self._note(name, "kill -9")
        await self._cluster.nodes[name].kill()
        await asyncio.sleep(away_s)
        self._cluster.nodes[name] = await self._cluster.spawn(name, http=self._addresses[name])
        await self._cluster.ready(name)
        self._note(name, "is back")

    # --- at the end -----------------------------------------------------------------------------

    async def _markdowns(self, doc: str) -> list[str]:
        found = []
        for node in self._cluster.nodes.values():
            address = f"{node.url}/api/v1/documents/{doc}/markdown"
            found.append(str((await self._cluster.get(address))[1]).replace("\\", ""))
        return found

    async def _judge(
        self, doc: str, pages: list[TokenPage], first: list[str], interval_s: float = 0.3
    ) -> None:
        outcome = self.outcome
        loop = asyncio.get_running_loop()
        deadline = loop.time() + SETTLED_S
        while True:
            stands = [await page.standing() for page in pages]
            try:
                nodes = await self._markdowns(doc)
            except (aiohttp.ClientError, TimeoutError):
                nodes = ["", "(no answer)"]
            texts = ["\n".join(stand["texts"]) for stand in stands]
            counts = [Counter(TOKEN.findall(text)) for text in (*texts, *nodes)]
            is_one = len(set(texts)) == 1 == len(set(nodes)) and counts[0] == counts[-1]
            if is_one and all(stand["state"] in SETTLED for stand in stands):
                break
            if loop.time() > deadline:
                outcome.apart.append(f"after {SETTLED_S:g} s: {stands}\n{nodes}")
                break
            await asyncio.sleep(interval_s)
        drafts = "\n".join(text for stand in stands for text in stand["drafts"])
        for page in pages:
            outcome.apart += page.problems
        places = [*zip(LETTERS, texts, strict=True), *zip(NAMES, nodes, strict=False)]
        tokens = [*first, *(token for page in pages for token in page.written)]
        taken = set[str]().union(*(page.taken | page.erased for page in pages))
        outcome.journal.append(f"at last {texts[0]!r}, drafts {drafts!r}")
        outcome.judge(places, tokens, taken, drafts)

    async def _judge_badges(self, pages: list[TokenPage], interval_s: float = 0.2) -> None:
        """No badge has said saved of what was not, and no store keeps what is."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + STORED_S
        for page in pages:
            while (await page.standing())["state"] == "saved" and (kept := await page.kept()):
                if loop.time() > deadline:
                    self.outcome.apart.append(f"false: {page.letter} says saved, and keeps {kept}")
                    break
                await asyncio.sleep(interval_s)
            events = await events_of(page.letter, page.page)
            self.outcome.apart += false_saves(events)
            self._events += events


async def play_games(
    count: int, seed: int, folder: Path, executable: Path, *, offline: bool = True
) -> list[Outcome]:
    """So many games, one after the other, on one cluster. `offline`: people are that, too."""
    outcomes = []
    async with (
        running_browser(executable) as browser,
        running_cluster(folder, *NAMES) as cluster,
    ):
        for at in range(count):
            game = TokenGame(cluster, browser, seed + at, offline=offline)
            outcomes.append(outcome := game.outcome)
            try:
                await game.play()
            except (AssertionError, Error, aiohttp.ClientError, TimeoutError) as error:
                outcome.apart.append(f"not played to its end: {error}")
            if not outcome.is_whole:
                print(outcome, file=sys.stderr, flush=True)
            print(f"game {seed + at}: {outcome.figures}", file=sys.stderr, flush=True)
            if not game.is_over:
                break  # nobody knows what it has left of the cluster
    return outcomes


def main() -> int:
    """Play, and say what has become of the tokens."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--online", action="store_true", help="nobody is offline")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        playing = play_games(
            given.games, given.seed, Path(folder), chromium(), offline=not given.online
        )
        outcomes = asyncio.run(playing)
    sums = sum((Counter(one.figures) for one in outcomes), Counter())
    print(json.dumps({"games": len(outcomes), **{kind: sums[kind] for kind in FIGURES}}))
    return 0 if all(one.is_whole for one in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
