import type english from "../en/problems";
import type { Translation } from "../language";

export default {
  awaits_nodes: (nodes) =>
    `Die Server warten noch auf: ${nodes}. Was zuletzt gespeichert wurde, ist vielleicht nur dort. Sagen Sie es denen, die sie betreiben.`,
  bad_credentials: "E-Mail-Adresse oder Passwort ist falsch.",
  bad_request: "Der Server hat das nicht angenommen. Prüfen Sie, was Sie geschrieben haben.",
  busy: "Der Server hat zu viel zu tun. Versuchen Sie es gleich noch einmal.",
  cycle: "Ein Ordner kann nicht in sich selbst verschoben werden.",
  expired: "Dieser Link wurde benutzt, zurückgezogen oder ist zu alt.",
  forbidden: "Das dürfen Sie nicht. Fragen Sie einen Eigentümer.",
  forbidden_origin:
    "Diese Seite darf hier nicht schreiben. Öffnen Sie sie unter der Adresse des Servers.",
  forged: "Sie haben sich in einem anderen Tab an- oder abgemeldet. Laden Sie diese Seite neu.",
  insecure:
    "Zum Anmelden braucht es eine sichere Verbindung (https). Sagen Sie es denen, die den Server betreiben.",
  internal:
    "Der Server ist daran gescheitert. Versuchen Sie es noch einmal; bleibt es so, sagen Sie es denen, die ihn betreiben.",
  last_owner: "Ein Arbeitsbereich braucht einen Eigentümer. Ernennen Sie zuerst jemand anderen.",
  no_account: "Sie haben hier noch kein Konto. Bitten Sie einen Eigentümer um eine Einladung.",
  no_such_document:
    "Unter dieser Adresse gibt es kein Dokument. Prüfen Sie sie, oder sehen Sie in der Liste nach.",
  no_such_link: "Dieser Link ist falsch, widerrufen oder zu alt.",
  not_empty: "In diesem Arbeitsbereich sind noch Dokumente oder Ordner.",
  not_found: "Das gibt es nicht mehr.",
  not_primary:
    "Dieser Server erreicht die anderen gerade nicht. Versuchen Sie es gleich noch einmal.",
  not_ready: "Der Server startet gerade erst. Versuchen Sie es gleich noch einmal.",
  provider:
    "Die Anmeldung bei Ihrer Organisation ist fehlgeschlagen. Versuchen Sie es noch einmal.",
  switched_off: "Ihr Konto ist abgeschaltet. Fragen Sie einen Eigentümer.",
  taken: "Diesen Namen oder diese Adresse gibt es schon.",
  too_deep: "Ordner können höchstens acht Ebenen tief ineinander liegen.",
  too_complex: "Die Bearbeitung dauert zu lange. Vereinfachen Sie es, oder teilen Sie es auf.",
  too_large: "Das ist zu groß.",
  too_many: "Davon gibt es schon zu viele. Entfernen Sie zuerst einige.",
  too_many_documents: "Der Server fasst keine weiteren Dokumente.",
  trashed: "Das liegt im Papierkorb. Stellen Sie es zuerst wieder her.",
  unauthenticated: "Sie sind nicht mehr angemeldet.",
  too_fast: "Zu viele Anfragen auf einmal. Versuchen Sie es gleich noch einmal.",
  wait: "Zu viele Versuche. Versuchen Sie es in einer Minute noch einmal.",
  weak_password:
    "Dieses Passwort ist zu kurz oder leicht zu erraten. Nehmen Sie mindestens 10 Zeichen.",
  outdated: "Diese Seite ist älter als der Server. Laden Sie sie neu.",
  refused: "Der Server hat abgewiesen, was diese Seite geschickt hat. Laden Sie sie neu.",
  replaced: "Die Sitzung dieser Seite wird anderswo benutzt. Laden Sie sie neu.",
  signed_out: "Sie sind nicht mehr angemeldet.",
  too_much: "Diese Seite hat zu viel geschickt. Laden Sie sie neu.",
  other: "Hier geht es nicht weiter. Laden Sie die Seite neu.",
  said: (text) => `Der Server meldet: ${text}`,
} satisfies Translation<typeof english>;
