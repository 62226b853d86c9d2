import type english from "../en/pictures";
import { number } from "../formats";
import type { Translation } from "../language";

export default {
  image: "Bild",
  addImage: "Bild einfügen",
  caption: "Bildunterschrift",
  describe: "Bild beschreiben",
  describeAgain: "Beschreibung ändern",
  description: "Was auf dem Bild zu sehen ist, für alle, die es nicht sehen können",
  save: "Speichern",
  noDescription: "Bild ohne Beschreibung",
  cannotShow: "Dieses Bild kann gerade nicht gezeigt werden.",
  showAgain: "Noch einmal versuchen",
  sending: (name, percent) => `${name} wird gesendet: ${number(percent)} %`,
  waiting: (name) => `${name} wird hier aufbewahrt und gesendet, sobald ein Server erreichbar ist.`,
  failed: (name) => `${name} wurde nicht angenommen.`,
  retry: "Noch einmal senden",
  cancel: "Abbrechen",
  remove: "Entfernen",
} satisfies Translation<typeof english>;
