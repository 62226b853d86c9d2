import type english from "../en/away";
import { number, plural } from "../formats";
import type { Translation } from "../language";

export default {
  title: "Keine Verbindung",
  document:
    "Der Text dieses Dokuments ist nicht auf diesem Gerät. Er erscheint, sobald wieder eine Verbindung besteht.",
  elsewhere: "Die Seite geht von selbst weiter, sobald wieder eine Verbindung besteht.",
  keptTitle: "Auf diesem Gerät aufbewahrt",
  keptHint:
    "Diese Änderungen hat noch niemand sonst. Sie werden gesendet, wenn ihr Dokument offen ist und eine Verbindung besteht.",
  changes: (places) => plural(places, "1 Änderung", `${number(places)} Änderungen`),
  nothingKept:
    "Auf diesem Gerät warten keine Änderungen: Alles, was Sie hier geschrieben haben, ist gesendet.",
  keptUnknown:
    "Was dieses Gerät für Sie aufbewahrt, ist gerade nicht lesbar. Nichts davon ist verloren.",
  partly:
    "Keine Verbindung. Das ist das Dokument, wie dieses Gerät es hat, mit Ihren Änderungen. Fehlende Texte kommen mit der Verbindung, und Ihre Änderungen werden gesendet.",
  partlyPlace:
    "Keine Verbindung. Das ist die Tafel, wie dieses Gerät sie hat, mit Ihren Änderungen. Was fehlt, kommt mit der Verbindung, und Ihre Änderungen werden gesendet.",
} satisfies Translation<typeof english>;
