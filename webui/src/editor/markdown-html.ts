/**
 * Markdown that was pasted as plain text, as HTML for the reader of the clipboard: what the editor
 * has blocks for, and nothing else. The dialect is the one that documents are exported in.
 *
 * Rules.
 *   D1  It is Markdown only where its signs are beyond doubt: a heading, a fence, a table, or at
 *       least two items of a list. Prose with an asterisk, a line of code, a list of one stay text.
 *   D2  No character is HTML by itself: the text is escaped, and links are checked by the reader.
 */

const ITEM = /^( *)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const FENCE = /^ {0,3}(```+|~~~+)\s*([\w+#-]{0,40})[^`]*$/;
const RULE = /^ {0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/;
const QUOTE = /^ {0,3}>\s?(.*)$/;
const DIVIDING = /^ *\|?(?: *:?-{3,}:? *\|)+(?: *:?-{3,}:? *)?\|? *$/;
const ROW = /\|/;
const CODE_LINE = /[;{}]\s*$|^\s*(?:import|from|def|class|const|let)\b.*[:;(="']/;
const DEPTH_MAX = 8;

/** The HTML of it; null where it is not evidently Markdown. */
export function htmlOf(text: string): string | null {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  return isEvident(lines) ? new Writer(lines).all() : null;
}

/** D1. */
function isEvident(lines: readonly string[]): boolean {
  const fences = lines.filter((line) => FENCE.test(line)).length;
  if (fences >= 2) return true;
  if (lines.some((line, at) => DIVIDING.test(line) && ROW.test(lines[at - 1] ?? ""))) return true;
  const full = lines.filter((line) => line.trim() !== "");
  if (full.length < 2) return false;
  const headings = full.filter((line) => HEADING.test(line)).length;
  const items = full.filter((line) => ITEM.test(line)).length;
  const isCode = full.some((line) => !ITEM.test(line) && CODE_LINE.test(line));
  if (isCode) return false;
  return headings > 0 ? isApart(lines) : items >= 2 && 2 * items >= full.length;
}

/** Whether headings stand for themselves: a comment of a script has its code right below it. */
function isApart(lines: readonly string[]): boolean {
  const places = lines.flatMap((line, at) => (HEADING.test(line) ? [at] : []));
  const isFree = (line = ""): boolean => line.trim() === "" || HEADING.test(line);
  const isBegin = (line = ""): boolean => isFree(line) || ITEM.test(line);
  const areBehindNothing = places.every((at) => isFree(lines[at - 1]));
  return areBehindNothing && places.some((at) => isBegin(lines[at + 1]));
}

class Writer {
  private at = 0;

  constructor(private readonly lines: readonly string[]) {}

  all(): string {
    let html = "";
    while (this.at < this.lines.length) html += this.block();
    return html;
  }

  private get line(): string {
    return this.lines[this.at] ?? "";
  }

  private block(): string {
    const { line } = this;
    const heading = HEADING.exec(line);
    if (line.trim() === "") return this.pass("");
    if (heading !== null) {
      const level = heading[1]?.length ?? 1;
      return this.pass(`<h${level}>${inline(heading[2] ?? "")}</h${level}>`);
    }
    if (FENCE.test(line)) return this.fenced();
    if (RULE.test(line)) return this.pass("<hr>");
    if (QUOTE.test(line)) return this.quote();
    if (ITEM.test(line)) return this.list();
    if (this.isTable()) return this.table();
    return this.paragraph();
  }

  private pass(html: string): string {
    this.at += 1;
    return html;
  }

  private fenced(): string {
    const [, fence = "```", language = ""] = FENCE.exec(this.line) ?? [];
    const begin = this.at + 1;
    const isEnd = (line: string): boolean => line.trim().startsWith(fence) && !/\w/.test(line);
    const found = this.lines.findIndex((line, at) => at >= begin && isEnd(line));
    const end = found < 0 ? this.lines.length : found;
    this.at = end + 1;
    const code = escaped(this.lines.slice(begin, end).join("\n"));
    return `${opening("pre", `class="language-${language}"`)}${code}\n</pre>`;
  }

  private quote(): string {
    const words: string[] = [];
    for (let found = QUOTE.exec(this.line); found !== null; found = QUOTE.exec(this.line)) {
      words.push(inline(found[1] ?? ""));
      this.at += 1;
    }
    return `<blockquote>${words.join("<br>")}</blockquote>`;
  }

  /** One list for each item: the reader knows the depth by how many lists an item is in. */
  private list(): string {
    let html = "";
    const indents: number[] = [];
    for (let found = ITEM.exec(this.line); found !== null; found = ITEM.exec(this.line)) {
      const [, space = "", sign = "-", words = ""] = found;
      while (space.length < (indents.at(-1) ?? 0)) indents.pop();
      if (space.length > (indents.at(-1) ?? -1)) indents.push(space.length);
      const depth = Math.min(indents.length, DEPTH_MAX);
      const name = /\d/.test(sign) ? "ol" : "ul";
      this.at += 1;
      html += `<${name}>`.repeat(depth) + this.item(words) + `</${name}>`.repeat(depth);
      // An empty line between items leaves them one list.
      if (this.line.trim() === "" && ITEM.test(this.lines[this.at + 1] ?? "")) this.at += 1;
    }
    return html;
  }

  private item(words: string): string {
    const [, box, task = words] = /^\[([ xX])\]\s+(.*)$/.exec(words) ?? [];
    const checked = box === " " ? [] : ["checked"];
    const sign = box === undefined ? "" : opening("input", 'type="checkbox"', ...checked);
    return `<li>${sign}${inline([task, ...this.continued()].join(" "))}</li>`;
  }

  /** Lines that go on with an item or a paragraph. */
  private continued(): string[] {
    const words: string[] = [];
    while (this.at < this.lines.length && !this.isStart()) {
      words.push(this.line.trim());
      this.at += 1;
    }
    return words;
  }

  private isStart(): boolean {
    const { line } = this;
    const isSigned = [HEADING, FENCE, RULE, QUOTE, ITEM].some((sign) => sign.test(line));
    return line.trim() === "" || isSigned || this.isTable();
  }

  private isTable(): boolean {
    return ROW.test(this.line) && DIVIDING.test(this.lines[this.at + 1] ?? "");
  }

  private table(): string {
    const head = cells(this.line, "th");
    this.at += 2;
    let rows = "";
    while (this.line.trim() !== "" && ROW.test(this.line)) {
      rows += `<tr>${cells(this.line, "td")}</tr>`;
      this.at += 1;
    }
    return `<table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table>`;
  }

  private paragraph(): string {
    const words = [this.line.trim()];
    this.at += 1;
    return `<p>${inline([...words, ...this.continued()].join(" "))}</p>`;
  }
}

function cells(line: string, name: "th" | "td"): string {
  const bare = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  const all = bare.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
  return all.map((cell) => `<${name}>${inline(cell)}</${name}>`).join("");
}

function opening(name: string, ...attributes: readonly string[]): string {
  return `<${[name, ...attributes].join(" ")}>`;
}

/** D2. */
function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

const CODE = /(`+)(.+?)\1/;
const MARKS: readonly (readonly [pattern: RegExp, tag: string])[] = [
  [/\*\*(?=\S)(.+?)(?<=\S)\*\*/g, "strong"],
  [/(?<!\w)__(?=\S)(.+?)(?<=\S)__(?!\w)/g, "strong"],
  [/~~(?=\S)(.+?)(?<=\S)~~/g, "del"],
  [/(?<!\*)\*(?=[^\s*])(.+?)(?<=[^\s*])\*(?!\*)/g, "em"],
  [/(?<!\w)_(?=[^\s_])(.+?)(?<=[^\s_])_(?!\w)/g, "em"],
];

/** Words with marks. In code no sign is one. */
function inline(text: string): string {
  const code = CODE.exec(text);
  if (code !== null) {
    const before = inline(text.slice(0, code.index));
    const behind = inline(text.slice(code.index + code[0].length));
    return `${before}<code>${escaped((code[2] ?? "").trim())}</code>${behind}`;
  }
  const kept: string[] = [];
  const keep = (html: string): string => `\0${kept.push(html) - 1}\0`;
  const bare = text
    .replaceAll("\0", "")
    .replace(/\\([\\`*_{}[\]()#+\-.!|~>])/g, (_, sign: string) => keep(escaped(sign)));
  const linked = escaped(bare).replace(/!?\[([^\]]*)\]\(([^\s()]+)\)/g, (_, words, href) => {
    return `${keep(opening("a", `href="${href}"`))}${words || href}${keep("</a>")}`;
  });
  const marked = MARKS.reduce((html, [sign, tag]) => {
    return html.replace(sign, `<${tag}>$1</${tag}>`);
  }, linked);
  return restored(marked, kept);
}

/** What was kept may hold what was kept before. */
function restored(html: string, kept: readonly string[]): string {
  const all = html.replace(/\0(\d+)\0/g, (_, at: string) => kept[Number(at)] ?? "");
  return all.includes("\0") ? restored(all, kept) : all;
}
