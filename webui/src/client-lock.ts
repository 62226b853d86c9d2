/**
 * One live tab per client id.
 *
 * A client id numbers one stream of edits, so two tabs must never use the same one. The tab holds
 * a lock named after its id as long as it lives; the browser frees it with the tab, crashed or
 * closed. Browsers give locks only to pages from a secure address; elsewhere the tab renews a
 * lease in the local storage, which runs out when the tab is gone.
 */

export interface ClientLocks {
  /** Whether this tab holds the id from now on. */
  take(client: string): Promise<boolean>;
}

export const lockName = (client: string): string => `groupcore-client-${client}`;

/** The locks of this browser, or leases where it has none. */
export function browserLocks(): ClientLocks {
  const locks = navigator.locks as LockManager | undefined;
  return locks === undefined ? byLeases() : webLocks(locks);
}

function webLocks(locks: LockManager): ClientLocks {
  const held = new Set<string>();
  const request = (client: string): Promise<boolean> =>
    new Promise((resolve) => {
      void locks.request(lockName(client), { ifAvailable: true }, (lock) => {
        resolve(lock !== null);
        if (lock === null) return undefined;
        held.add(client);
        // Held until the tab ends.
        return new Promise<never>(() => undefined);
      });
    });
  return { take: async (client) => held.has(client) || (await request(client)) };
}

/** Loaded where they are needed: nearly all browsers have locks. */
function byLeases(): ClientLocks {
  const leased = import("./client-leases").then(({ leases }) => leases(localStorage));
  return { take: async (client) => (await leased).take(client) };
}
