import type english from "../en/credentials";
import type { Translation } from "../language";

export default {
  bad_passkey: "Dieser Passkey passt hier nicht, oder nicht allein.",
  noPasskey:
    "Es wurde kein Passkey benutzt. Versuchen Sie es noch einmal, oder melden Sie sich anders an.",
  passkeySignIn: "Mit einem Passkey anmelden",
  usePasskey: "Passkey benutzen",
  passkeys: "Passkeys",
  yourPasskeys: "Ihre Passkeys",
  passkeysHint:
    "Ein Schlüssel in Ihrem Gerät oder Passwortmanager: Sie melden sich damit allein an, oder nach Ihrem Passwort. Niemand kann ihn Ihnen entlocken.",
  noPasskeysHere: "Dieser Browser hat für diese Adresse keine Passkeys.",
  passkeyName: "Name des Passkeys",
  passkeyNameHint: "Zum Beispiel das Gerät, in dem er ist.",
  makePasskey: "Passkey anlegen",
  passkeyMade:
    "Der Passkey ist angelegt. Die Anmeldung mit Ihrem Passwort fragt nach ihm oder nach einem Code.",
  passkeySince: (day) => `angelegt am ${day}`,
  removePasskeyOf: (name) => `Passkey ${name} entfernen`,
  passkeyRemoved: "Der Passkey gilt nicht mehr.",
  removeByCode:
    "Zum Entfernen braucht es einen Code, aus Ihrer Authenticator-App oder zur Wiederherstellung.",
  bad_code: "Dieser Code ist falsch oder wurde schon benutzt.",
  no_mail: "Dieser Server versendet keine E-Mails. Fragen Sie einen Eigentümer.",
  second_factor: "Dieses Konto fragt auch nach einem Code. Melden Sie sich noch einmal an.",
  unproved:
    "Es gibt ein Konto mit Ihrer Adresse, und wer es angelegt hat, hat nicht nachgewiesen, dass die Adresse die eigene ist. Melden Sie sich mit dem Passwort an und verknüpfen Sie es, oder fragen Sie einen Eigentümer.",
  codeTitle: "Zweiter Faktor",
  code: "Code",
  codeHint: "Aus Ihrer Authenticator-App, oder einer Ihrer Wiederherstellungscodes.",
  forgotten: "Passwort vergessen?",
  back: "Zurück zur Anmeldung",
  forgottenTitle: "Neues Passwort",
  sendLink: "Link senden",
  linkSent:
    "Wenn es ein Konto mit dieser Adresse gibt, ist eine E-Mail mit einem Link unterwegs. Er gilt eine Stunde.",
  resetHint:
    "Alle, die mit Ihrem Konto angemeldet sind, werden abgemeldet, und seine Tokens verfallen.",
  resetDone: "Ihr Passwort ist geändert. Melden Sie sich damit an.",
  wholeMailLink: "Öffnen Sie den ganzen Link der E-Mail noch einmal, mit allem hinter dem „#“.",
  address: "E-Mail-Adresse",
  isProved: (mail) => `${mail} ist bestätigt.`,
  isNotProved: (mail) =>
    `${mail} ist nicht bestätigt. Was andere mit dieser Adresse teilen, erreicht Sie erst dann.`,
  askOwner: "Bitten Sie einen Eigentümer des ersten Arbeitsbereichs, sie zu bestätigen.",
  sendProof: "Link zum Bestätigen senden",
  proofSent:
    "Eine E-Mail ist unterwegs. Öffnen Sie ihren Link innerhalb von 24 Stunden in diesem Browser.",
  confirmTitle: "Bestätigen Sie Ihre Adresse",
  signInToConfirm: "Melden Sie sich mit dem Konto an, dessen Adresse Sie bestätigen.",
  confirmed: "Ihre Adresse ist bestätigt.",
  goOn: "Weiter",
  linkProvider: "Mit Ihrer Organisation verknüpfen",
  linkedProvider: "Sie können sich bei Ihrer Organisation anmelden.",
  theAddress: "Ihre Adresse",
  factor: "Zweiter Faktor",
  theFactor: "Ihr zweiter Faktor",
  factorOn: "Die Anmeldung fragt nach einem Code Ihrer Authenticator-App.",
  factorOff: "Mit einer Authenticator-App meldet sich niemand an, der nur Ihr Passwort hat.",
  setUp: "Authenticator-App einrichten",
  scan: "Scannen Sie dieses Bild mit Ihrer Authenticator-App, oder geben Sie den Schlüssel dort ein. Geben Sie dann den Code ein, den sie zeigt.",
  picture: "QR-Code mit dem Schlüssel",
  key: "Schlüssel",
  turnOn: "Ab jetzt nach Codes fragen",
  turnedOn: "Die Anmeldung fragt jetzt nach einem Code. Sie sind überall sonst abgemeldet.",
  recovery: "Wiederherstellungscodes",
  recoveryNote:
    "Jeder gilt einmal statt eines Codes, wenn das Gerät verloren ist. Bewahren Sie sie woanders auf.",
  turnOff: "Nicht mehr nach Codes fragen",
  turnedOff: "Die Anmeldung fragt nach keinem Code mehr.",
  cancel: "Abbrechen",
  notProved: "Adresse nicht bestätigt",
  withFactor: "zweiter Faktor",
  confirm: "Bestätigen",
  confirmPerson: (name) => `Adresse von ${name} bestätigen`,
  confirmQuestion: (name, mail) =>
    `Wissen Sie, dass ${name} dieses Konto benutzt und die Adresse ${mail} hat? Was mit der Adresse geteilt wurde, wird wirksam.`,
  isTheirs: "Ja, es gehört dieser Person",
  handOver:
    "Nein: Passwort, Anmeldungen und Tokens beenden und es denen geben, die die Adresse haben",
  personConfirmed: (name) => `Die Adresse von ${name} ist bestätigt.`,
  personHandedOver: (name) =>
    `Das Konto von ${name} ist für die Person mit der Adresse. Wer es benutzt hat, ist abgemeldet.`,
  resetFactor: "Zweiten Faktor entfernen",
  resetFactorOf: (name) => `Zweiten Faktor von ${name} entfernen`,
  factorRemoved: (name) => `${name} wird nach keinem Code mehr gefragt.`,
  pendingRole: (role) => `ausstehend: ${role}, sobald die Adresse bestätigt ist`,
  sharedPending: (mail) =>
    `${mail} hat diese Adresse noch nicht bestätigt. Die Rolle wird wirksam, sobald das geschieht.`,
  takeBackPending: (name) => `Zurücknehmen, was auf ${name} wartet`,
} satisfies Translation<typeof english>;
