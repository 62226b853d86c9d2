import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "svelte/compiler";
import { expect, test } from "vitest";

/** What people read stands in the catalogue (src/words), in each language. */

const SRC = join(import.meta.dirname, "../src");
/** For programs and their authors: they have no reader of the page. */
const PROGRAMS = /^(client|shared|words)\//;

const READ = /^(aria-(label|description|roledescription|valuetext)|title|placeholder|alt|label)$/;
/** Beside those, what parts of the page are given to show. */
const GIVEN = /^(action|hint|note|other|reason)$/;
/** Proper names, and signs of programs. */
const NAMES = /^(Groupcore|https:\/\/|Edge|Firefox|Chrome|Safari|Android|iOS|Windows|macOS|Linux)$/;
const KEYS =
  /^(Alt|Backspace|Bracket|ContextMenu|Ctrl|Delete|Digit|End|Enter|Escape|Home|Insert|Mod|Page|Shift|Space|Tab|Arrow)([A-Z\d-]\S*)?$/;
/** Capital letters that are no words: of types, headers and events. */
const TERMS =
  /^((found|person) [a-z-]+|Content-Type|Idempotency-Key|Groupcore-Stale|X-\S+|Files|[A-Z][a-z]+(Error|Event))$/;

interface Tree {
  readonly type?: string;
  readonly [field: string]: unknown;
}

const isText = (text: string): boolean => /\p{L}{2,}/u.test(text) && !NAMES.test(text.trim());

function isSentence(text: string): boolean {
  if (NAMES.test(text) || KEYS.test(text) || TERMS.test(text)) return false;
  return /^\p{Lu}\p{Ll}{2,}/u.test(text) || /\p{Ll}{2,},? \p{Ll}{2,}/u.test(text.trim());
}

function textIn(value: unknown): string {
  const parts = Array.isArray(value) ? (value as Tree[]) : [];
  return parts.map((part) => (part.type === "Text" ? String(part.data) : "")).join("");
}

/** Walks a syntax tree; what is said to nobody but programmers is left out. */
function look(tree: unknown, found: string[]): void {
  if (Array.isArray(tree)) for (const part of tree) look(part, found);
  if (typeof tree !== "object" || tree === null || Array.isArray(tree)) return;
  const node = tree as Tree;
  switch (node.type) {
    case "Text":
      if (isText(String(node.data))) found.push(String(node.data).trim());
      return;
    case "Attribute": {
      const name = String(node.name);
      const isRead = READ.test(name) || GIVEN.test(name);
      if (isRead && isText(textIn(node.value))) found.push(`${name}=${textIn(node.value)}`);
      if (textIn(node.value) === "") look(node.value, found);
      return;
    }
    case "Literal":
      if (typeof node.value === "string" && isSentence(node.value)) found.push(node.value);
      return;
    case "TemplateElement": {
      const text = String((node.value as { cooked?: string }).cooked);
      if (isSentence(text)) found.push(text);
      return;
    }
    case "RegularElement":
      if (node.name === "code" || node.name === "style") return;
      break;
    case "Property":
    case "PropertyDefinition": {
      // Keys, and what is for style sheets, the socket or the browser.
      const key = (node.key as Tree).name;
      if (!/^(class|rel|type)$/.test(String(key))) look(node.value, found);
      return;
    }
    case "NewExpression":
      if (/^(Type|Range)?Error$/.test(String((node.callee as Tree).name))) return;
      break;
    case "Comment":
    case "ImportDeclaration":
    case "TSLiteralType":
    case "StyleSheet":
      return;
  }
  for (const [field, part] of Object.entries(node)) if (field !== "comments") look(part, found);
}

function literalsOf(file: string, source: string): string[] {
  const text = file.endsWith(".ts") ? `<script lang="ts">\n${source}\n</script>` : source;
  const found: string[] = [];
  const { fragment, instance, module } = parse(text, { modern: true });
  look(fragment, found);
  look(instance?.content, found);
  look(module?.content, found);
  return found;
}

const files = readdirSync(SRC, { recursive: true, encoding: "utf-8" })
  .filter((file) => /\.(ts|svelte)$/.test(file) && !PROGRAMS.test(file))
  .sort();

test.each(files)("%s shows nothing that is not in the catalogue", (file) => {
  expect(literalsOf(file, readFileSync(join(SRC, file), "utf-8"))).toEqual([]);
});

test("words outside of the catalogue are found where people would read them", () => {
  const found = (source: string) => literalsOf("a.svelte", source);
  expect(found("<p>Hello</p>")).toEqual(["Hello"]);
  expect(found('<input aria-label="Find" />')).toEqual(["aria-label=Find"]);
  expect(found('<Field label={isNew ? "New password" : ""} />')).toEqual(["New password"]);
  const mixed = "`Sign out $" + "{name}`";
  expect(found(`<p>{${mixed}}</p>`)).toEqual(["Sign out "]);
  expect(literalsOf("a.ts", 'tell(n === 1 ? "1 day ago" : "");')).toEqual(["1 day ago"]);
  expect(found('<p class="quiet" data-testid="Found it">{words.hello}</p>')).toEqual([]);
  expect(literalsOf("a.ts", 'throw new Error("There is no block.");')).toEqual([]);
});
