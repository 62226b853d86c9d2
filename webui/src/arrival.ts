/**
 * Where the focus goes when a link of the page itself leads to another page: nothing is loaded
 * then, so the browser leaves it nowhere, and screen readers say nothing.
 */

let isMoved = false;

/** The page shows another of its pages from now on. */
export function moved(): void {
  isMoved = true;
}

function isFree(): boolean {
  return isMoved && (document.activeElement ?? document.body) === document.body;
}

/** The main part of a page: the focus goes there, unless something in it has it already. */
export function arrive(main: HTMLElement): void {
  if (isFree()) stand(main);
  isMoved = false;
}

/** A field to begin with, where the page has just been made. */
export function begin(field: HTMLInputElement | HTMLTextAreaElement): void {
  if (!isFree()) return;
  field.focus();
  field.select();
}

/** The focus goes to an element that is none to stop at. */
export function stand(element: HTMLElement): void {
  element.tabIndex = -1;
  element.focus({ preventScroll: true });
}
