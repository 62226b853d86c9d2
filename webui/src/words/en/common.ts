/** What several pages say. */

import { area } from "../language";

export const commonWords = area("common", {
  allDocuments: "All documents",
  brandLink: "Groupcore, all documents",
  guest: "Guest",
  loading: "Loading",
  loadingOf: (what: string) => `Loading ${what}`,
  notLoadedTitle: "This page could not be loaded",
  outdated: "The server cannot be reached, or it was updated.",
  pageTitle: (page: string) => `${page} – Groupcore`,
  signIn: "Sign in",
  signedOut: "You are signed out.",
  skip: "Skip to the content",
  tryAgain: "Try again",
  untitled: "Untitled",
  wentWrong: "Something went wrong in this page.",
  unreachable: "The server cannot be reached. Check your connection and try again.",
  unreadable: "The server's answer could not be read.",
  serverError: (status: number) => `The server answered with an error (${status}).`,
  // the way around
  account: "Account",
  accounts: "Accounts",
  people: "People",
  yourAccount: (name: string) => `${name}, your account`,
  language: "Language",
});
