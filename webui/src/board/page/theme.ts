/** The colours of the page, as the canvas needs them. */

import type { Theme } from "../model/palette";

const PEOPLE = 8;

export function themeOf(element: Element, isDark: boolean): Theme {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    isDark,
    back: read("board-back"),
    grid: read("board-grid"),
    text: read("ink"),
    soft: read("ink-soft"),
    accent: read("accent"),
    paper: read("paper"),
    people: Array.from({ length: PEOPLE }, (_, at) => read(`person-${at}`)),
  };
}

/** Of pictures that leave the page: light, whoever looks at them. */
export const PAPER: Theme = {
  isDark: false,
  back: "#ffffff",
  grid: "#ffffff",
  text: "#1c2330",
  soft: "#596273",
  accent: "#2456c9",
  paper: "#ffffff",
  people: [],
};
