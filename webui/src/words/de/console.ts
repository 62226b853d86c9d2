import type english from "../en/console";
import { number, plural } from "../formats";
import type { Translation } from "../language";

export default {
  console: "Konsole",
  ownersOnly:
    "Den Cluster betreiben die Eigentümer des ersten Arbeitsbereichs. Fragen Sie dort nach.",
  noSuchPart: "Diese Seite hat die Konsole nicht. Wählen Sie oben eine aus.",
  overview: "Überblick",
  healthGood: "Alles in Ordnung",
  healthFair: "Es läuft, aber etwas sollte angesehen werden",
  healthBad: "Etwas geht gerade nicht",
  levelBad: "Gestört:",
  levelWarn: "Ansehen:",
  levelNote: "Hinweis:",
  clusterLine: (name: string, nodes: number, groups: number) =>
    `Cluster ${name}: ${plural(nodes, "1 Knoten", `${number(nodes)} Knoten`)}, ${plural(groups, "1 Gruppe", `${number(groups)} Gruppen`)}.`,
  nodeSilent: (node: string) => `Der Knoten ${node} antwortet nicht.`,
  nodeAway: (node: string) => `Der Knoten ${node} ist gerade nicht im Cluster.`,
  nodesMissing: (members: number, wanted: number) =>
    `${number(members)} von ${number(wanted)} Knoten sind da.`,
  versionsDiffer: (versions: string) => `Die Knoten haben verschiedene Versionen: ${versions}.`,
  nodeDraining: (node: string) => `Der Knoten ${node} ist geräumt: Er sequenziert nichts.`,
  nodeStale: (node: string) =>
    `Der Knoten ${node} erreicht zu wenige andere: Seine Seiten können lesen und behalten ihre Änderungen.`,
  diskFull: (node: string) => `Die Platte des Knotens ${node} ist voll.`,
  nodeRebuilding: (node: string) => `Der Knoten ${node} übernimmt den Stand der anderen.`,
  nodeLeaving: (node: string) => `Der Knoten ${node} geht.`,
  nodeSlow: (node: string, ms: number) =>
    `Am Knoten ${node} hat eine Nachricht ${number(ms)} ms auf ihre Nummer gewartet.`,
  nodeBusy: (node: string, cpu: number) =>
    `Der Knoten ${node} braucht ${number(cpu)} % eines Prozessors.`,
  sessionsBehind: (node: string, sessions: number) =>
    plural(
      sessions,
      `${number(sessions)} Sitzung am Knoten ${node} liest zu langsam.`,
      `${number(sessions)} Sitzungen am Knoten ${node} lesen zu langsam.`,
    ),
  logBehind: (node: string, mib: number) =>
    `Die Platte des Knotens ${node} ist langsam: ${number(mib)} MiB warten auf sie.`,
  nearlyFull: (node: string, sessions: number, most: number) =>
    `Der Knoten ${node} hat ${number(sessions)} von höchstens ${number(most)} Sitzungen.`,
  picturesMissing: (node: string, pictures: number) =>
    `Dem Knoten ${node} fehlen noch ${plural(pictures, `${number(pictures)} Bild`, `${number(pictures)} Bilder`)}.`,
  keysChanging: (node: string) => `Der Knoten ${node} wechselt den Schlüssel des Clusters.`,
  nodes: "Knoten",
  node: "Knoten",
  state: "Zustand",
  serving: "In Betrieb",
  stale: "Von den anderen getrennt",
  readonly: "Nur lesend",
  rebuilding: "Übernimmt den Stand",
  leaving: "Geht",
  drained: "Geräumt",
  silent: "Antwortet nicht",
  coordinator: "Koordinator",
  groupsSequenced: "Sequenzierte Gruppen",
  sessions: "Sitzungen",
  messagesPerSecond: "Nachrichten je Sekunde",
  queueDelay: "Warten auf eine Nummer",
  processor: "Prozessor",
  ms: (ms: number) => `${number(ms)} ms`,
  percent: (percent: number) => `${number(percent)} %`,
  load: "Last",
  messages: "Nummerierte Nachrichten",
  perSecond: "je Sekunde",
  minutesAgo: (minutes: number) =>
    plural(minutes, "vor 1 Minute", `vor ${number(minutes)} Minuten`),
  now: "jetzt",
  nothingYet: "noch nichts",
  views: "Sichten",
  viewsHint:
    "Eine Sicht ist eine Liste von Knoten, auf die sich alle darin geeinigt haben. Nur die primäre nummeriert Nachrichten.",
  viewOf: (id: string) => `Sicht ${id}`,
  isPrimary: "primär",
  isNotPrimary: "nicht primär",
} satisfies Translation<typeof english>;
