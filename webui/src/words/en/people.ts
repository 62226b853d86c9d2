import { number, plural } from "../formats";

export default {
  alsoHere: (names: string) => `Also here: ${names}`,
  others: (count: number) => plural(count, "1 other", `${number(count)} others`),
  howMany: (count: number) =>
    count === 0
      ? "Nobody else is here."
      : plural(count, "1 other is here.", `${number(count)} others are here.`),
  came: (names: string) => `${names} came.`,
  left: (names: string) => `${names} left.`,
  away: (place: string) => `${place}, away`,
  noPlace: "Place not shown",
  block: (place: number, of: number) => `Block ${number(place)} of ${number(of)}`,
  under: (heading: string, place: number, of: number) =>
    `“${heading}”, block ${number(place)} of ${number(of)}`,
};
