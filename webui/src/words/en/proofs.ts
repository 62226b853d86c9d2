import { number, plural } from "../formats";

export default {
  order: "Order",
  operations: "Operations",
  kept: "The order was kept",
  keptInPart: "The order was kept as far as the logs go",
  broken: "The order was broken",
  nothingToJudge: "There was nothing to judge",
  noAudit: "No audit has been left here",
  howToAudit:
    "The pipeline audits the traces of the nodes and certifies the result. Have it leave order.json in the folder that the setting --results names:",
  isSigned:
    "The certificate is as it was signed. Compare this key with the one that you have from elsewhere:",
  isNotSigned:
    "The signature does not belong to this certificate. Trust nothing in it, and audit again.",
  rules: "Rules",
  rule: "Rule",
  demands: "What it demands",
  violations: "Violations",
  notJudged: "Could not be judged",
  whatWasJudged: "What was judged",
  deliveries: "Deliveries",
  shareProved: "Proved",
  unproved: "Not proved",
  missing: "Missing",
  firstAndLast: "First and last",
  deliveredFrom: "From",
  deliveredUntil: "Until",
  timeNotKnown: "not known",
  between: (since: string, until: string) =>
    `Delivered from ${since} to ${until}, by the clocks of the nodes.`,
  found: "What was found",
  noStore:
    "The findings are not here: the folder that the setting --results names has no store of the pipeline. Have the audit keep its store there:",
  nothingFound: (over: string) => `Nothing was found. ${over}`,
  noneOfRule: "Nothing of this rule was found.",
  allRules: "All rules",
  ruleCount: (rule: string, count: number) => `${rule} (${number(count)})`,
  showOf: (rule: string, count: number) =>
    `${rule}: ${plural(count, "show 1 violation", `show ${number(count)} violations`)}`,
  violation: "Violation",
  position: "Number in the group",
  message: "Message",
  process: "Process",
  deliveryNumber: "Delivery of the node",
  segment: "Segment of the trace",
  allFound: "All that was found",
  ruleCode: "In the certificate and in the table of the store this rule is called",
  brokenBy: "What breaks the rule",
  against: "What it breaks it against",
  around: (group: string, position: string) => `Around number ${position} of ${group}`,
  aroundGone: (gid: number, position: string) =>
    `Around number ${position} of group ${gid}, which is no more`,
  aroundHint: (first: string, last: string) =>
    `What each node delivered of the numbers ${first} to ${last}, in its own order. Two nodes agree where the same numbers have the same messages, one below the other in the same way.`,
  atNode: (node: string) => `At node ${node}`,
  delivered: "Delivered",
  span: (first: string, last: string) => `${first} to ${last}`,
  joins: "joins",
  leaves: "leaves",
  isGone: "is gone with its node",
  fromArchive: "the node's own archive",
  thisOne: "The violation speaks of this.",
  outOfTurn: "This comes behind a higher number.",
  nothingThere: "It delivered none of them.",
  notDelivered: (numbers: string) => `Not delivered here: ${numbers}.`,
  moreNodes: (count: number) =>
    `${plural(count, "1 more node", `${number(count)} more nodes`)} delivered there, too.`,
  goneGroup: (gid: number) => `Group ${gid}, which is no more`,
  howToRead: "How to read this",
  readMessage:
    "A message is named by the process that sent it and by that process's own numbers: node#life/process:first-last.",
  readSegment:
    "The segment is a file below the trace's folder. The delivery number finds the row in it: each node numbers what it delivers.",
  backup: "Backup",
  backupHint:
    "A backup of the whole cluster, taken while people write: documents, pictures, accounts. It holds what signs people in: keep it as safe as the cluster itself.",
  verifyHint:
    "Verify the file before you rely on it; a restore goes into the empty folder of a node.",
  takeBackup: "Take one and download it",
  auditLog: "Audit log",
  auditHint:
    "What was done, and by whom; each entry is chained to the one before it. Each node has the whole log in a file:",
  when: "When",
  what: "What",
  who: "Who",
  about: "About",
  judged: (deliveries: number, day: string) =>
    `${plural(deliveries, `${number(deliveries)} delivery was`, `${number(deliveries)} deliveries were`)} judged${day && `, as of ${day}`}.`,
  waiting: (count: number) =>
    `${plural(count, `${number(count)} delivery waits`, `${number(count)} deliveries wait`)} for the logs of other nodes.`,
  gapsAt: (nodes: string) =>
    `Rows are missing in the logs of: ${nodes}. What they would have shown is not proved; everything before and behind them was judged.`,
  unchecked: (count: number) =>
    `${plural(count, "1 segment has", `${number(count)} segments have`)} no checksum: damage there could be overlooked.`,
  sampledAt: (nodes: string) =>
    `Only a sample was written by: ${nodes}. Gaps were not looked for there.`,
};
