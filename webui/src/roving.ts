/**
 * One stop for the Tab key in a toolbar: arrows, Home and End go from tool to tool, as the ARIA
 * practices have it.
 */

const TOOLS = "button,select,a[href]";
const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** Makes the tools of this toolbar one stop; undone by what it gives. */
export function roving(toolbar: HTMLElement): () => void {
  let current: HTMLElement | null = null;

  const tools = (): HTMLElement[] =>
    [...toolbar.querySelectorAll<HTMLElement>(TOOLS)].filter((tool) => !tool.matches(":disabled"));

  const mark = (): void => {
    const all = tools();
    if (current === null || !all.includes(current)) current = all[0] ?? null;
    for (const tool of toolbar.querySelectorAll<HTMLElement>(TOOLS)) {
      const place = tool === current ? 0 : -1;
      if (tool.tabIndex !== place) tool.tabIndex = place;
    }
  };

  const focused = (event: FocusEvent): void => {
    const tool = event.target instanceof Element ? event.target.closest<HTMLElement>(TOOLS) : null;
    if (tool === null) return;
    current = tool;
    mark();
  };

  const pressed = (event: KeyboardEvent): void => {
    const all = tools();
    const place = all.indexOf(document.activeElement as HTMLElement);
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
    if (place < 0 || !isPlain) return;
    const step = STEPS[event.key];
    let next: HTMLElement | undefined;
    if (event.key === "Home") next = all[0];
    else if (event.key === "End") next = all.at(-1);
    else if (step !== undefined) next = all[(place + step + all.length) % all.length];
    if (next === undefined) return;
    event.preventDefault();
    next.focus();
  };

  // Tools come, go, and are switched off with what is selected.
  const observer = new MutationObserver(mark);
  observer.observe(toolbar, { childList: true, subtree: true, attributeFilter: ["disabled"] });
  toolbar.addEventListener("focusin", focused);
  toolbar.addEventListener("keydown", pressed);
  mark();
  return () => {
    observer.disconnect();
    toolbar.removeEventListener("focusin", focused);
    toolbar.removeEventListener("keydown", pressed);
  };
}
