/**
 * The built page in this browser's cache: it is there without a connection, and is always one build.
 *
 * Rules.
 *   B1  A build is taken whole, under a name of its own, or not used: its files by their hashed
 *       names, and the page that names them. A page of another build is refused.
 *   B2  With a connection the node says what the page is. The kept one stands in where none answers
 *       within `LIMIT_MS`, and then with the files of the same build.
 *   B3  A file whose name has its hash is the same wherever it lies: tabs of the build before still
 *       get the parts that they load late. Older builds are removed.
 *   B4  Nothing is kept but files of the build: no answer of the API, and nothing that a person has.
 */

export interface Build {
  readonly name: string;
  /** The paths of its files, all with their hash. */
  readonly files: readonly string[];
}

/** What it takes from the browser. */
export interface Tools {
  readonly caches: CacheStorage;
  readonly fetch: (path: string | Request, init?: RequestInit) => Promise<Response>;
  readonly after: (delay_ms: number) => Promise<void>;
}

const PREFIX = "page-";
/** The page is the same at all of its addresses. */
const PAGE = "/";
/** So long a person waits for a node before the page comes from here. */
export const LIMIT_MS = 3_000;
const NAMED = /\/assets\/[\w.-]+/g;

export class KeptBuild {
  private readonly name: string;
  private readonly files: ReadonlySet<string>;

  constructor(
    build: Build,
    private readonly tools: Tools,
  ) {
    this.name = PREFIX + build.name;
    this.files = new Set(build.files);
  }

  /** B1: takes all of it; throws where a part is not to be had. What is here is not asked for. */
  async take(): Promise<void> {
    const { caches, fetch } = this.tools;
    const cache = await caches.open(this.name);
    for (const path of this.files) {
      const found = (await this.find(path)) ?? (await fetch(path));
      if (!found.ok) throw new Error(`${path}: ${found.status}`);
      await cache.put(path, found);
    }
    const page = await fetch(PAGE, { cache: "no-cache" });
    if (!page.ok || page.redirected) throw new Error(`the page: ${page.status}`);
    const named = (await page.clone().text()).match(NAMED) ?? [];
    const isOurs = named.length > 0 && named.every((path) => this.files.has(path));
    if (!isOurs) throw new Error("the page is of another build");
    await cache.put(PAGE, page);
  }

  /** B3: leaves this one, and the one before. */
  async removeOlder(): Promise<void> {
    const { caches } = this.tools;
    const others = (await caches.keys()).filter((name) => this.isOlder(name));
    await Promise.all(others.slice(0, -1).map((name) => caches.delete(name)));
  }

  private isOlder(name: string): boolean {
    return name.startsWith(PREFIX) && name !== this.name;
  }

  /** B2: `asked`: what the node answers. */
  async page(asked: Promise<Response>): Promise<Response> {
    const { caches, after } = this.tools;
    const kept = caches.open(this.name).then(
      (cache) => cache.match(PAGE),
      () => undefined, // without it the node's answer is waited for
    );
    const answer = asked.then(
      (response) => (response.status < 500 ? response : null),
      () => null,
    );
    const soon = await Promise.race([answer, after(LIMIT_MS)]);
    return soon ?? (await kept) ?? asked;
  }

  /** B3: a file of this build or another. */
  async file(request: Request): Promise<Response> {
    return (await this.find(new URL(request.url).pathname)) ?? this.tools.fetch(request);
  }

  private find(path: string): Promise<Response | undefined> {
    return this.tools.caches.match(path, { ignoreVary: true });
  }
}
