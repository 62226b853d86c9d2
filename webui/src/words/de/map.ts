import type english from "../en/map";
import { number, plural } from "../formats";
import type { Translation } from "../language";

export default {
  overlap: "Überschneidung",
  hint: "Gruppen hängen zusammen, wo zwei oder mehr Prozesse in beiden sind. Strenge Gruppen darunter brauchen einen Sequencer und ziehen gemeinsam um; andere dürfen überall sein.",
  summary: (groups: number, components: number, alone: number) =>
    `${plural(groups, "1 Gruppe", `${number(groups)} Gruppen`)}: ${plural(components, "1 Komponente", `${number(components)} Komponenten`)} aus Gruppen, die zusammenhängen, und ${plural(alone, "1 Gruppe", `${number(alone)} Gruppen`)} für sich.`,
  picture: "Als Bild",
  pictureHint:
    "Jedes Zeichen ist eine Gruppe; Form und Farbe sagen, wer sie sequenziert. Wählen Sie eine Komponente, um sie näher anzusehen.",
  table: "Als Tabelle",
  noComponents: "Gerade hängen keine Gruppen zusammen: Jede kann überall sequenziert werden.",
  legend: "Sequencer und ihre Zeichen",
  component: "Komponente",
  groups: "Gruppen",
  bound: "Aneinander gebunden",
  processes: "Prozesse",
  sequencers: "Sequencer",
  load: "Last",
  loadOf: (us: string) => `${us} µs je Sekunde`,
  free: "keine",
  homeOf: (node: string, groups: number) => `${node}: ${number(groups)}`,
  andMore: (names: string, more: number) =>
    more === 0 ? names : `${names} und ${number(more)} weitere`,
  islandOf: (names: string, groups: number, homes: string) =>
    `${names}: ${plural(groups, "1 Gruppe", `${number(groups)} Gruppen`)}, bei ${homes}`,
  notDrawn: (count: number) => `und ${number(count)} weitere`,
  leftOut: (count: number) =>
    `${plural(count, "1 Gruppe wurde", `${number(count)} Gruppen wurden`)} nicht mit den anderen verglichen: Es sind zu viele Prozesse.`,
  observers: "Beobachter",
  observersHint:
    "Diese binden keine Gruppen aneinander: Sie sind strengen Gruppen als Beobachter beigetreten, oder sie sind in so vielen Gruppen, dass sie fast alles verbinden würden. Ein Beobachter bekommt die Ordnung jeder Gruppe, aber keine Ordnung über Gruppen hinweg.",
  halls: "Sehr große Gruppen",
  hallsHint: "In diesen Gruppen sind so viele, dass auch sie fast alles verbinden würden.",
  noObservers: "Niemand beobachtet strenge Gruppen, und niemand ist in fast allem.",
  observes: (count: number) =>
    `beobachtet ${plural(count, "1 strenge Gruppe", `${number(count)} strenge Gruppen`)}`,
  inGroups: (count: number) => plural(count, "in 1 Gruppe", `in ${number(count)} Gruppen`),
  hasProcesses: (count: number) => plural(count, "1 Prozess", `${number(count)} Prozesse`),
  allProcesses: (count: number) =>
    `${plural(count, "1 Prozess", `${number(count)} Prozesse`)}, mit denen der Knoten`,
  processOf: (node: string, process: number) => `Prozess ${process} des Knotens ${node}`,
  pipeline: "Was die Pipeline gefunden hat",
  noPipeline:
    "Vom Auftrag „overlap“ der Pipeline liegt hier nichts. Er betrachtet strenge Gruppen über die ganze Spur:",
  pipelineAt: (when: string, components: number) =>
    `Stand ${when}: ${plural(components, "1 Komponente", `${number(components)} Komponenten`)} aus strengen Gruppen.`,
  noPipelineComponents: "Sie hat keine strengen Gruppen gefunden, die zusammenhängen.",
  heldBy: "Zusammengehalten von",
  nobodyHolds: "niemandem allein",
  partedBy: (who: string, parts: number, largest: number) =>
    `${who}: ohne sie ${number(parts)} Teile, der größte mit ${plural(largest, "1 Gruppe", `${number(largest)} Gruppen`)}`,
  allComponents: "Alle Komponenten",
  drawnOf: (drawn: number, all: number) =>
    drawn === all
      ? `${plural(all, "1 Gruppe ist", `Alle ${number(all)} Gruppen sind`)} gezeichnet; die Nummern sind die der Tabelle.`
      : `Die ${number(drawn)} geschäftigsten von ${number(all)} Gruppen sind gezeichnet; die Nummern sind die der Tabelle.`,
  lineBound: "gebunden: ein Sequencer",
  lineShared: "zwei oder mehr gemeinsame Prozesse",
  lineTied: "abwechselnd beschrieben",
  place: "Nummer",
  markOf: (place: number, name: string, node: string) => `${number(place)}: ${name}, bei ${node}`,
  groupsHere: "Gruppen dieser Komponente",
  noneLeft: "Diese Gruppen gibt es nicht mehr.",
  isAlone: "Diese Gruppe hängt mit keiner anderen zusammen.",
  moveCost: (name: string) => `Was ein Umzug von ${name} kosten würde`,
  goesAlone: (node: string) => `Sie zieht allein um. Sie ist jetzt bei ${node}.`,
  goesWith: (count: number, node: string, names: string) =>
    `${number(count)} Gruppen ziehen gemeinsam um, da sie gebunden sind. Sie sind jetzt bei ${node}: ${names}.`,
  carries: "Was sie trägt",
  rate: (messages: number, bytes: string) =>
    `${plural(messages, "1 Nachricht", `${number(messages)} Nachrichten`)} je Sekunde, ${bytes}`,
  members: "Wer darin ist",
  history: "Behaltene Geschichte",
  pause: "Pause",
  noPause: "hier ist noch nichts umgezogen",
  pauseOf: (ms: number, waiting: number) =>
    `${number(ms)} ms, wie Umzüge hier gedauert haben; etwa ${plural(waiting, "1 Nachricht wartet", `${number(waiting)} Nachrichten warten`)} so lange`,
  historyStays: (bytes: string) =>
    `${bytes}; sie bleibt, wo sie ist, bis alle sie haben, und nichts davon geht verloren`,
  moveTo: "Zum Knoten",
  loadThere: "Last dort",
  imbalance: "Vollster Knoten, mal dem Mittel",
  fromTo: (before: string, after: string) => `${before} → ${after}`,
  noTarget: "Es gibt keinen anderen Knoten, der sie nehmen darf.",
  ties: (names: string) =>
    `Sie wird abwechselnd mit ${names} beschrieben. Mit einem anderen Sequencer dauert jeder Wechsel einen Sprung länger.`,
  tieOf: (name: string, turns: number) =>
    `${name} (${plural(turns, "einmal", `${number(turns)}-mal`)} je Sekunde)`,
  moveIt: "Diese Gruppe ansehen und umziehen lassen",
  splitCost: "Was eine Teilung kosten würde",
  splitFree:
    "Nichts: Keine dieser Gruppen ist an eine andere gebunden. Jede darf einen eigenen Sequencer haben, und niemand muss gehen.",
  splitWho:
    "Diese Gruppen sind gebunden. Sie könnten sich teilen, wenn jemand von diesen eine von ihnen verließe:",
  splitNobody:
    "Diese Gruppen sind gebunden, und niemandes Gehen allein würde sie teilen: Mehrere müssten gehen.",
  splitUnknown:
    "Diese Gruppen sind gebunden. Es sind zu viele, um zu sagen, wessen Gehen sie teilen würde.",
  andOthers: (count: number) => `und ${number(count)} weitere`,
} satisfies Translation<typeof english>;
