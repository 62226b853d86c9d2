import { number, plural } from "../formats";

export default {
  order: "Order",
  operations: "Operations",
  kept: "The order was kept",
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
  backup: "Backup",
  backupHint:
    "A backup of the whole cluster, taken while people write: documents, pictures, accounts. It holds what signs people in: keep it as safe as the cluster itself.",
  verifyHint:
    "Verify the file before you rely on it; a restore goes into the empty folder of a node.",
  takeBackup: "Take a backup",
  auditLog: "Audit log",
  auditHint:
    "What was done, and by whom; each entry is chained to the one before it. Each node has the whole log in a file:",
  when: "When",
  what: "What",
  who: "Who",
  about: "About",
  judged: (deliveries: number, day: string) =>
    `${plural(deliveries, `${number(deliveries)} delivery was`, `${number(deliveries)} deliveries were`)} judged, as of ${day}.`,
  waiting: (count: number) =>
    `${plural(count, `${number(count)} delivery waits`, `${number(count)} deliveries wait`)} for the logs of other nodes.`,
  gapsAt: (nodes: string) => `Rows are missing of: ${nodes}. What rests on them was not judged.`,
  sampledAt: (nodes: string) =>
    `Only a sample was written by: ${nodes}. Gaps were not looked for there.`,
};
