/** Asks for a node until one answers: now and then, and at once when the browser says it is back. */

const FIRST_MS = 1_000;
const LONGEST_MS = 20_000;

/** Calls `came` with the first answer of `ask`; gives what ends the asking. */
export function untilBack<T>(ask: () => Promise<T>, came: (answer: T) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let delay_ms = FIRST_MS;
  let isAsking = false;
  let isOver = false;

  function later(): void {
    // Those whom one failure has cut off do not all come back at once.
    timer = setTimeout(() => void attempt(), delay_ms * (0.5 + Math.random() / 2));
    delay_ms = Math.min(2 * delay_ms, LONGEST_MS);
  }

  async function attempt(): Promise<void> {
    if (isAsking || isOver) return;
    isAsking = true;
    clearTimeout(timer);
    const answer = await ask().then(
      (found) => ({ found }),
      () => null,
    );
    isAsking = false;
    if (isOver) return;
    if (answer === null) return later();
    end();
    came(answer.found);
  }

  const now = (): void => void attempt();
  function end(): void {
    isOver = true;
    clearTimeout(timer);
    removeEventListener("online", now);
  }
  addEventListener("online", now);
  later();
  return end;
}
