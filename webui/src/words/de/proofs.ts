import type english from "../en/proofs";
import { number, plural } from "../formats";
import type { Translation } from "../language";

export default {
  order: "Ordnung",
  operations: "Betrieb",
  kept: "Die Ordnung wurde gewahrt",
  keptInPart: "Die Ordnung wurde gewahrt, soweit die Spuren reichen",
  broken: "Die Ordnung wurde verletzt",
  nothingToJudge: "Es gab nichts zu beurteilen",
  noAudit: "Hier liegt keine Prüfung",
  howToAudit:
    "Die Pipeline prüft die Spuren der Knoten und bescheinigt das Ergebnis. Lassen Sie sie order.json in dem Ordner ablegen, den die Einstellung --results nennt:",
  isSigned:
    "Die Bescheinigung ist so, wie sie signiert wurde. Vergleichen Sie diesen Schlüssel mit dem, den Sie von anderswo haben:",
  isNotSigned:
    "Die Signatur gehört nicht zu dieser Bescheinigung. Trauen Sie ihr nicht, und prüfen Sie noch einmal.",
  rules: "Regeln",
  rule: "Regel",
  demands: "Was sie verlangt",
  violations: "Verletzungen",
  notJudged: "Nicht zu beurteilen",
  whatWasJudged: "Was beurteilt wurde",
  deliveries: "Auslieferungen",
  shareProved: "Bewiesen",
  unproved: "Nicht bewiesen",
  missing: "Fehlen",
  firstAndLast: "Erste und letzte",
  deliveredFrom: "Von",
  deliveredUntil: "Bis",
  timeNotKnown: "nicht bekannt",
  between: (since: string, until: string) =>
    `Ausgeliefert von ${since} bis ${until}, nach den Uhren der Knoten.`,
  found: "Was gefunden wurde",
  noStore:
    "Die Befunde sind nicht hier: Im Ordner, den die Einstellung --results nennt, liegt kein Speicher der Pipeline. Lassen Sie die Prüfung ihren Speicher dort führen:",
  nothingFound: (over: string) => `Es wurde nichts gefunden. ${over}`,
  noneOfRule: "Zu dieser Regel wurde nichts gefunden.",
  allRules: "Alle Regeln",
  ruleCount: (rule: string, count: number) => `${rule} (${number(count)})`,
  showOf: (rule: string, count: number) =>
    `${rule}: ${plural(count, "1 Verletzung zeigen", `${number(count)} Verletzungen zeigen`)}`,
  violation: "Verletzung",
  position: "Nummer in der Gruppe",
  message: "Nachricht",
  process: "Prozess",
  deliveryNumber: "Auslieferung des Knotens",
  segment: "Segment der Spur",
  allFound: "Alles, was gefunden wurde",
  ruleCode: "In der Bescheinigung und in der Tabelle des Speichers heißt diese Regel",
  brokenBy: "Was die Regel verletzt",
  against: "Wogegen sie verletzt ist",
  around: (group: string, position: string) => `Um die Nummer ${position} von ${group}`,
  aroundGone: (gid: number, position: string) =>
    `Um die Nummer ${position} der Gruppe ${gid}, die es nicht mehr gibt`,
  aroundHint: (first: string, last: string) =>
    `Was jeder Knoten von den Nummern ${first} bis ${last} auslieferte, in seiner Reihenfolge. Zwei Knoten sind einig, wo dieselben Nummern dieselben Nachrichten haben und gleich untereinander stehen.`,
  atNode: (node: string) => `Am Knoten ${node}`,
  delivered: "Ausgeliefert",
  span: (first: string, last: string) => `${first} bis ${last}`,
  joins: "tritt bei",
  leaves: "tritt aus",
  isGone: "ist mit seinem Knoten fort",
  fromArchive: "das Archiv des Knotens",
  thisOne: "Von dieser Zeile spricht die Verletzung.",
  outOfTurn: "Sie kommt nach einer höheren Nummer.",
  nothingThere: "Er hat keine davon ausgeliefert.",
  notDelivered: (numbers: string) => `Hier nicht ausgeliefert: ${numbers}.`,
  moreNodes: (count: number) =>
    `${plural(count, "1 weiterer Knoten lieferte", `${number(count)} weitere Knoten lieferten`)} dort ebenfalls aus.`,
  goneGroup: (gid: number) => `Gruppe ${gid}, die es nicht mehr gibt`,
  howToRead: "Wie das zu lesen ist",
  readMessage:
    "Eine Nachricht heißt nach dem Prozess, der sie sandte, und nach dessen eigenen Nummern: Knoten#Leben/Prozess:erste-letzte.",
  readSegment:
    "Das Segment ist eine Datei im Ordner der Spur. Die Zeile darin findet die Nummer der Auslieferung: Jeder Knoten nummeriert, was er ausliefert.",
  backup: "Sicherung",
  backupHint:
    "Eine Sicherung des ganzen Clusters, gezogen, während Leute schreiben: Dokumente, Bilder, Konten. Sie enthält, womit sich Leute anmelden: Verwahren Sie sie so sicher wie den Cluster selbst.",
  verifyHint:
    "Prüfen Sie die Datei, bevor Sie sich darauf verlassen; wiederhergestellt wird in den leeren Ordner eines Knotens.",
  takeBackup: "Eine ziehen und herunterladen",
  auditLog: "Protokoll",
  auditHint:
    "Was getan wurde und von wem; jeder Eintrag ist mit dem vorigen verkettet. Jeder Knoten hat das ganze Protokoll in einer Datei:",
  when: "Wann",
  what: "Was",
  who: "Wer",
  about: "Betrifft",
  judged: (deliveries: number, day: string) =>
    `${plural(deliveries, `${number(deliveries)} Auslieferung wurde`, `${number(deliveries)} Auslieferungen wurden`)} beurteilt${day && `, Stand ${day}`}.`,
  waiting: (count: number) =>
    `${plural(count, `${number(count)} Auslieferung wartet`, `${number(count)} Auslieferungen warten`)} auf Spuren anderer Knoten.`,
  gapsAt: (nodes: string) =>
    `In den Spuren fehlen Zeilen von: ${nodes}. Was sie gezeigt hätten, ist nicht bewiesen; alles davor und danach wurde beurteilt.`,
  unchecked: (count: number) =>
    `${plural(count, "1 Segment hat", `${number(count)} Segmente haben`)} keine Prüfsumme: Ein Schaden darin könnte übersehen werden.`,
  sampledAt: (nodes: string) =>
    `Nur eine Stichprobe schrieben: ${nodes}. Dort wurde nicht nach Lücken gesucht.`,
} satisfies Translation<typeof english>;
