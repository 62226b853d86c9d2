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
  awaits: (nodes: string, members: string, needed: number, or: string) =>
    `At ${nodes} the cluster waits: of the last view (${members}) ${number(needed)} nodes have to be there with their folders${or}.`,
  awaitsFirstAlone: (first: string) => `, or ${first} alone`,
  awaitsFirst: (half: number, first: string) => `, or ${number(half)} with ${first} among them`,
  awaitsBound: (nodes: string, missing: string) =>
    `At ${nodes} the cluster waits: the next view may have been decided, and needs ${missing}.`,
  awaitsHere: (here: string) => `There: ${here}.`,
  awaitsEmpty: (empty: string) => `There with an empty folder: ${empty}.`,
  awaitsMissing: (missing: string) => `Not there: ${missing}.`,
  awaitsHint: (node: string) =>
    `What was saved last may be on those alone. If a folder never comes back, python -m server recover at the machine of ${node} says what may be lost, and goes on without it.`,
  diskFull: (node: string) => `The disk of node ${node} is full.`,
  nodeRebuilding: (node: string) => `Node ${node} is taking over the state of the others.`,
  nodeLeaving: (node: string) => `Node ${node} is leaving.`,
  nodeSlow: (node: string, ms: number) =>
    `At node ${node} a message has waited ${number(ms)} ms for its number.`,
  viewsFlap: (views: number, minutes: number, nodes: string) =>
    `Nodes come and go: ${plural(views, "1 view", `${number(views)} views`)} in the last ${number(minutes)} minutes${nodes === "" ? "" : `; left out: ${nodes}`}. Look at the load of their machines and at the network between them.`,
  timesOf: (node: string, times: number) =>
    `${node} ${plural(times, "once", `${number(times)} times`)}`,
  nodeStarved: (node: string, seconds: number) =>
    `The process of node ${node} did not run for ${number(seconds)} s in the last ten minutes: its machine is too busy.`,
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
  certificateEnds: (node: string, days: number) =>
    days < 1
      ? `The certificate of node ${node} is good for less than a day: issue the next one and restart the node.`
      : `The certificate of node ${node} is good for ${plural(days, "one day", `${number(days)} days`)} more: issue the next one and restart the node.`,
  certificateOver: (node: string) =>
    `The certificate of node ${node} is over: no node that starts now will speak with it. Issue the next one and restart the node.`,
  nodeErasing: (node: string, documents: number) =>
    `Node ${node} has still to erase ${plural(documents, `${number(documents)} document that was`, `${number(documents)} documents that were`)} deleted for good.`,
  keysChanging: (node: string) => `Node ${node} is changing the cluster key.`,
  certificateForged: "The certificate of the last audit is not as it was signed.",
  orderBroken: (violations: number) =>
    `The last audit says that the order was broken: ${plural(violations, "1 violation", `${number(violations)} violations`)}.`,
  showAudit: "Show the audit",
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
  resultsHint: "The pipeline's results are read from the folder that the setting --results names.",
  // groups
  groups: "Groups",
  group: "Group",
  searchGroups: "Search by name, title or number",
  sortBy: "Sort by",
  noGroups: "There are no groups yet.",
  noSuchGroups: "No group is called that.",
  sequencer: "Sequencer",
  goesTo: (from: string, to: string) => `${from}, goes to ${to}`,
  order: "Order",
  causallyTotal: "causally total",
  strict: "strict",
  fifo: "by sender",
  volatile: "latest wins",
  epoch: "Epoch",
  head: "Last number",
  members: "Members",
  latency: "Time of a call",
  history: "Kept history",
  noCalls: "no calls",
  chooseNode: "Choose a node",
  moveTo: "Sequence at",
  move: "Move",
  isSent: (node: string) => `On its way to ${node}.`,
  togetherWith: (names: string) => `It must have one sequencer with: ${names}.`,
  positions: "How far each node is",
  delivered: "Delivered up to",
  behindBy: "Behind by",
  notHere: "not delivered here",
  membersOf: (count: number) => plural(count, "1 member", `${number(count)} members`),
  nobodyIn: "Nobody is in this group.",
  processOf: (node: string, process: number) => `Process ${process} of node ${node}`,
  joinedAt: (node: string, since: number) => `At node ${node}, since number ${number(since)}`,
  observes: "observes",
  isBehind: "reads too slowly",
  pages: "Pages",
  pageOf: (page: number, pages: number, count: number) =>
    pages === 1
      ? `${number(count)} in all`
      : `Page ${number(page)} of ${number(pages)}, ${number(count)} in all`,
  former: "Previous",
  next: "Next",
  // acting on nodes
  drainHint:
    "A drained node sequences nothing: its groups move to the others, and its pages stay. Do it before work on the machine.",
  drain: "Drain",
  revive: "Revive",
  sendAway: "Have it leave",
  drainNode: (node: string) => `Drain node ${node}`,
  reviveNode: (node: string) => `Revive node ${node}`,
  sendNodeAway: (node: string) => `Have node ${node} leave`,
  isDrained: (node: string) => `Node ${node} is being drained.`,
  isRevived: (node: string) => `Node ${node} may sequence again.`,
  isLeaving: (node: string) => `Node ${node} leaves.`,
  leaveQuestion: (node: string) => `Have node ${node} leave the cluster?`,
  leaveText:
    "Its program ends, and its pages go to the other nodes. Whoever watches the program may start it again.",
  keepIt: "Keep it",
  versionSince: (version: string, since: string) => `Version ${version}, since ${since}`,
  holds: (groups: number, held: number, documents: number) =>
    `Sequences ${plural(groups, `${number(groups)} group`, `${number(groups)} groups`)}, delivers ${number(held)}, ${plural(documents, `${number(documents)} document`, `${number(documents)} documents`)} open`,
  keyEpoch: (epoch: string, accepted: string) => `Key epoch ${epoch}, accepted: ${accepted}`,
  clusterKey: "Cluster key",
  keyHint:
    "Put the new key on a line behind the present one in the key file of every node first. Nobody is cut off while it changes. Nodes with the same key show the same key epoch.",
  changeKey: "Change the key",
  keyChanged: "All nodes use the new key.",
  keyChanging: "The nodes are changing the key.",
  settingsOf: (node: string) => `Settings of node ${node}`,
  settingsHint:
    "What differs from the default is bold. Of secrets only whether they are set is shown.",
  setting: "Setting",
  value: "Value",
  isSet: "set, not shown",
  empty: "empty",
  valueUnit: (value: string, unit: string) => `${value} ${unit}`,
  drops: "Dropped, by reason",
  noDrops: "Nothing has been dropped.",
  dropReason: "Reason",
  times: "Times",
  // sessions
  searchSessions: "Search by person",
  sessionsAt: (node: string, count: number) =>
    `${node}: ${plural(count, `${number(count)} session`, `${number(count)} sessions`)}`,
  noSessions: "Nobody is here.",
  noSuchSessions: "Nobody of this name is here.",
  visitor: "A visitor by a link",
  somebody: "Somebody",
  sessionLine: (node: string, since: string, objects: number) =>
    `At node ${node} since ${since}, ${plural(objects, `${number(objects)} object`, `${number(objects)} objects`)} open`,
  pageAway: "The page is away, and may come back",
  fallsBehind: (objects: number, bytes: string) =>
    `Behind in ${plural(objects, `${number(objects)} object`, `${number(objects)} objects`)}, ${bytes} not sent`,
  end: "End",
  endAll: "End all",
  endOf: (name: string, node: string) => `End the session of ${name} at node ${node}`,
  endAllOf: (name: string) => `End all sessions of ${name}`,
  isEnded: (name: string) => `A session of ${name} is over.`,
  allEnded: (name: string) =>
    `All sessions of ${name} are over. Tokens of programs stay good until they are revoked.`,
};
