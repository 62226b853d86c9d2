import { number, plural } from "../formats";

export default {
  notFound: "Not found",
  place: (current: number, count: number) => `${number(current)} of ${number(count)}`,
  previous: "Previous",
  next: "Next",
  replaceBy: "Replace by",
  replace: "Replace",
  replaceAll: "Replace all",
  replaced: (places: number) =>
    plural(places, "1 place replaced", `${number(places)} places replaced`),
  notReplaced: (places: number) =>
    plural(
      places,
      "1 place could not be loaded and stays as it is. Try again when you are online.",
      `${number(places)} places could not be loaded and stay as they are. Try again when you are online.`,
    ),
  find: "Find",
  findAndReplace: "Find and replace",
};
