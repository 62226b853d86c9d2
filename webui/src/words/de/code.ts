import type english from "../en/code";
import type { Translation } from "../language";

export default {
  language: "Sprache des Codes",
  noLanguage: "Nur Text",
} satisfies Translation<typeof english>;
