import type english from "../en/cards";
import { number, plural } from "../formats";
import type { Translation } from "../language";

export default {
  coming: "Das Dokument wird geöffnet.",
  offline: "Keine Verbindung. Das Dokument erscheint, sobald es eine gibt.",
  offlineSeen: "Keine Verbindung: So war es zuletzt zu sehen.",
  forbidden:
    "Sie dürfen dieses Dokument nicht lesen. Wer es hierhin gelegt hat, kann es mit Ihnen teilen.",
  gone: "Dieses Dokument wurde gelöscht.",
  trashed: "Dieses Dokument liegt im Papierkorb.",
  failed: "Dieses Dokument lässt sich gerade nicht öffnen. Es wird bald wieder versucht.",
  nothing: "noch steht nichts darin",
  begins: (words, blocks) => `„${words}“, ${plural(blocks, "1 Block", `${number(blocks)} Blöcke`)}`,
  opened: (title) => `Dokument „${title}“`,
  openedUnknown: "Dokument",
  openPage: "Dokument öffnen",
  close: "Dokument schließen",
  loading: "Das Dokument wird geöffnet.",
  forbiddenHere: "Sie dürfen dieses Dokument nicht lesen",
  forbiddenWhy: "Wer es hierhin gelegt hat, kann es mit Ihnen teilen.",
  goneHere: "Dieses Dokument gibt es nicht mehr",
  goneWhy: "Es wurde gelöscht. Die Karte kann gelöscht werden oder ein anderes Dokument zeigen.",
  stoppedHere: "Dieses Dokument lässt sich nicht öffnen",
  signedOut:
    "Sie sind abgemeldet. Melden Sie sich in einem anderen Tab an, und öffnen Sie das Dokument dann wieder.",
  readOnly: "Sie können dieses Dokument lesen, aber nicht ändern.",
  inTrash: "Dieses Dokument liegt im Papierkorb. Stellen Sie es wieder her, um es zu ändern.",
  wanted: "Dokument",
  search: "Ihre Dokumente durchsuchen",
  searching: "Ihre Dokumente werden gesucht …",
  noneFound: "Kein Dokument hat das im Namen.",
  noDocuments: "Es gibt noch kein Dokument. Legen Sie eines in der Liste der Dateien an.",
  notListed:
    "Ihre Dokumente ließen sich nicht auflisten. Schließen Sie dies, und versuchen Sie es noch einmal.",
  foundDocuments: (count) => plural(count, "1 Dokument", `${number(count)} Dokumente`),
  unlisted: "Ein Dokument, das nicht in Ihrer Liste steht",
  caption: "Beschriftung",
  captionHelp:
    "Für alle, die die Tafel sehen. Den Namen des Dokuments sehen nur die, die es lesen dürfen.",
  presenting: "Präsentation",
  slides: "Folien",
  slideOf: (at, count, name) => `Folie ${number(at)} von ${number(count)}: ${name}`,
  slideList: (at, count) => `Folie ${number(at)} von ${number(count)}. Liste der Folien`,
  unnamedSlide: (at) => `Rahmen ${number(at)}`,
  nextSlide: "Nächste Folie",
  previousSlide: "Vorige Folie",
  fullScreen: "Ganzer Bildschirm",
  endPresenting: "Präsentation beenden",
  noSlides: "Es gibt keinen Rahmen zu zeigen",
  noSlidesHint:
    "Folien sind die Rahmen dieser Tafel, Zeile für Zeile. Nehmen Sie das Werkzeug Rahmen, oder drücken Sie F, und ziehen Sie einen um das, was zusammengehört.",
} satisfies Translation<typeof english>;
