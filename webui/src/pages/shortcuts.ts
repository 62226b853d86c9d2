/**
 * The keys of the page, beside those of the text (editor/commands.ts). None is a letter or a sign
 * alone: who speaks to a computer would press it by chance (WCAG 2.1.4).
 */

export type PageAct = "contents" | "find" | "help" | "inspect";

const keys = {
  "Mod-f": "find",
  "Mod-/": "help",
  "Ctrl-Alt-i": "inspect",
  "Ctrl-Alt-o": "contents",
} as const satisfies Record<string, PageAct>;

export type PageKey = keyof typeof keys;
export const pageKeys: readonly string[] = Object.keys(keys);

/** What the page does at this key; null: nothing. */
export function actOf(event: KeyboardEvent): PageAct | null {
  for (const [key, act] of Object.entries(keys)) if (isPressed(key, event)) return act;
  return null;
}

function isPressed(key: string, event: KeyboardEvent): boolean {
  const parts = key.split("-");
  const letter = parts.at(-1) ?? "";
  const isAlt = parts.includes("Alt");
  // With Alt a keyboard may have another sign there.
  const isLetter =
    event.key.toLowerCase() === letter || (isAlt && event.code.at(-1)?.toLowerCase() === letter);
  if (!isLetter || event.altKey !== isAlt) return false;
  if (parts.includes("Mod")) {
    // Some keyboards have a slash above another key.
    return (event.ctrlKey || event.metaKey) && (letter === "/" || !event.shiftKey);
  }
  return event.ctrlKey && !event.shiftKey && !event.metaKey;
}
