export default {
  noAccess: "No access any more",
  linkOver: "The link by which you came is not good any more.",
  askOwner: "Ask the owner, if you should have access.",
  notOpened: "This document cannot be opened",
  keptUntilSignIn:
    "You are signed out. What you have written is kept in this browser, and is sent when you sign in again.",
  noReader: "You may not read this document any more.",
  missing: "There is no document at this address. Check it, or look in the list.",
};
