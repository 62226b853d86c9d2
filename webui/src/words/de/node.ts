import type english from "../en/node";
import type { Translation } from "../language";

export default {
  nodeStale:
    "Dieser Server erreicht die anderen gerade nicht. Sie können weitermachen: Was Sie schreiben, bleibt in diesem Browser und wird gesendet, sobald ein Server es annehmen kann.",
  nodeFull:
    "Die Festplatte dieses Servers ist voll. Sie können lesen, und was Sie schreiben, bleibt in diesem Browser, bis wieder Platz ist.",
  nodeLeaving: "Dieser Server wird abgeschaltet. Die Seite geht von selbst zu einem anderen.",
  nodeBeginning:
    "Dieser Server holt noch auf, was die anderen haben. Was Sie schreiben, bleibt so lange in diesem Browser.",
  awaited: (nodes, since) => `Die Server warten seit ${since} auf ${nodes}.`,
  awaitedKept:
    "Was hier ist, können Sie lesen. Was Sie schreiben, bleibt in diesem Browser und wird von selbst gesendet, sobald es weitergeht.",
  awaitedTell:
    "Sagen Sie denen Bescheid, die die Server betreiben. Sie können die fehlenden starten oder die anderen ohne sie weitermachen lassen.",
} satisfies Translation<typeof english>;
