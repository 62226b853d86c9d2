import type english from "../en/own-data";
import { number } from "../formats";
import type { Translation } from "../language";

export default {
  attempts: (count, time) =>
    count === 1
      ? `Jemand hat einmal vergeblich versucht, sich als Sie anzumelden, am ${time}.`
      : `Jemand hat ${number(count)}-mal vergeblich versucht, sich als Sie anzumelden, zuletzt am ${time}.`,
  attemptsHint:
    "So ist niemand hineingekommen. Wenn Sie es nicht waren, wählen Sie ein Passwort, das Sie sonst nirgends benutzen, oder fügen Sie einen Passkey hinzu.",
  yourData: "Ihre Daten",
  downloadHint:
    "Ein Zip mit allem, was dieser Server von Ihnen hat: Konto, Anmeldungen, Rollen, die Einträge des Protokolls über Sie, und Ihre Dokumente als Markdown und JSON.",
  download: "Ihre Daten herunterladen",
  gathering: "Ihre Daten werden zusammengestellt…",
  downloaded: "Ihre Daten sind in den Downloads Ihres Browsers.",
  erase: "Konto löschen",
  eraseHint: "Endgültig: Niemand kann es zurückholen, auch nicht, wer den Server betreibt.",
  beginErasing: "Konto löschen…",
  whatComes: "was geht und was bleibt",
  goes: "Was geht",
  goesAccount:
    "Ihr Name, Ihre Mailadresse und Ihr Passwort, Passkeys, Tokens und alle Ihre Anmeldungen.",
  goesRoles: "Ihre Rollen, Favoriten und die Liste dessen, was Sie geöffnet haben.",
  goesWorkspaces: (names) => `In den Papierkorb, weil sonst niemand darin ist: ${names}.`,
  stays: "Was bleibt",
  staysTexts:
    "Was Sie in Dokumenten anderer geschrieben haben, als von „einem gelöschten Konto“. Links, die Sie angelegt haben.",
  staysLog:
    "Einträge im Protokoll des Servers, unter einer Nummer, die niemanden nennt, und Backups, bis sie gelöscht werden.",
  lastOwner:
    "Ihnen allein gehört der erste Arbeitsbereich, also gehörte dieser Server dann niemandem.",
  lastOwnerHint: "Machen Sie dort zuerst jemand anderen zum Besitzer.",
  toPeople: "Zu den Personen",
  mustHandOver: (names) => `In ${names} arbeiten andere, also muss jemand übernehmen.`,
  fate: (count) =>
    count === 1
      ? "Ein Dokument, das nur Ihnen gehört"
      : `${number(count)} Dokumente, die nur Ihnen gehören`,
  fateOfSpaces: "Was nur Ihnen gehört",
  stay: "Den Besitzern des Arbeitsbereichs lassen",
  handOver: "Jemandem übergeben",
  trash: "In den Papierkorb legen",
  heir: "Mailadresse der Person, die übernimmt",
  heirHint: "Ein Konto hier, dessen Adresse bestätigt ist.",
  code: "Code",
  codeHint: "Aus Ihrem Authenticator, oder einer Ihrer Codes zur Wiederherstellung.",
  typeAddress: "Ihre Mailadresse, um sicher zu sein",
  typeAddressHint: (mail) => `Tippen Sie ${mail}.`,
  eraseForGood: "Mein Konto endgültig löschen",
  keep: "Konto behalten",
} satisfies Translation<typeof english>;
