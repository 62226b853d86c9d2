/**
 * Words that came to a text which somebody has taken out, before that is deleted: who took it out did
 * not see them. They are given back when the text is deleted, unless a split has taken them elsewhere.
 */

import {
  isInsert,
  type Rich,
  type RichDelta,
  richLength,
  transformRichPosition,
} from "../shared/rich";
import type { BlockDetail } from "./block";

interface Words {
  readonly block: string;
  readonly from: number;
  readonly to: number;
  readonly text: Rich;
}

export class Dying {
  private all: readonly Words[] = [];

  /** An own edit of a text that is out has been done. */
  note(block: string, delta: RichDelta): void {
    let at = 0;
    for (const item of delta) {
      const length = isInsert(item) ? richLength([item]) : 0;
      if (isInsert(item))
        this.all = [...this.all, { block, from: at, to: at + length, text: [item] }];
      at += isInsert(item) ? length : Math.max(0, typeof item === "number" ? item : item[0]);
    }
  }

  /** What has become of the text; gives what was deleted with it. */
  follow(block: string, detail: BlockDetail): readonly Rich[] {
    const given: Rich[] = [];
    this.all = this.all.flatMap((words): readonly Words[] => {
      if (words.block !== block) return [words];
      const { from, to } = words;
      if (detail[0] === "edited") {
        const begin = transformRichPosition(from, detail[2], "right");
        const end = transformRichPosition(to, detail[2], "left");
        return begin < end ? [{ ...words, from: begin, to: end }] : [];
      }
      if (detail[0] === "cut")
        return from < detail[2] ? [{ ...words, to: Math.min(to, detail[2]) }] : [];
      if (detail[0] !== "closed") return [words];
      if (detail[2] === null) given.push(words.text);
      return [];
    });
    return given;
  }
}
