/** Has the browser keep the page: loaded once the page stands, and only where it is built. */

interface Policies {
  createPolicy(
    name: string,
    rules: { createScriptURL: () => string },
  ): {
    createScriptURL(path: string): string;
  };
}

const PATH = "/worker.js";

/** A script's address is text that runs: the one policy for it knows one. */
function address(): string {
  const { trustedTypes } = globalThis as { trustedTypes?: Policies };
  const policy = trustedTypes?.createPolicy("groupcore-worker", { createScriptURL: () => PATH });
  return policy?.createScriptURL(PATH) ?? PATH;
}

/** Once for a page. */
export function register(): void {
  // Without it the page does all but come up while no node answers.
  navigator.serviceWorker.register(address()).catch(() => undefined);
}
