import { number, plural } from "../formats";

export default {
  overlap: "Overlap",
  hint: "Groups hang together where two or more processes are in both. Strict groups among them need one sequencer and move as one; others may be anywhere.",
  summary: (groups: number, components: number, alone: number) =>
    `${plural(groups, "1 group", `${number(groups)} groups`)}: ${plural(components, "1 component", `${number(components)} components`)} of groups that hang together, and ${plural(alone, "1 group", `${number(alone)} groups`)} by themselves.`,
  picture: "As a picture",
  pictureHint:
    "Each mark is a group; its shape and colour say who sequences it. Choose a component to look into it.",
  table: "As a table",
  noComponents: "No groups hang together now: each can be sequenced anywhere.",
  legend: "Sequencers by their marks",
  component: "Component",
  groups: "Groups",
  bound: "Bound together",
  processes: "Processes",
  sequencers: "Sequencers",
  load: "Load",
  loadOf: (us: string) => `${us} µs a second`,
  free: "none",
  homeOf: (node: string, groups: number) => `${node}: ${number(groups)}`,
  andMore: (names: string, more: number) =>
    more === 0 ? names : `${names} and ${number(more)} more`,
  islandOf: (names: string, groups: number, homes: string) =>
    `${names}: ${plural(groups, "1 group", `${number(groups)} groups`)}, at ${homes}`,
  notDrawn: (count: number) => `and ${number(count)} more`,
  leftOut: (count: number) =>
    `${plural(count, "1 group has", `${number(count)} groups have`)} not been compared with the others: there are too many processes.`,
  // who counts for nothing
  observers: "Observers",
  observersHint:
    "These bind no groups to each other: they have joined strict groups as observers, or are in so many groups that they would join nearly everything. An observer is given each group's order, and no order across groups.",
  halls: "Very large groups",
  hallsHint: "So many are in these groups that they would join nearly everything, too.",
  noObservers: "Nobody observes strict groups, and nobody is in nearly everything.",
  observes: (count: number) =>
    `observes ${plural(count, "1 strict group", `${number(count)} strict groups`)}`,
  inGroups: (count: number) => plural(count, "in 1 group", `in ${number(count)} groups`),
  hasProcesses: (count: number) => plural(count, "1 process", `${number(count)} processes`),
  allProcesses: (count: number) =>
    `${plural(count, "1 process", `${number(count)} processes`)}, with those of the nodes`,
  processOf: (node: string, process: number) => `Process ${process} of node ${node}`,
  // the pipeline
  pipeline: "What the pipeline has found",
  noPipeline:
    "Nothing is here of the pipeline's overlap job. It looks at strict groups over all of the trace:",
  pipelineAt: (when: string, components: number) =>
    `As of ${when}: ${plural(components, "1 component", `${number(components)} components`)} of strict groups.`,
  noPipelineComponents: "It has found no strict groups that hang together.",
  heldBy: "Held together by",
  nobodyHolds: "nobody alone",
  partedBy: (who: string, parts: number, largest: number) =>
    `${who}: without them ${number(parts)} parts, the largest of ${plural(largest, "1 group", `${number(largest)} groups`)}`,
  // one component
  allComponents: "All components",
  drawnOf: (drawn: number, all: number) =>
    drawn === all
      ? `All ${plural(all, "1 group is", `${number(all)} groups are`)} drawn; the numbers are those of the table.`
      : `The busiest ${number(drawn)} of ${number(all)} groups are drawn; the numbers are those of the table.`,
  lineBound: "bound: one sequencer",
  lineShared: "two or more processes in common",
  lineTied: "written to in turn",
  place: "Number",
  markOf: (place: number, name: string, node: string) => `${number(place)}: ${name}, at ${node}`,
  groupsHere: "Groups of this component",
  noneLeft: "These groups are no more.",
  isAlone: "This group hangs together with no other.",
  // costs
  moveCost: (name: string) => `What a move of ${name} would cost`,
  goesAlone: (node: string) => `It goes alone. It is at ${node} now.`,
  goesWith: (count: number, node: string, names: string) =>
    `${number(count)} groups go together, as they are bound. They are at ${node} now: ${names}.`,
  carries: "It carries",
  rate: (messages: number, bytes: string) =>
    `${plural(messages, "1 message", `${number(messages)} messages`)} a second, ${bytes}`,
  members: "Who is in it",
  history: "Kept history",
  pause: "Pause",
  noPause: "nothing has moved here yet",
  pauseOf: (ms: number, waiting: number) =>
    `${number(ms)} ms, as moves have taken here; about ${plural(waiting, "1 message waits", `${number(waiting)} messages wait`)} meanwhile`,
  historyStays: (bytes: string) =>
    `${bytes}; it stays where it is until everybody has it, and nothing of it is lost`,
  moveTo: "To node",
  loadThere: "Load there",
  imbalance: "Fullest node, times the mean",
  fromTo: (before: string, after: string) => `${before} → ${after}`,
  noTarget: "There is no other node that may take it.",
  ties: (names: string) =>
    `It is written to in turn with ${names}. With another sequencer each turn takes a hop more.`,
  tieOf: (name: string, turns: number) =>
    `${name} (${plural(turns, "once", `${number(turns)} times`)} a second)`,
  moveIt: "Look at this group, and move it",
  splitCost: "What a split would cost",
  splitFree:
    "Nothing: none of these groups is bound to another. Each may have a sequencer of its own, and nobody has to leave.",
  splitWho: "These groups are bound. They could part if one of these left one of them:",
  splitNobody:
    "These groups are bound, and no single person's leaving would part them: several would have to leave.",
  splitUnknown:
    "These groups are bound. There are too many of them to say whose leaving would part them.",
  andOthers: (count: number) => `and ${number(count)} more`,
};
