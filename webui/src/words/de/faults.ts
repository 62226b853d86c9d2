import type english from "../en/faults";
import type { Translation } from "../language";

export default {
  bad_plan: "Der Plan taugt so nicht. Nichts wurde verschoben.",
  key_kept:
    "Der Cluster behält seinen Schlüssel. Legen Sie zuerst den neuen in die Schlüsseldatei jedes Knotens.",
  moving: "Diese Gruppe zieht schon um. Warten Sie, bis sie angekommen ist.",
  breaks_s2:
    "Diese Gruppen brauchen einen gemeinsamen Sequencer: Dieser Umzug lässt sich nicht allein abbrechen.",
  no_such_session: "Diese Sitzung ist zu Ende.",
  unknown_move: "Dieser Umzug ist vorbei, oder es gab ihn nicht.",
  node_silent: "Dieser Knoten antwortet gerade nicht. Versuchen Sie es gleich noch einmal.",
  plan_lost:
    "Der Knoten, der diesen Plan ausgeführt hat, ist zu Ende gegangen. Was umgezogen ist, bleibt. Geben Sie den Plan noch einmal, um fortzufahren.",
  too_many_operations:
    "Auf diesem Knoten laufen zwei Vorgänge. Warten Sie auf einen, oder brechen Sie ihn ab.",
  too_many_plans: "Zu viele Pläne sind unterwegs. Warten Sie auf einen, oder brechen Sie ihn ab.",
  unknown_group: "Diese Gruppe gibt es nicht mehr.",
  unknown_node: "Dieser Knoten ist gerade nicht im Cluster.",
  unknown_plan: "Diesen Plan gibt es nicht (mehr).",
  unknown_violation:
    "Keine Prüfung hat das gefunden, oder es wurde neu geprüft. Sehen Sie die Liste noch einmal an.",
  unknown_operation: "Diesen Vorgang gibt es nicht (mehr).",
  no_backups: "Dieser Knoten hat keinen Ordner für Sicherungen. Geben Sie ihm einen mit --backups.",
  no_such_backup: "Diese Sicherung gibt es an diesem Knoten nicht.",
  bad_store: "Die Ergebnisse der Pipeline lassen sich nicht lesen. Wenden Sie sich an den Betrieb.",
} satisfies Translation<typeof english>;
