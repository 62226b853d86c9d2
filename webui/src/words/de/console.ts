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
  awaits: (nodes: string, members: string, needed: number, or: string) =>
    `An ${nodes} wartet der Cluster: Von der letzten Sicht (${members}) müssen ${number(needed)} Knoten mit ihren Ordnern da sein${or}.`,
  awaitsFirstAlone: (first: string) => `, oder ${first} allein`,
  awaitsFirst: (half: number, first: string) => `, oder ${number(half)}, darunter ${first}`,
  awaitsBound: (nodes: string, missing: string) =>
    `An ${nodes} wartet der Cluster: Die nächste Sicht ist vielleicht beschlossen und braucht ${missing}.`,
  awaitsHere: (here: string) => `Da: ${here}.`,
  awaitsEmpty: (empty: string) => `Mit leerem Ordner da: ${empty}.`,
  awaitsMissing: (missing: string) => `Nicht da: ${missing}.`,
  awaitsHint: (node: string) =>
    `Was zuletzt gespeichert wurde, ist vielleicht nur dort. Kommt ein Ordner nie wieder, sagt python -m server recover am Rechner von ${node}, was verloren gehen kann, und macht ohne ihn weiter.`,
  diskFull: (node: string) => `Die Platte des Knotens ${node} ist voll.`,
  nodeRebuilding: (node: string) => `Der Knoten ${node} übernimmt den Stand der anderen.`,
  nodeLeaving: (node: string) => `Der Knoten ${node} geht.`,
  nodeSlow: (node: string, ms: number) =>
    `Am Knoten ${node} hat eine Nachricht ${number(ms)} ms auf ihre Nummer gewartet.`,
  viewsFlap: (views: number, minutes: number, nodes: string) =>
    `Knoten kommen und gehen: ${plural(views, "1 Sicht", `${number(views)} Sichten`)} in den letzten ${number(minutes)} Minuten${nodes === "" ? "" : `; ausgeschlossen: ${nodes}`}. Sehen Sie nach der Last ihrer Rechner und nach dem Netz zwischen ihnen.`,
  timesOf: (node: string, times: number) =>
    `${node} ${plural(times, "einmal", `${number(times)}-mal`)}`,
  nodeStarved: (node: string, seconds: number) =>
    `Der Prozess des Knotens ${node} lief in den letzten zehn Minuten ${number(seconds)} s lang nicht: Sein Rechner hat zu viel zu tun.`,
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
  certificateEnds: (node: string, days: number) =>
    days < 1
      ? `Das Zertifikat des Knotens ${node} gilt keinen Tag mehr: das nächste ausstellen und den Knoten neu starten.`
      : `Das Zertifikat des Knotens ${node} gilt noch ${plural(days, "einen Tag", `${number(days)} Tage`)}: das nächste ausstellen und den Knoten neu starten.`,
  certificateOver: (node: string) =>
    `Das Zertifikat des Knotens ${node} ist abgelaufen: Kein Knoten, der jetzt startet, spricht mit ihm. Das nächste ausstellen und den Knoten neu starten.`,
  nodeErasing: (node: string, documents: number) =>
    `Der Knoten ${node} muss noch ${plural(documents, `${number(documents)} endgültig gelöschtes Dokument`, `${number(documents)} endgültig gelöschte Dokumente`)} von seiner Platte tilgen.`,
  keysChanging: (node: string) => `Der Knoten ${node} wechselt den Schlüssel des Clusters.`,
  certificateForged:
    "Das Zertifikat der letzten Prüfung ist nicht so, wie es unterschrieben wurde.",
  orderBroken: (violations: number) =>
    `Die letzte Prüfung sagt, dass die Ordnung verletzt wurde: ${plural(violations, "1 Verletzung", `${number(violations)} Verletzungen`)}.`,
  showAudit: "Prüfung ansehen",
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
  resultsHint:
    "Die Ergebnisse der Pipeline werden aus dem Ordner gelesen, den die Einstellung --results nennt.",
  groups: "Gruppen",
  group: "Gruppe",
  searchGroups: "Nach Name, Titel oder Nummer suchen",
  sortBy: "Sortieren nach",
  noGroups: "Es gibt noch keine Gruppen.",
  noSuchGroups: "So heißt keine Gruppe.",
  sequencer: "Sequencer",
  goesTo: (from: string, to: string) => `${from}, zieht um nach ${to}`,
  order: "Ordnung",
  causallyTotal: "kausal-total",
  strict: "streng",
  fifo: "je Absender",
  volatile: "nur das Neueste",
  epoch: "Epoche",
  head: "Letzte Nummer",
  members: "Mitglieder",
  latency: "Dauer eines Aufrufs",
  history: "Aufbewahrter Verlauf",
  noCalls: "keine Aufrufe",
  chooseNode: "Knoten wählen",
  moveTo: "Sequenzieren an",
  move: "Umziehen",
  isSent: (node: string) => `Unterwegs nach ${node}.`,
  togetherWith: (names: string) => `Braucht einen gemeinsamen Sequencer mit: ${names}.`,
  positions: "Wie weit jeder Knoten ist",
  delivered: "Ausgeliefert bis",
  behindBy: "Rückstand",
  notHere: "wird hier nicht ausgeliefert",
  membersOf: (count: number) => plural(count, "1 Mitglied", `${number(count)} Mitglieder`),
  nobodyIn: "Niemand ist in dieser Gruppe.",
  processOf: (node: string, process: number) => `Prozess ${process} des Knotens ${node}`,
  joinedAt: (node: string, since: number) => `Am Knoten ${node}, seit Nummer ${number(since)}`,
  observes: "beobachtet",
  isBehind: "liest zu langsam",
  pages: "Seiten",
  pageOf: (page: number, pages: number, count: number) =>
    pages === 1
      ? `Insgesamt ${number(count)}`
      : `Seite ${number(page)} von ${number(pages)}, insgesamt ${number(count)}`,
  former: "Vorige",
  next: "Nächste",
  drainHint:
    "Ein geräumter Knoten sequenziert nichts: Seine Gruppen ziehen zu den anderen, seine Seiten bleiben. Gut vor Arbeiten an der Maschine.",
  drain: "Räumen",
  revive: "Wieder einsetzen",
  sendAway: "Fortschicken",
  drainNode: (node: string) => `Knoten ${node} räumen`,
  reviveNode: (node: string) => `Knoten ${node} wieder einsetzen`,
  sendNodeAway: (node: string) => `Knoten ${node} fortschicken`,
  isDrained: (node: string) => `Der Knoten ${node} wird geräumt.`,
  isRevived: (node: string) => `Der Knoten ${node} darf wieder sequenzieren.`,
  isLeaving: (node: string) => `Der Knoten ${node} geht.`,
  leaveQuestion: (node: string) => `Soll der Knoten ${node} den Cluster verlassen?`,
  leaveText:
    "Sein Programm endet, und seine Seiten gehen zu den anderen Knoten. Wer das Programm überwacht, startet es vielleicht neu.",
  keepIt: "Behalten",
  versionSince: (version: string, since: string) => `Version ${version}, seit ${since}`,
  holds: (groups: number, held: number, documents: number) =>
    `Sequenziert ${plural(groups, `${number(groups)} Gruppe`, `${number(groups)} Gruppen`)}, liefert ${number(held)} aus, ${plural(documents, `${number(documents)} Dokument`, `${number(documents)} Dokumente`)} offen`,
  keyEpoch: (epoch: string, accepted: string) =>
    `Schlüsselepoche ${epoch}, angenommen: ${accepted}`,
  clusterKey: "Schlüssel des Clusters",
  keyHint:
    "Legen Sie zuerst den neuen Schlüssel in einer Zeile hinter den jetzigen in die Schlüsseldatei jedes Knotens. Niemand wird beim Wechsel getrennt. Knoten mit demselben Schlüssel zeigen dieselbe Schlüsselepoche.",
  changeKey: "Schlüssel wechseln",
  keyChanged: "Alle Knoten benutzen den neuen Schlüssel.",
  keyChanging: "Die Knoten wechseln den Schlüssel.",
  settingsOf: (node: string) => `Einstellungen des Knotens ${node}`,
  settingsHint:
    "Was vom Üblichen abweicht, ist fett. Von Geheimnissen wird nur gezeigt, ob sie gesetzt sind.",
  setting: "Einstellung",
  value: "Wert",
  isSet: "gesetzt, nicht gezeigt",
  empty: "leer",
  valueUnit: (value: string, unit: string) => `${value} ${unit}`,
  drops: "Verworfen, nach Gründen",
  noDrops: "Nichts wurde verworfen.",
  dropReason: "Grund",
  times: "Anzahl",
  searchSessions: "Nach Person suchen",
  sessionsAt: (node: string, count: number) =>
    `${node}: ${plural(count, `${number(count)} Sitzung`, `${number(count)} Sitzungen`)}`,
  noSessions: "Niemand ist da.",
  noSuchSessions: "Niemand dieses Namens ist da.",
  visitor: "Besuch über einen Link",
  somebody: "Jemand",
  sessionLine: (node: string, since: string, objects: number) =>
    `Am Knoten ${node} seit ${since}, ${plural(objects, `${number(objects)} Objekt`, `${number(objects)} Objekte`)} offen`,
  pageAway: "Die Seite ist weg und kann wiederkommen",
  fallsBehind: (objects: number, bytes: string) =>
    `Im Rückstand bei ${plural(objects, `${number(objects)} Objekt`, `${number(objects)} Objekten`)}, ${bytes} nicht gesendet`,
  end: "Beenden",
  endAll: "Alle beenden",
  endOf: (name: string, node: string) => `Sitzung von ${name} am Knoten ${node} beenden`,
  endAllOf: (name: string) => `Alle Sitzungen von ${name} beenden`,
  isEnded: (name: string) => `Eine Sitzung von ${name} ist zu Ende.`,
  allEnded: (name: string) =>
    `Alle Sitzungen von ${name} sind zu Ende. Tokens für Programme gelten, bis sie widerrufen werden.`,
} satisfies Translation<typeof english>;
