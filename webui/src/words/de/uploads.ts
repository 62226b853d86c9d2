import type english from "../en/uploads";
import { number } from "../formats";
import type { Translation } from "../language";

export default {
  sending: (name, percent) => `${name} wird gesendet: ${number(percent)} %`,
  waiting: (name) => `${name} wird hier aufbewahrt und gesendet, sobald ein Server erreichbar ist.`,
  failed: (name) => `${name} wurde nicht angenommen.`,
  retry: "Noch einmal senden",
  cancel: "Abbrechen",
  remove: "Entfernen",
  description: "Was auf dem Bild zu sehen ist, für alle, die es nicht sehen können",
  save: "Speichern",
} satisfies Translation<typeof english>;
