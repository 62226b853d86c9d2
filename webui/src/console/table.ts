/** What a table of the console is made of; `Table.svelte` lays it out. */

import type { Snippet } from "svelte";

/** A column behind the first one: what it is called, and what of a row it says. */
export interface Column<T> {
  readonly title: string;
  readonly isNumeric?: boolean;
  /** It may be broken anywhere: names that people give, addresses. */
  readonly isLong?: boolean;
  /** A word or two that stay on one line. */
  readonly isShort?: boolean;
  readonly text?: (row: T) => string;
  /** In the place of `text`, where it is more than text. */
  readonly cell?: Snippet<[T]>;
}

/** Which page of how many the rows are, and how another one is asked for. */
export interface Paging {
  readonly page: number;
  readonly pages: number;
  readonly count: number;
  readonly turn: (page: number) => void;
}
