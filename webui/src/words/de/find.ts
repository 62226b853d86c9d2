import type english from "../en/find";
import { number, plural } from "../formats";
import type { Translation } from "../language";

export default {
  notFound: "Nicht gefunden",
  place: (current, count) => `${number(current)} von ${number(count)}`,
  previous: "Vorige Stelle",
  next: "Nächste Stelle",
  replaceBy: "Ersetzen durch",
  replace: "Ersetzen",
  replaceAll: "Alle ersetzen",
  replaced: (places) => plural(places, "1 Stelle ersetzt", `${number(places)} Stellen ersetzt`),
  notReplaced: (places) =>
    plural(
      places,
      "1 Stelle konnte nicht geladen werden und bleibt, wie sie ist. Versuchen Sie es online noch einmal.",
      `${number(places)} Stellen konnten nicht geladen werden und bleiben, wie sie sind. Versuchen Sie es online noch einmal.`,
    ),
  find: "Suchen",
  findAndReplace: "Suchen und ersetzen",
} satisfies Translation<typeof english>;
