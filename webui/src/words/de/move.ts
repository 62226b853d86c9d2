import type english from "../en/move";
import type { Translation } from "../language";

export default {
  handle: "Ziehen verschiebt; Alt mit den Pfeiltasten tut dasselbe",
} satisfies Translation<typeof english>;
