import type english from "../en/operations";
import { number, plural } from "../formats";
import type { Translation } from "../language";

export default {
  takeHere: "An diesem Knoten ziehen",
  takePromise:
    "Eine, die an diesem Knoten gezogen wird, liegt im Ordner der Einstellung --backups und bekommt ihren Namen erst, wenn sie ganz zurückgelesen wurde. Dort wird nichts überschrieben. Was währenddessen geschrieben wird, kann fehlen.",
  noFolder: (node: string) =>
    `Der Knoten ${node} hat keinen Ordner für Sicherungen. Geben Sie ihm einen mit --backups, um hier Sicherungen zu ziehen, zu prüfen und zurückzuspielen.`,
  lastBackup: (time: string) =>
    `Die letzte vollständige Sicherung des Clusters wurde gezogen: ${time}.`,
  neverBackedUp: "Kein Knoten, der antwortet, hat je eine vollständige Sicherung gezogen.",
  backupsAt: (node: string) => `Sicherungen am Knoten ${node}`,
  noBackups: "Es gibt noch keine.",
  file: "Datei",
  size: "Größe",
  made: "Gezogen",
  actions: "Aktionen",
  verify: "Prüfen",
  verifyOf: (file: string) => `${file} prüfen`,
  verifyPromise: "Das Prüfen liest jedes Byte und ändert nichts.",
  restore: "Zurückspielen",
  restoreOf: (file: string) => `${file} zurückspielen`,
  restoreQuestion: "Diese Sicherung in einen neuen Ordner zurückspielen?",
  restorePromise:
    "Der laufende Cluster wird nicht berührt und verliert nichts. Neben den Sicherungen wird ein neuer Ordner gefüllt und jedes Dokument darin verglichen. Knoten, die aus ihm starten, sind ein Cluster vom Stand der Sicherung: ohne das, was seither geschrieben wurde, ohne Verläufe von Änderungen und Fassungen, und die Leute müssen sich neu anmelden.",
  restoreInto: "Name des neuen Ordners",
  begin: "Beginnen",
  leaveIt: "Lassen",
  isBegun: "Es hat begonnen; siehe unten.",
  prune: "Spur kürzen",
  prunePromise:
    "Jeder Knoten entfernt die fertigen Dateien seiner Spur von Tagen vor denen, die Sie behalten. Dokumente, Konten, Protokolle und die Ergebnisse der Pipeline bleiben. Was die Pipeline davon vorher nicht aufgenommen hat, dessen Ordnung lässt sich nicht mehr prüfen.",
  noTrace: "Kein Knoten schreibt eine Spur.",
  keepDays: "Tage, die neben heute bleiben",
  dryRun: "Sagen, was gehen würde",
  pruneNow: "Entfernen",
  pruneQuestion: (days: number) =>
    `Die Spur aller Tage außer heute und ${plural(days, "dem Tag davor", `den ${number(days)} Tagen davor`)} entfernen?`,
  lookFirst: "Sehen Sie zuerst nach, was gehen würde.",
  operations: "Vorgänge",
  operationsHint:
    "Jeden führt ein Knoten aus, der seine letzten fünfzig behält. Einer, der scheitert, abgebrochen wird oder mit seinem Knoten endet, lässt nichts Halbes zurück.",
  noOperations: "Es wurde nichts begonnen.",
  whatBackup: "Sicherung ziehen",
  whatVerify: "Sicherung prüfen",
  whatRestore: "Sicherung zurückspielen",
  whatPrune: "Spur kürzen",
  whatDryRun: "Was das Kürzen entfernen würde",
  running: "Läuft",
  done: "Fertig",
  failed: "Gescheitert",
  cancelled: "Abgebrochen",
  lost: "Mit seinem Knoten geendet",
  lostHint:
    "Der Name dessen, was dabei entstand, endet auf .part; es kann gelöscht werden. Beginnen Sie ihn noch einmal.",
  atNode: (node: string, when: string) => `Am Knoten ${node}, begonnen ${when}`,
  progress: (what: string) => `Wie weit: ${what}`,
  bytesOf: (done: string, total: string) => `${done} von ${total}`,
  bytesSoFar: (done: string) => `bisher ${done}`,
  documentsOf: (done: number, total: number) =>
    `${number(done)} von ${plural(total, "1 Dokument", `${number(total)} Dokumenten`)}`,
  cancel: "Abbrechen",
  cancelOf: (what: string) => `Abbrechen: ${what}`,
  holds: (documents: number, blocks: number, pictures: number, bytes: string) =>
    `Sie ist ganz: ${plural(documents, "1 Dokument", `${number(documents)} Dokumente`)}, ${plural(blocks, "1 Block", `${number(blocks)} Blöcke`)}, ${plural(pictures, "1 Bild", `${number(pictures)} Bilder`)}, ${bytes}.`,
  filled: (folder: string, documents: number, people: number) =>
    `${folder} ist gefüllt: ${plural(documents, "1 Dokument", `${number(documents)} Dokumente`)}, ${plural(people, "1 Konto", `${number(people)} Konten`)}. Starten Sie einen ersten Knoten mit --data dort.`,
  went: (node: string, segments: number, bytes: string) =>
    `${node}: ${plural(segments, "1 Datei", `${number(segments)} Dateien`)}, ${bytes}`,
  writesNone: (node: string) => `${node}: schreibt keine Spur`,
  wentSilent: (node: string) => `${node}: antwortet nicht; von ihm ist nichts bekannt`,
} satisfies Translation<typeof english>;
