import type english from "../en/people";
import { number, plural } from "../formats";
import type { Translation } from "../language";

export default {
  alsoHere: (names) => `Auch hier: ${names}`,
  others: (count) => plural(count, "1 weitere Person", `${number(count)} weitere`),
  howMany: (count) =>
    count === 0
      ? "Sonst ist niemand hier."
      : plural(count, "1 weitere Person ist hier.", `${number(count)} weitere sind hier.`),
  came: (names) => `Gekommen: ${names}.`,
  left: (names) => `Gegangen: ${names}.`,
  away: (place) => `${place}, abwesend`,
  noPlace: "Stelle nicht gezeigt",
  block: (place, of) => `Block ${number(place)} von ${number(of)}`,
  under: (heading, place, of) => `„${heading}“, Block ${number(place)} von ${number(of)}`,
} satisfies Translation<typeof english>;
