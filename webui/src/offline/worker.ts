/** The service worker: it keeps the page in this browser, and gives it where no node answers. */

import { type Build, KeptBuild } from "./kept-build";

/** What vite.worker.config.ts puts in. */
declare const BUILD: Build;

interface Lasting extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface Asking extends Lasting {
  readonly request: Request;
  /** What the browser has asked for while it started this. */
  readonly preloadResponse: Promise<Response | undefined>;
  respondWith(answer: Promise<Response>): void;
}

/** What is used here of what service workers have beside what pages have. */
interface Worker {
  readonly caches: CacheStorage;
  readonly clients: { claim(): Promise<void> };
  readonly registration: { readonly navigationPreload?: { enable(): Promise<void> } };
  skipWaiting(): Promise<void>;
  addEventListener(name: "install" | "activate", act: (event: Lasting) => void): void;
  addEventListener(name: "fetch", act: (event: Asking) => void): void;
}

/** Addresses that are no page: programs', and files. */
const NO_PAGE = /^\/api\/|\.\w+$/;
const FILE = /^\/assets\//;

const worker = self as unknown as Worker;
const kept = new KeptBuild(BUILD, {
  caches: worker.caches,
  fetch: (path, init) => fetch(path, init),
  after: (delay_ms) => new Promise((resolve) => setTimeout(resolve, delay_ms)),
});

worker.addEventListener("install", (event) => {
  event.waitUntil(kept.take().then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (event) => {
  const preload = worker.registration.navigationPreload?.enable();
  event.waitUntil(Promise.all([kept.removeOlder(), preload, worker.clients.claim()]));
});

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (request.mode === "navigate" && !NO_PAGE.test(pathname)) {
    const asked = event.preloadResponse.then((found) => found ?? fetch(request));
    event.waitUntil(asked.catch(() => undefined));
    event.respondWith(kept.page(asked));
  } else if (FILE.test(pathname)) {
    event.respondWith(kept.file(request));
  }
});
