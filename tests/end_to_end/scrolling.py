"""How a person comes to a block of a document: of a long one what is far is not laid out."""

TWO_FRAMES = """() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(done)))"""

BRING = f"""async (block, place) => {{
  const isDrawn = () => block.getClientRects().length > 0
    && getComputedStyle(block).contentVisibility !== "hidden";
  const all = [...block.parentElement.children];
  const mean = document.documentElement.scrollHeight / all.length;
  for (let step = 0; step < 50 && !isDrawn(); step += 1) {{
    const first = all.findIndex((one) => one.getBoundingClientRect().bottom > 0);
    scrollBy({{ top: (all.indexOf(block) - first) * mean, behavior: "instant" }});
    await ({TWO_FRAMES})();
  }}
  block.scrollIntoView({{ block: place, behavior: "instant" }});
}}"""
"""Scrolls until the block is there, and then to this place of it."""
