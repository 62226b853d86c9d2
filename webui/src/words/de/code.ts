import type { codeWords } from "../en/code";
import type { Translation } from "../language";

export default {
  language: "Sprache des Codes",
  noLanguage: "Nur Text",
} satisfies Translation<typeof codeWords>;
