"""What a person has typed into the text, and what has become of it: in the text, or a draft."""

from __future__ import annotations

from tests.end_to_end.browser import BrowserTab
from tests.end_to_end.cluster import eventually

NOTE = """() => {
  window.typed = "";
  const text = document.querySelector("[data-testid=editor]");
  text.addEventListener("input", ({ data }) => { window.typed += data ?? ""; });
}"""


async def note_typed(tab: BrowserTab) -> None:
    """Note from now on the letters that the browser puts into the text, for `typed`.

    Where the person may not write it puts none there. What is refused is shown no more while they
    type on, so what was shown at one time says less.
    """
    await tab.page.evaluate(NOTE)


async def typed(tab: BrowserTab) -> str:
    """All letters since `note_typed`, in the order in which they were typed."""
    return str(await tab.page.evaluate("() => window.typed"))


async def draft_text(tab: BrowserTab) -> str:
    """What is kept for the person."""
    return "".join(await tab.page.locator(".draft-text").all_inner_texts())


async def the_same(ann: BrowserTab, bob: BrowserTab) -> str:
    """Wait until both show the same; the text."""

    async def is_same() -> bool:
        return await bob.texts() == await ann.texts()

    await eventually(is_same, "both show the same")
    return (await ann.texts())[0]


async def all_comes_back(ann: BrowserTab, bob: BrowserTab, before: str) -> None:
    """Wait until what stands behind this, and then what is kept for Bob, is all that he typed."""

    async def parts() -> tuple[str, str, str]:
        return await the_same(ann, bob), await draft_text(bob), before + await typed(bob)

    async def all_there() -> bool:
        stands, kept, wrote = await parts()
        return stands + kept == wrote

    try:
        await eventually(all_there, "what stands, and what is kept for Bob, is all that he typed")
    except AssertionError:
        print(*map(repr, await parts()), sep="\n")
        raise
