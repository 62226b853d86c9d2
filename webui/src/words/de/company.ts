import type english from "../en/company";
import type { Translation } from "../language";

export default {
  yourName: "Ihr Name, wie andere ihn sehen",
  following: (name) => `Sie folgen ${name}.`,
  stop: "Beenden",
  called: (name) => `${name} bittet Sie, zu der Stelle zu kommen.`,
  go: "Hingehen",
  notNow: "Nicht jetzt",
} satisfies Translation<typeof english>;
