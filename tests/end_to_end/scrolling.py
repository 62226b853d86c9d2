"""How a person comes to a block of a document: of a long one what is far is not laid out."""

TWO_FRAMES = """() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(done)))"""

BRING = f"""async (first, place) => {{
  const editor = document.querySelector("[data-testid=editor]");
  // A block whose text comes is drawn by another element.
  const id = first.dataset.blockId;
  const find = () => editor.querySelector(`[data-block-id="${{id}}"]`) ?? first;
  const isDrawn = (block) => block.getClientRects().length > 0
    && getComputedStyle(block).contentVisibility !== "hidden";
  for (let step = 0; step < 50 && !isDrawn(find()); step += 1) {{
    const all = [...editor.children];
    const mean = document.documentElement.scrollHeight / all.length;
    const top = all.findIndex((one) => one.getBoundingClientRect().bottom > 0);
    scrollBy({{ top: (all.indexOf(find()) - top) * mean, behavior: "instant" }});
    await ({TWO_FRAMES})();
  }}
  find().scrollIntoView({{ block: place, behavior: "instant" }});
}}"""
"""Scrolls until the block is there, and then to this place of it."""
