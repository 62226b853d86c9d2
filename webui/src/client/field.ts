import type { Text } from "./text";

/**
 * Lets a field show a text, and what is typed into it be typed into the text; carets stay with what
 * they stand at while others type. Call what it gives to part the two.
 */
export function bind(text: Text, field: HTMLTextAreaElement | HTMLInputElement): () => void {
  const changes = text.changes();
  const onInput = (): void => text.set(field.value);
  const follow = async (): Promise<void> => {
    for await (const change of changes) {
      if (change.mine) continue;
      const [from, to] = [field.selectionStart ?? 0, field.selectionEnd ?? 0];
      if (field.value !== text.value) field.value = text.value;
      field.setSelectionRange(change.move(from), change.move(to));
    }
  };
  field.value = text.value;
  field.addEventListener("input", onInput);
  follow().catch(() => undefined); // the text is closed, and says so where it is used
  return () => {
    field.removeEventListener("input", onInput);
    changes.close();
  };
}
