/** What is said of code. */

import { area } from "../language";

export const codeWords = area("code", {
  language: "Language of the code",
  noLanguage: "Plain text",
});
