/**
 * HTML from the clipboard as blocks: from Word, from web pages, and copies of own blocks.
 *
 * Only what a block can be is taken: its type, its text, and the marks that the page knows. The
 * elements themselves never get into the page.
 */

import { type Node as Block, DOMParser, Fragment, type Mark, Slice } from "prosemirror-model";
import { isHash } from "../pictures/sending";
import { markType } from "./marks";
import { isSafeLink, type SimpleMark } from "./rich";
import { blockType, schema, TYPES } from "./schema";
import { isDataTable, readTable } from "./table-html";

const SKIPPED = new Set(
  "script,style,head,title,meta,link,noscript,template,iframe,object,svg,math,select,button,textarea"
    .split(",")
    .map((name) => name.toUpperCase()),
);
const BLOCKS = new Set(
  (
    "address,article,aside,body,center,dd,div,dl,dt,fieldset,figcaption,figure,footer,form,header," +
    "main,nav,p,section,table,tbody,thead,tr,ul,ol,li,h1,h2,h3,h4,h5,h6,blockquote,pre,details,summary"
  )
    .split(",")
    .map((name) => name.toUpperCase()),
);
const TAGS: Readonly<Record<string, SimpleMark>> = {
  B: "bold",
  STRONG: "bold",
  I: "italic",
  EM: "italic",
  U: "underline",
  INS: "underline",
  S: "strike",
  DEL: "strike",
  STRIKE: "strike",
  CODE: "code",
  KBD: "code",
  SAMP: "code",
  TT: "code",
};
const DEPTH_MAX = 8;

/**
 * The HTML without style sheets, and with handlers and styles under other names: a policy that
 * allows none of them need not stop them, and the styles of elements can still be read. What this
 * misses does no harm, the browser only complains of it.
 */
export function tamed(html: string): string {
  const bare = html.replace(/<style\b[\s\S]*?(?:<\/style\s*>|$)/gi, "");
  return bare.replace(/<[A-Za-z][^>]*>/g, (tag) =>
    tag.replace(/\son[a-z]+\s*=/gi, " data-off=").replace(/\sstyle\s*=/gi, " data-style="),
  );
}

type Attributes = Readonly<Record<string, unknown>>;

/** Where in the HTML the reader is. */
interface Place {
  readonly attributes: Attributes;
  readonly marks: readonly Mark[];
  readonly isPre: boolean;
  /** How deep in lists; 0: in none. */
  readonly depth: number;
  readonly list: "bullet" | "numbered";
}

const START: Place = { attributes: {}, marks: [], isPre: false, depth: 0, list: "bullet" };

interface Open {
  readonly attributes: Attributes;
  readonly runs: { text: string; readonly marks: readonly Mark[]; readonly isPre: boolean }[];
}

/** What ProseMirror reads the clipboard with; `tell`: of pictures that are in the HTML itself. */
export class HtmlReader extends DOMParser {
  constructor(private readonly tell: (files: readonly File[]) => void) {
    super(schema, []);
  }

  override parseSlice(dom: Node, options: { preserveWhitespace?: boolean | "full" } = {}): Slice {
    const files = picturesIn(dom);
    if (files.length > 0) this.tell(files);
    return Slice.maxOpen(Fragment.fromArray(readBlocks(dom, options.preserveWhitespace === true)));
  }
}

/** The pictures that the HTML has within itself, as files; not those that only keep a distance. */
export function picturesIn(dom: Node): File[] {
  const images = dom instanceof Element ? [...dom.querySelectorAll("img")] : [];
  return images.flatMap((image) => fileOf(image) ?? []);
}

function fileOf(image: HTMLImageElement): File | null {
  const found = /^data:(image\/[\w.+-]+);base64,(.*)$/is.exec(image.getAttribute("src") ?? "");
  const isSpacer = ["width", "height"].some((side) => image.getAttribute(side) === "1");
  if (found === null || isSpacer) return null;
  const [, type = "", text = ""] = found;
  try {
    const bytes = Uint8Array.from(atob(text.replace(/\s/g, "")), (one) => one.charCodeAt(0));
    return new File([bytes], image.alt.trim() || type, { type });
  } catch {
    return null; // what is no Base64 is no picture
  }
}

/** The blocks of this HTML; `isPre`: spaces and line ends are meant. */
export function readBlocks(dom: Node, isPre = false, place = START): Block[] {
  const reader = new Reader();
  reader.children(dom, { ...place, isPre });
  return reader.finish();
}

class Reader {
  private readonly blocks: Block[] = [];
  private open: Open | null = null;

  finish(): Block[] {
    this.close();
    return this.blocks;
  }

  children(node: Node, place: Place): void {
    for (const child of node.childNodes) {
      if (child.nodeType === 3) this.text(child.nodeValue ?? "", place);
      else if (child.nodeType === 1) this.element(child as HTMLElement, place);
    }
  }

  private element(element: HTMLElement, place: Place): void {
    const name = element.nodeName.toUpperCase();
    if (SKIPPED.has(name) || isHidden(element)) return;
    if (name === "BR") this.text("\n", { ...place, isPre: true });
    else if (name === "HR") this.single({ type: "divider" });
    else if (name === "INPUT") this.checkbox(element as HTMLInputElement);
    else if (name === "IMG") this.image(element as HTMLImageElement, place);
    else if (name === "FIGCAPTION" && this.open?.attributes.type === "image") {
      this.children(element, place);
    } else if (BLOCKS.has(name) || element.dataset.type !== undefined) {
      this.block(element, name, place);
    } else {
      this.children(element, { ...place, marks: marksIn(element, name, place.marks) });
      if (name === "TD" || name === "TH") this.text("\t", { ...place, marks: [], isPre: true });
    }
  }

  private block(element: HTMLElement, name: string, place: Place): void {
    this.close();
    if (name === "TABLE" && isDataTable(element)) {
      const empty: Place = { ...START, marks: place.marks };
      this.blocks.push(...readTable(element, (cell) => readBlocks(cell, false, empty)));
      return;
    }
    const inside = placeIn(element, name, place);
    const own = ownAttributes(element);
    if (own !== null) this.open = { attributes: own, runs: [] };
    this.children(element, own === null ? inside : { ...inside, attributes: own });
    this.close(own !== null);
  }

  private checkbox(input: HTMLInputElement): void {
    if (input.getAttribute("type")?.toLowerCase() !== "checkbox") return;
    if (this.open !== null && this.open.runs.length > 0) return;
    const depth = this.open?.attributes.depth ?? null;
    const checked = input.hasAttribute("checked");
    this.open = { attributes: { type: "todo", checked, depth }, runs: [] };
  }

  /** A picture of another place is a link to it: nobody's browser is sent there by a text. One
   *  that is in the HTML becomes a file (picturesIn). */
  private image(image: HTMLImageElement, place: Place): void {
    if (this.open?.attributes.type === "image" || fileOf(image) !== null) return;
    const src = image.getAttribute("src") ?? "";
    const words = (image.getAttribute("alt") ?? "").trim();
    const isLink = /^https?:/i.test(src) && isSafeLink(src);
    if (!isLink) {
      this.text(words, place);
      return;
    }
    const marks = markType("link").create({ href: src }).addToSet(place.marks);
    this.text(words || src, { ...place, marks });
  }

  private single(attributes: Attributes): void {
    this.close();
    this.open = { attributes, runs: [] };
    this.close(true);
  }

  private text(value: string, place: Place): void {
    let text = value.replace(/\r\n?/g, "\n");
    if (!place.isPre) {
      text = text.replace(/[ \t\n\f]+/g, " ").replaceAll("\u00a0", " ");
      const last = this.open?.runs.at(-1)?.text ?? "";
      if (text.startsWith(" ") && (last === "" || /[\s]$/.test(last))) text = text.slice(1);
    }
    if (text === "") return;
    this.open ??= { attributes: place.attributes, runs: [] };
    const isCode = this.open.attributes.type === "code";
    this.open.runs.push({ text, marks: isCode ? [] : place.marks, isPre: place.isPre });
  }

  /** Ends the block; an empty one is none, unless it is to be kept. */
  private close(isKept = false): void {
    const { open } = this;
    this.open = null;
    if (open === null) return;
    for (let last = open.runs.at(-1); last !== undefined; last = open.runs.at(-1)) {
      last.text = last.text.replace(last.isPre ? /\n$|\t$/ : /\s+$/, "");
      if (last.text !== "") break;
      open.runs.pop();
    }
    if (open.runs.length === 0 && !isKept) return;
    const content = open.runs.map(({ text, marks }) => schema.text(text, marks));
    this.blocks.push(blockType.create(open.attributes, Fragment.fromArray(content)));
  }
}

const NO_STYLES: ReadonlyMap<string, string> = new Map();

function stylesOf(element: HTMLElement): ReadonlyMap<string, string> {
  const text = element.dataset.style;
  if (text === undefined) return NO_STYLES;
  const pairs = text.split(";").map((rule): [string, string] => {
    const [name = "", ...value] = rule.split(":");
    return [name.trim().toLowerCase(), value.join(":").trim().toLowerCase()];
  });
  return new Map(pairs);
}

function isHidden(element: HTMLElement): boolean {
  const styles = stylesOf(element);
  if (styles.get("display") === "none" || styles.get("mso-hide") === "all") return true;
  return styles.get("mso-list") === "ignore";
}

/** What a block inside of this element is. */
function placeIn(element: HTMLElement, name: string, place: Place): Place {
  const marks = marksIn(element, name, place.marks);
  const heading = /^H([1-6])$/.exec(name);
  if (heading !== null) {
    return { ...place, attributes: { type: "heading", level: Number(heading[1]) } };
  }
  switch (name) {
    case "UL":
      return { ...place, depth: place.depth + 1, list: "bullet", marks };
    case "OL":
      return { ...place, depth: place.depth + 1, list: "numbered", marks };
    case "LI":
      return { ...place, attributes: listItem(place.list, place.depth - 1), marks };
    case "BLOCKQUOTE":
      return { ...place, attributes: { type: "quote" }, marks };
    case "PRE": {
      const inner = element.querySelector("code")?.className ?? "";
      const language = /language-([\w+#-]{1,40})/.exec(`${element.className} ${inner}`)?.[1];
      return { ...place, attributes: { type: "code", language: language ?? null }, isPre: true };
    }
    default: {
      const word = wordList(element);
      return word === null ? { ...place, marks } : { ...place, attributes: word, marks };
    }
  }
}

function listItem(type: "bullet" | "numbered", depth: number): Attributes {
  const bounded = Math.min(DEPTH_MAX, Math.max(0, depth));
  return { type, depth: bounded > 0 ? bounded : null };
}

/** Word writes list items as paragraphs with a style of its own. */
function wordList(element: HTMLElement): Attributes | null {
  const level = /level(\d)/.exec(stylesOf(element).get("mso-list") ?? "")?.[1];
  if (level === undefined) return null;
  const sign = element.querySelector('[data-style*="mso-list:Ignore"]')?.textContent ?? "";
  const isNumbered = /^\s*[0-9a-z]{1,4}[.)]/i.test(sign);
  return listItem(isNumbered ? "numbered" : "bullet", Number(level) - 1);
}

/** The attributes of a copy of an own block. */
function ownAttributes({ dataset }: HTMLElement): Attributes | null {
  const { type, level, depth, checked, language } = dataset;
  if (type === "table" || !(TYPES as readonly (string | undefined)[]).includes(type)) return null;
  if (type === "image") return imageAttributes(dataset);
  return {
    type,
    level: level === undefined ? null : Number(level) || null,
    depth: depth === undefined ? null : Number(depth) || null,
    checked: checked === undefined ? null : checked === "true",
    language: language ?? null,
  };
}

function imageAttributes(dataset: DOMStringMap): Attributes | null {
  const { picture, width, height, alt } = dataset;
  if (!isHash(picture)) return null;
  return { type: "image", picture, width: pixels(width), height: pixels(height), alt: alt ?? null };
}

const pixels = (text: string | undefined): number | null => Math.trunc(Number(text)) || null;

function marksIn(element: HTMLElement, name: string, outside: readonly Mark[]): readonly Mark[] {
  let marks = outside;
  const add = (mark: Mark): void => {
    marks = mark.addToSet(marks);
  };
  const tag = TAGS[name];
  if (tag !== undefined) add(markType(tag).create());
  if (name === "A") {
    const href = element.getAttribute("href") ?? "";
    if (isSafeLink(href)) add(markType("link").create({ href }));
  }
  const styles = stylesOf(element);
  if (styles.size === 0) return marks;
  const weight = styles.get("font-weight") ?? "";
  if (/^(bold|bolder|[6-9]00)$/.test(weight)) add(markType("bold").create());
  else if (weight !== "") marks = markType("bold").removeFromSet(marks);
  if (/^(italic|oblique)/.test(styles.get("font-style") ?? "")) add(markType("italic").create());
  const line = `${styles.get("text-decoration")} ${styles.get("text-decoration-line")}`;
  if (line.includes("line-through")) add(markType("strike").create());
  const isLink = markType("link").isInSet(marks) !== undefined;
  if (line.includes("underline") && !isLink) add(markType("underline").create());
  return marks;
}
