import { number } from "../formats";

export default {
  // tries of others
  attempts: (count: number, time: string) =>
    count === 1
      ? `Somebody tried to sign in as you once and failed, on ${time}.`
      : `Somebody tried to sign in as you ${number(count)} times and failed, last on ${time}.`,
  attemptsHint:
    "Nobody got in that way. If it was not you, choose a password that you use nowhere else, or add a passkey.",
  // having it
  yourData: "Your data",
  downloadHint:
    "A zip of all that this server holds of you: account, sign-ins, roles, the log’s entries about you, and your documents as Markdown and JSON.",
  download: "Download your data",
  gathering: "Gathering your data…",
  downloaded: "Your data is in your browser’s downloads.",
  // erasing it
  erase: "Delete your account",
  eraseHint: "For good: nobody can bring it back, not even whoever runs the server.",
  beginErasing: "Delete your account…",
  whatComes: "what goes and what stays",
  goes: "What goes",
  goesAccount: "Your name, mail address and password, passkeys, tokens, and all your sign-ins.",
  goesRoles: "Your roles, favourites, and the list of what you opened.",
  goesWorkspaces: (names: string) => `Into the trash, as nobody else is in them: ${names}.`,
  stays: "What stays",
  staysTexts:
    "What you wrote in documents of others, as by “a deleted account”. Links that you made.",
  staysLog:
    "Entries of the server’s log, by a number that names nobody, and backups until they are deleted.",
  lastOwner: "You are the last owner of the first workspace, so this server would be nobody’s.",
  lastOwnerHint: "Make somebody else an owner there first.",
  toPeople: "Go to people",
  mustHandOver: (names: string) => `Others work in ${names}, so somebody has to take over.`,
  fate: (count: number) =>
    count === 1 ? "A document that only you own" : `${number(count)} documents that only you own`,
  fateOfSpaces: "What only you own",
  stay: "Leave to the owners of the workspace",
  handOver: "Hand over to somebody",
  trash: "Put into the trash",
  heir: "Mail address of who takes over",
  heirHint: "An account here whose address is confirmed.",
  code: "Code",
  codeHint: "From your authenticator, or one of your codes for recovery.",
  typeAddress: "Your mail address, to be sure",
  typeAddressHint: (mail: string) => `Type ${mail}.`,
  eraseForGood: "Delete my account for good",
  keep: "Keep my account",
};
