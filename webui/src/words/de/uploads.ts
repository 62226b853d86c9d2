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
  no_such_picture: "Dieses Bild gibt es nicht mehr.",
  unknown_picture: "Das Bild, das kopiert werden soll, gibt es nicht mehr.",
  not_a_picture:
    "Das ist kein Bild, das ein Dokument zeigen kann. Nehmen Sie eine PNG-, JPEG-, GIF- oder WebP-Datei.",
  bad_picture: "Dieses Bild ist beschädigt oder zu groß, um gezeigt zu werden.",
  no_room: "Die Server haben keinen Platz für dieses Bild.",
} satisfies Translation<typeof english>;
