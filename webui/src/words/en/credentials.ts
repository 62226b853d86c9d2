export default {
  // codes of the server
  bad_code: "This code is wrong, or was used already.",
  no_mail: "This server sends no mail. Ask an owner.",
  second_factor: "This account asks for a code, too. Sign in again.",
  unproved:
    "There is an account with your address, and whoever made it has not proved that the address is theirs. Sign in with its password and link it, or ask an owner.",
  // signing in
  codeTitle: "Second factor",
  code: "Code",
  codeHint: "From your authenticator, or one of your codes for recovery.",
  forgotten: "Password forgotten?",
  back: "Back to signing in",
  // a new password
  forgottenTitle: "New password",
  sendLink: "Send a link",
  linkSent:
    "If there is an account with this address, a mail with a link is on its way. It is good for an hour.",
  resetHint: "Everybody who is signed in with your account is signed out, and its tokens end.",
  resetDone: "Your password is changed. Sign in with it.",
  wholeMailLink: "Open the whole link of the mail again, with everything behind the “#”.",
  // one's own address
  address: "Mail address",
  isProved: (mail: string) => `${mail} is confirmed.`,
  isNotProved: (mail: string) =>
    `${mail} is not confirmed. What others share with this address reaches you once it is.`,
  askOwner: "Ask an owner of the first workspace to confirm it.",
  sendProof: "Send a link to confirm it",
  proofSent: "A mail is on its way. Open its link in this browser, within 24 hours.",
  confirmTitle: "Confirm your address",
  signInToConfirm: "Sign in with the account whose address you confirm.",
  confirmed: "Your address is confirmed.",
  goOn: "Go on",
  linkProvider: "Link with your organisation",
  linkedProvider: "You can sign in with your organisation.",
  theAddress: "your address",
  // the second factor
  factor: "Second factor",
  theFactor: "your second factor",
  factorOn: "Signing in asks for a code of your authenticator.",
  factorOff: "With an authenticator nobody signs in who has only your password.",
  setUp: "Set up an authenticator",
  scan: "Scan this picture with your authenticator, or type the key into it. Then type the code that it shows.",
  picture: "QR code with the key",
  key: "Key",
  turnOn: "Ask for codes from now on",
  turnedOn: "Signing in asks for a code now. You are signed out everywhere else.",
  recovery: "Codes for recovery",
  recoveryNote:
    "Each is good once, instead of a code, when the device is lost. Keep them elsewhere.",
  turnOff: "Ask for no code any more",
  turnedOff: "Signing in asks for no code any more.",
  cancel: "Cancel",
  // accounts of others
  notProved: "address not confirmed",
  withFactor: "second factor",
  confirm: "Confirm",
  confirmPerson: (name: string) => `Confirm the address of ${name}`,
  confirmQuestion: (name: string, mail: string) =>
    `Do you know that ${name} uses this account, and has the address ${mail}? What was shared with the address takes effect.`,
  isTheirs: "Yes, it is theirs",
  handOver: "No: end its password, sign-ins and tokens, and give it to who has the address",
  personConfirmed: (name: string) => `The address of ${name} is confirmed.`,
  personHandedOver: (name: string) =>
    `The account of ${name} is for who has the address. Who used it is signed out.`,
  resetFactor: "Remove second factor",
  resetFactorOf: (name: string) => `Remove the second factor of ${name}`,
  factorRemoved: (name: string) => `${name} is asked for no code any more.`,
  // sharing
  pendingRole: (role: string) => `pending: ${role}, once the address is confirmed`,
  sharedPending: (mail: string) =>
    `${mail} has not confirmed this address yet. The role takes effect when they do.`,
  takeBackPending: (name: string) => `Take back what waits for ${name}`,
};
