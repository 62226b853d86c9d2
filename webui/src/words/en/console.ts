import { number, plural } from "../formats";

export default {
  // the console as a whole
  console: "Console",
  ownersOnly: "Owners of the first workspace run the cluster. Ask one of them.",
  noSuchPart: "The console has no such page. Choose one above.",
  overview: "Overview",
  // health
  healthGood: "All is well",
  healthFair: "It works, and something wants to be looked at",
  healthBad: "Something does not work now",
  levelBad: "Broken:",
  levelWarn: "Look:",
  levelNote: "Note:",
  clusterLine: (name: string, nodes: number, groups: number) =>
    `Cluster ${name}: ${plural(nodes, "1 node", `${number(nodes)} nodes`)}, ${plural(groups, "1 group", `${number(groups)} groups`)}.`,
  // alerts
  nodeSilent: (node: string) => `Node ${node} does not answer.`,
  nodeAway: (node: string) => `Node ${node} is not in the cluster now.`,
  nodesMissing: (members: number, wanted: number) =>
    `${number(members)} of ${number(wanted)} nodes are here.`,
  versionsDiffer: (versions: string) => `The nodes run different versions: ${versions}.`,
  nodeDraining: (node: string) => `Node ${node} is drained: it sequences nothing.`,
  nodeStale: (node: string) =>
    `Node ${node} reaches too few others: its pages can read, and keep their edits.`,
  diskFull: (node: string) => `The disk of node ${node} is full.`,
  nodeRebuilding: (node: string) => `Node ${node} is taking over the state of the others.`,
  nodeLeaving: (node: string) => `Node ${node} is leaving.`,
  nodeSlow: (node: string, ms: number) =>
    `At node ${node} a message has waited ${number(ms)} ms for its number.`,
  nodeBusy: (node: string, cpu: number) => `Node ${node} uses ${number(cpu)} % of a processor.`,
  sessionsBehind: (node: string, sessions: number) =>
    plural(
      sessions,
      `${number(sessions)} session of node ${node} reads too slowly.`,
      `${number(sessions)} sessions of node ${node} read too slowly.`,
    ),
  logBehind: (node: string, mib: number) =>
    `The disk of node ${node} is slow: ${number(mib)} MiB wait for it.`,
  nearlyFull: (node: string, sessions: number, most: number) =>
    `Node ${node} has ${number(sessions)} of at most ${number(most)} sessions.`,
  picturesMissing: (node: string, pictures: number) =>
    `Node ${node} has not got ${plural(pictures, `${number(pictures)} picture`, `${number(pictures)} pictures`)} yet.`,
  keysChanging: (node: string) => `Node ${node} is changing the cluster key.`,
  // nodes
  nodes: "Nodes",
  node: "Node",
  state: "State",
  serving: "Serving",
  stale: "Apart from the others",
  readonly: "Reading only",
  rebuilding: "Taking over the state",
  leaving: "Leaving",
  drained: "Drained",
  silent: "Does not answer",
  coordinator: "coordinator",
  groupsSequenced: "Groups it sequences",
  sessions: "Sessions",
  messagesPerSecond: "Messages a second",
  queueDelay: "Wait for a number",
  processor: "Processor",
  ms: (ms: number) => `${number(ms)} ms`,
  percent: (percent: number) => `${number(percent)} %`,
  // load
  load: "Load",
  messages: "Messages numbered",
  perSecond: "a second",
  minutesAgo: (minutes: number) =>
    plural(minutes, "1 minute ago", `${number(minutes)} minutes ago`),
  now: "now",
  nothingYet: "nothing yet",
  // views
  views: "Views",
  viewsHint:
    "A view is a list of nodes that all of them have agreed on. Only the primary one numbers messages.",
  viewOf: (id: string) => `View ${id}`,
  isPrimary: "primary",
  isNotPrimary: "not primary",
};
