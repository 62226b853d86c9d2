/** What people read of roles and browsers. */

import { accountWords } from "../words/account";
import { auditWords } from "../words/audit";

export function roleName(role: string): string {
  switch (role) {
    case "viewer":
      return accountWords.viewer;
    case "commenter":
      return accountWords.commenter;
    case "editor":
      return accountWords.editor;
    case "owner":
      return accountWords.owner;
    case "none":
      return accountWords.none;
    default:
      return role;
  }
}

const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg\//, "Edge"],
  [/\bFirefox\//, "Firefox"],
  [/\bChrome\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\bAndroid\b/, "Android"],
  [/\biPhone|iPad\b/, "iOS"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bLinux\b/, "Linux"],
];

/** "Firefox on Linux", or what the program calls itself. */
export function agentName(agent: string): string {
  const browser = BROWSERS.find(([sign]) => sign.test(agent))?.[1];
  const system = SYSTEMS.find(([sign]) => sign.test(agent))?.[1];
  if (browser === undefined) return agent.slice(0, 60) || accountWords.unknownProgram;
  return system === undefined ? browser : accountWords.browserOn(browser, system);
}

/** What was done, of the audit log; a code that has no words here as it is. */
export function deedName(code: string): string {
  const key = code.replaceAll(".", "_");
  if (!Object.hasOwn(auditWords, key)) return code;
  return auditWords[key as keyof typeof auditWords];
}
