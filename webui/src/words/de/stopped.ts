import type english from "../en/stopped";
import type { Translation } from "../language";

export default {
  noAccess: "Kein Zugang mehr",
  linkOver: "Der Link, über den Sie gekommen sind, gilt nicht mehr.",
  askOwner: "Fragen Sie den Eigentümer, wenn Sie Zugang haben sollten.",
  notOpened: "Dieses Dokument kann nicht geöffnet werden",
} satisfies Translation<typeof english>;
