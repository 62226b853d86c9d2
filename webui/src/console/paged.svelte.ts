/** What is asked for page by page, again and again while somebody looks. */

import { Polled } from "./polled.svelte";
import type { Paging } from "./table";

export class Paged<T> {
  page = $state(1);
  readonly polled: Polled<T>;

  constructor(load: (page: number) => Promise<T>, every_ms: number) {
    this.polled = new Polled(() => load(this.page), every_ms);
  }

  /** Shows that page. */
  readonly turn = (to: number): void => {
    this.page = to;
    void this.polled.again();
  };

  /** The pager's part of an answer that has its page, their number, and how many there are. */
  paging(found: { readonly page: number; readonly pages: number }, count: number): Paging {
    return { page: found.page, pages: found.pages, count, turn: this.turn };
  }
}
