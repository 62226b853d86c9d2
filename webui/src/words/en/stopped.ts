export default {
  noAccess: "No access any more",
  linkOver: "The link by which you came is not good any more.",
  askOwner: "Ask the owner, if you should have access.",
  notOpened: "This document cannot be opened",
  keptUntilSignIn:
    "You are signed out. What you have written is kept in this browser, and is sent when you sign in again.",
};
