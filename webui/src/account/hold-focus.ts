/**
 * The focus through a change that switches off what has it, or puts it at another place: the
 * browser takes the focus from it then.
 */

/** Gives what is to be called behind the change: what has the focus now has it again. */
export function holdFocus(): () => void {
  const held = document.activeElement;
  return () => {
    if (!(held instanceof HTMLElement || held instanceof SVGElement)) return;
    const isLost = (document.activeElement ?? document.body) === document.body;
    if (isLost && held !== document.body && held.isConnected) held.focus({ preventScroll: true });
  };
}
