import type english from "../en/common";
import type { Translation } from "../language";

export default {
  allDocuments: "Alle Dokumente",
  brandLink: "Groupcore, alle Dokumente",
  guest: "Gast",
  loading: "Wird geladen",
  loadingOf: (what) => `Wird geladen: ${what}`,
  notLoadedTitle: "Diese Seite konnte nicht geladen werden",
  outdated: "Der Server ist nicht erreichbar oder wurde erneuert.",
  pageTitle: (page) => `${page} – Groupcore`,
  signIn: "Anmelden",
  signedOut: "Sie sind abgemeldet.",
  skip: "Zum Inhalt springen",
  tryAgain: "Noch einmal versuchen",
  untitled: "Ohne Titel",
  wentWrong: "In dieser Seite ist etwas schiefgegangen.",
  unreachable:
    "Der Server ist nicht erreichbar. Prüfen Sie die Verbindung und versuchen Sie es noch einmal.",
  unreadable: "Die Antwort des Servers war nicht lesbar.",
  serverError: (status) => `Der Server hat mit einem Fehler geantwortet (${status}).`,
  account: "Konto",
  accounts: "Konten",
  console: "Konsole",
  people: "Personen",
  yourAccount: (name) => `${name}, Ihr Konto`,
  language: "Sprache",
} satisfies Translation<typeof english>;
