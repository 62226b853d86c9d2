"""What a person has typed into the text, whatever is shown of it by now."""

from __future__ import annotations

from tests.end_to_end.browser import BrowserTab

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
