import type english from "../en/document";
import { number, plural } from "../formats";
import type { Translation } from "../language";

export default {
  loading: "Das Dokument wird geladen",
  share: "Teilen",
  yourName: "Ihr Name, wie andere ihn sehen",
  title: "Titel",
  titleCut: (most, words) =>
    `Ein Titel hat höchstens ${number(most)} Zeichen. Weggelassen wurde: „${words}“`,
  shortcuts: "Tastenkürzel",
  inspector: "Inspektor",
  noAccess: "Kein Zugang mehr",
  linkOver: "Der Link, über den Sie gekommen sind, gilt nicht mehr.",
  askOwner: "Fragen Sie den Eigentümer, wenn Sie Zugang haben sollten.",
  notOpened: "Dieses Dokument kann nicht geöffnet werden",
  noReader: "Sie dürfen dieses Dokument nicht mehr lesen.",
  missing:
    "Unter dieser Adresse gibt es kein Dokument. Prüfen Sie sie, oder sehen Sie in der Liste nach.",
  keptUntilSignIn:
    "Sie sind abgemeldet. Was Sie geschrieben haben, bleibt in diesem Browser und wird gesendet, sobald Sie sich wieder anmelden.",
  notAllLoaded:
    "Ein Teil Ihrer Auswahl ist noch nicht geladen. Versuchen Sie es gleich noch einmal.",
  partMissing:
    "Ein Teil dieser Seite konnte nicht geladen werden. Prüfen Sie die Verbindung und versuchen Sie es noch einmal.",
  readOnly: "Sie können dieses Dokument lesen, aber nicht ändern.",
  saved: "Gespeichert",
  saving: "Wird gespeichert …",
  stillSaving: "Wird noch gespeichert …",
  offline: "Offline",
  disconnected: "Getrennt",
  editsKept: (edits) =>
    plural(edits, "1 Änderung aufbewahrt", `${number(edits)} Änderungen aufbewahrt`),
  sayNotSaved:
    "Ihre Änderungen können gerade nicht gespeichert werden. Sie bleiben in diesem Browser.",
  sayOffline: "Offline.",
  saySlow: "Das Speichern dauert länger als sonst.",
  saySaved: "Alle Änderungen sind gespeichert.",
  sayChanged: (blocks) =>
    plural(
      blocks,
      "Andere haben 1 Block geändert.",
      `Andere haben ${number(blocks)} Blöcke geändert.`,
    ),
  nodeStale:
    "Dieser Server erreicht die anderen gerade nicht. Sie können weitermachen: Was Sie schreiben, bleibt in diesem Browser und wird gesendet, sobald ein Server es annehmen kann.",
  nodeFull:
    "Die Festplatte dieses Servers ist voll. Sie können lesen, und was Sie schreiben, bleibt in diesem Browser, bis wieder Platz ist.",
  nodeLeaving: "Dieser Server wird abgeschaltet. Die Seite geht von selbst zu einem anderen.",
  nodeBeginning:
    "Dieser Server holt noch auf, was die anderen haben. Was Sie schreiben, bleibt so lange in diesem Browser.",
  draftsTitle: "Für Sie aufbewahrt",
  draftsHint: "Diese Texte von Ihnen konnten nicht in das Dokument übernommen werden.",
  draftDeleted: "Jemand anderes hat den Block gelöscht, während Sie darin schrieben.",
  draftTooLarge: "Der Text ist größer, als ein Dokument sein darf.",
  draftForbidden: "Sie dürfen hier nicht mehr schreiben.",
  draftTooOld: "Zu viel hatte sich geändert, seit Sie es schrieben.",
  draftUnknown:
    "Ob es angekommen ist, ist nicht mehr bekannt. Sehen Sie im Dokument nach, bevor Sie es wieder anfügen.",
  draftPowerLost: "Alle Server verloren den Strom, bevor es gespeichert war.",
  draftOther: "Die Änderung konnte nicht übernommen werden.",
  addAtEnd: "Am Ende anfügen",
  copy: "Kopieren",
  copied: "Kopiert",
  discard: "Verwerfen",
  findAndReplace: "Suchen und ersetzen",
  find: "Suchen",
  notFound: "Nicht gefunden",
  place: (current, count) => `${number(current)} von ${number(count)}`,
  previous: "Vorige Stelle",
  next: "Nächste Stelle",
  close: "Schließen",
  replaceBy: "Ersetzen durch",
  replace: "Ersetzen",
  replaceAll: "Alle ersetzen",
  replaced: (places) => plural(places, "1 Stelle ersetzt", `${number(places)} Stellen ersetzt`),
  notReplaced: (places) =>
    plural(
      places,
      "1 Stelle konnte nicht geladen werden und bleibt, wie sie ist. Versuchen Sie es online noch einmal.",
      `${number(places)} Stellen konnten nicht geladen werden und bleiben, wie sie sind. Versuchen Sie es online noch einmal.`,
    ),
  link: "Link",
  address: "Adresse",
  change: "Ändern",
  open: "Öffnen",
  remove: "Entfernen",
  cancel: "Abbrechen",
  noAddress:
    "Das ist keine Adresse. Schreiben Sie eine wie https://example.org oder eine E-Mail-Adresse.",
} satisfies Translation<typeof english>;
