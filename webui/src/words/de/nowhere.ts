import type english from "../en/nowhere";
import type { Translation } from "../language";

export default {
  check: "Nichts hat diese Adresse. Prüfen Sie, ob sie vollständig getippt oder kopiert ist.",
  title: "Hier ist nichts",
} satisfies Translation<typeof english>;
