import type english from "../en/stopped";
import type { Translation } from "../language";

export default {
  noAccess: "Kein Zugang mehr",
  linkOver: "Der Link, über den Sie gekommen sind, gilt nicht mehr.",
  askOwner: "Fragen Sie den Eigentümer, wenn Sie Zugang haben sollten.",
  notOpened: "Dieses Dokument kann nicht geöffnet werden",
  keptUntilSignIn:
    "Sie sind abgemeldet. Was Sie geschrieben haben, bleibt in diesem Browser und wird gesendet, sobald Sie sich wieder anmelden.",
  noReader: "Sie dürfen dieses Dokument nicht mehr lesen.",
  missing:
    "Unter dieser Adresse gibt es kein Dokument. Prüfen Sie sie, oder sehen Sie in der Liste nach.",
} satisfies Translation<typeof english>;
