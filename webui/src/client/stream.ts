import { CallError } from "./errors";

/** Most items that may wait to be read. */
const WAITING_MAX = 10_000;

/** `for await` over items as they come; begins when it is made, ends by `break` or `close`. */
export class Stream<T> implements AsyncIterableIterator<T> {
  private items: T[] = [];
  private isEnded = false;
  private error: Error | null = null;
  private wake: (() => void) | null = null;

  constructor(private readonly forget: (stream: Stream<T>) => void) {}

  push(item: T): void {
    if (this.isEnded) return;
    if (this.items.length >= WAITING_MAX) {
      this.items = [];
      this.end(new CallError("too_slow", `${WAITING_MAX} changes waited to be read`));
      return;
    }
    this.items.push(item);
    this.wake?.();
  }

  end(error: Error | null = null): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.error = error;
    this.wake?.();
  }

  close(): void {
    this.items = [];
    this.end();
    this.forget(this);
  }

  async next(): Promise<IteratorResult<T>> {
    while (this.items.length === 0) {
      if (this.isEnded) {
        const error = this.error;
        this.error = null;
        if (error !== null) throw error;
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
      this.wake = null;
    }
    return { done: false, value: this.items.shift() as T };
  }

  return(): Promise<IteratorResult<T>> {
    this.close();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** The open streams of one object. */
export class Streams<T> {
  private readonly streams = new Set<Stream<T>>();

  open(): Stream<T> {
    const stream = new Stream<T>((one) => this.streams.delete(one));
    this.streams.add(stream);
    return stream;
  }

  push(item: T): void {
    for (const stream of this.streams) stream.push(item);
  }

  end(error: Error | null): void {
    for (const stream of this.streams) stream.end(error);
    this.streams.clear();
  }
}
