import { number, plural } from "../formats";

export default {
  takeHere: "Take one at this node",
  takePromise:
    "One that is taken at this node lies in the folder of the setting --backups, and has its name only once it was read back whole. Nothing there is overwritten. What is written while it is taken may be missing.",
  noFolder: (node: string) =>
    `Node ${node} has no folder for backups. Give it one with --backups to take, verify and put back backups here.`,
  lastBackup: (time: string) => `The last whole backup of the cluster was taken ${time}.`,
  neverBackedUp: "No node that answers has ever taken a whole backup.",
  backupsAt: (node: string) => `Backups at node ${node}`,
  noBackups: "There are none yet.",
  file: "File",
  size: "Size",
  made: "Taken",
  actions: "Actions",
  verify: "Verify",
  verifyOf: (file: string) => `Verify ${file}`,
  verifyPromise: "Verifying reads every byte and changes nothing.",
  restore: "Put back",
  restoreOf: (file: string) => `Put ${file} back`,
  restoreQuestion: "Put this backup back into a new folder?",
  restorePromise:
    "The running cluster is not touched and loses nothing. A new folder is filled beside the backups and every document in it compared. Nodes started from that folder are a cluster as of the backup: without what was written since, without histories of edits and versions, and people have to sign in again.",
  restoreInto: "Name of the new folder",
  begin: "Begin",
  leaveIt: "Leave it",
  isBegun: "It has begun; see below.",
  // prune
  prune: "Prune the trace",
  prunePromise:
    "Each node removes the complete files of its trace from days before those that you keep. Documents, accounts, logs, the audit log and the pipeline's results stay. Of what the pipeline has not taken in before, the order cannot be audited any more.",
  noTrace: "No node writes a trace.",
  keepDays: "Days to keep beside today",
  dryRun: "Say what would go",
  pruneNow: "Remove it",
  pruneQuestion: (days: number) =>
    `Remove the trace of all days but today and ${plural(days, "the day before", `the ${number(days)} days before`)}?`,
  lookFirst: "See first what would go.",
  // operations
  operations: "Operations",
  operationsHint:
    "Each is done by one node, which keeps the last fifty of its own. One that fails, is cancelled or ends with its node has left nothing half done.",
  noOperations: "Nothing was begun.",
  whatBackup: "Take a backup",
  whatVerify: "Verify a backup",
  whatRestore: "Put a backup back",
  whatPrune: "Prune the trace",
  whatDryRun: "What pruning would remove",
  running: "Under way",
  done: "Done",
  failed: "Failed",
  cancelled: "Cancelled",
  lost: "Ended with its node",
  lostHint: "What it was making has a name that ends in .part, and can be removed. Begin it again.",
  atNode: (node: string, when: string) => `At node ${node}, begun ${when}`,
  progress: (what: string) => `How far: ${what}`,
  bytesOf: (done: string, total: string) => `${done} of ${total}`,
  bytesSoFar: (done: string) => `${done} so far`,
  documentsOf: (done: number, total: number) =>
    `${number(done)} of ${plural(total, "1 document", `${number(total)} documents`)}`,
  cancel: "Cancel",
  cancelOf: (what: string) => `Cancel: ${what}`,
  holds: (documents: number, blocks: number, pictures: number, bytes: string) =>
    `It is whole: ${plural(documents, "1 document", `${number(documents)} documents`)}, ${plural(blocks, "1 block", `${number(blocks)} blocks`)}, ${plural(pictures, "1 picture", `${number(pictures)} pictures`)}, ${bytes}.`,
  filled: (folder: string, documents: number, people: number) =>
    `${folder} is filled: ${plural(documents, "1 document", `${number(documents)} documents`)}, ${plural(people, "1 account", `${number(people)} accounts`)}. Start a first node with --data there.`,
  went: (node: string, segments: number, bytes: string) =>
    `${node}: ${plural(segments, "1 file", `${number(segments)} files`)}, ${bytes}`,
  writesNone: (node: string) => `${node}: writes no trace`,
  wentSilent: (node: string) => `${node}: does not answer; nothing is known of it`,
};
