import type english from "../en/document";
import { number, plural } from "../formats";
import type { Translation } from "../language";

export default {
  loading: "Das Dokument wird geladen",
  share: "Teilen",
  title: "Titel",
  titleCut: (most, words) =>
    `Ein Titel hat höchstens ${number(most)} Zeichen. Weggelassen wurde: „${words}“`,
  shortcuts: "Tastenkürzel",
  inspector: "Inspektor",
  notAllLoaded: "Ein Teil der Auswahl ist noch nicht geladen. Versuchen Sie es gleich noch einmal.",
  partMissing: "Ein Teil der Seite ist nicht geladen. Prüfen Sie die Verbindung.",
  readOnly: "Sie können dieses Dokument lesen, aber nicht ändern.",
  saved: "Gespeichert",
  saving: "Wird gespeichert …",
  stillSaving: "Wird noch gespeichert …",
  offline: "Offline",
  disconnected: "Getrennt",
  changesKept: (places) =>
    plural(places, "1 Änderung aufbewahrt", `${number(places)} Änderungen aufbewahrt`),
  changesHere: (places) =>
    plural(places, "1 Änderung in diesem Tab", `${number(places)} Änderungen in diesem Tab`),
  changesOnlyHere: (places) =>
    plural(
      places,
      "1 Änderung nur in diesem Tab",
      `${number(places)} Änderungen nur in diesem Tab`,
    ),
  sayNotSaved: "Änderungen können nicht gespeichert werden. Sie bleiben in diesem Browser.",
  sayOffline: "Offline.",
  saySlow: "Das Speichern dauert länger als sonst.",
  sayKept: "Ein Text hat keinen Platz mehr im Dokument. Er ist für Sie aufbewahrt.",
  saySaved: "Alle Änderungen sind gespeichert.",
  sayChanged: (blocks) =>
    plural(
      blocks,
      "Andere haben 1 Block geändert.",
      `Andere haben ${number(blocks)} Blöcke geändert.`,
    ),
  close: "Schließen",
} satisfies Translation<typeof english>;
