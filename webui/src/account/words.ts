/** What people read of roles, times and browsers. */

const ROLE_NAMES: Readonly<Record<string, string>> = {
  viewer: "Can read",
  commenter: "Can read and comment",
  editor: "Can edit",
  owner: "Owner",
  none: "No role",
};

export function roleName(role: string): string {
  return ROLE_NAMES[role] ?? role;
}

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const MINUTE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** A day of the API in the person's own way; "" when it is none. */
export function dayOf(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.valueOf()) ? "" : DAY.format(date);
}

/** Day and minute. */
export function minuteOf(time: string): string {
  const date = new Date(time);
  return Number.isNaN(date.valueOf()) ? "" : MINUTE.format(date);
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
  if (browser === undefined) return agent.slice(0, 60) || "Unknown program";
  return system === undefined ? browser : `${browser} on ${system}`;
}

/** Where to go back to behind a sign-in: a path of this page, never another site. */
export function safeReturn(path: string | null): string {
  if (path === null || !/^\/(?![/\\])/.test(path)) return "/";
  const url = new URL(path, location.origin);
  const isOurs = url.origin === location.origin && !url.pathname.startsWith("/sign-in");
  return isOurs ? url.pathname : "/";
}
