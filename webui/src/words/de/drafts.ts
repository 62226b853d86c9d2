import type english from "../en/drafts";
import type { Translation } from "../language";

export default {
  draftsTitle: "Für Sie aufbewahrt",
  draftsHint:
    "Diese Texte von Ihnen konnten nicht in das Dokument übernommen werden. Setzen Sie die Schreibmarke dorthin, wo einer hingehört.",
  draftDeleted: "Jemand anderes hat den Block gelöscht, während Sie darin schrieben.",
  draftTooLarge: "Der Text ist größer, als ein Dokument sein darf.",
  draftForbidden: "Sie dürfen hier nicht mehr schreiben.",
  draftTooOld: "Zu viel hatte sich geändert, seit Sie es schrieben.",
  draftUnknown:
    "Ob es angekommen ist, ist nicht mehr bekannt. Sehen Sie im Dokument nach, bevor Sie es wieder anfügen.",
  draftPowerLost: "Alle Server verloren den Strom, bevor es gespeichert war.",
  draftOther: "Die Änderung konnte nicht übernommen werden.",
  putHere: "Hier einfügen",
  addAtEnd: "Am Ende anfügen",
  copy: "Kopieren",
  copied: "Kopiert",
  discard: "Verwerfen",
} satisfies Translation<typeof english>;
