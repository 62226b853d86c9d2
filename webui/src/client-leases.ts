/** Which tab has a client id, where the browser has no locks: by leases in the local storage. */

import { type ClientLocks, lockName } from "./client-lock";

const LEASE_MS = 6_000;
const RENEW_MS = 2_000;

/** What a tab takes it renews as long as it lives. */
export function leases(storage: Storage): ClientLocks {
  const held = new Set<string>();
  const renew = (): void => {
    for (const client of held) storage.setItem(lockName(client), String(Date.now()));
  };
  const release = (): void => {
    for (const client of held) storage.removeItem(lockName(client));
  };
  window.setInterval(renew, RENEW_MS);
  window.addEventListener("pagehide", release);
  window.addEventListener("pageshow", renew);
  return {
    take: (client) => {
      const renewed_ms = Number(storage.getItem(lockName(client)) ?? 0);
      const isFree = held.has(client) || Date.now() - renewed_ms > LEASE_MS;
      if (isFree) held.add(client);
      renew();
      return Promise.resolve(isFree);
    },
  };
}
