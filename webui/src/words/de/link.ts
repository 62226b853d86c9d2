import type english from "../en/link";
import type { Translation } from "../language";

export default {
  link: "Link",
  address: "Adresse",
  change: "Ändern",
  open: "Öffnen",
  remove: "Entfernen",
  cancel: "Abbrechen",
  noAddress:
    "Das ist keine Adresse. Schreiben Sie eine wie https://example.org oder eine E-Mail-Adresse.",
} satisfies Translation<typeof english>;
