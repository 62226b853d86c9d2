/** What the server holds of a person: had as a file, and erased. */

import { ApiError, ask, fields, listOf, send, textOf, textOfProblem } from "../api";
import { commonWords } from "../words/common";
import { forget } from "./session";

const GATHERED_MS = 10 * 60_000;
const FILE = "my-data.zip";

/** Has the browser keep a zip of all that is held of oneself. */
export async function downloadOwn(): Promise<void> {
  let data: Blob;
  try {
    const signal = AbortSignal.timeout(GATHERED_MS);
    const response = await fetch("/api/v1/me/export.zip", { signal });
    if (!response.ok) {
      const body = fields(await response.json().catch(() => null));
      const code = textOf(body.code);
      throw new ApiError(code, textOfProblem(body, code, response.status));
    }
    data = await response.blob();
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError("unreachable", commonWords.unreachable);
  }
  const url = URL.createObjectURL(data);
  const link = Object.assign(document.createElement("a"), { href: url, download: FILE });
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** What becomes of documents that nobody else owns. */
export type Fate = "trash" | "stay" | "hand_over";

/** What erasing the account comes to. */
export interface Erasure {
  /** How many documents nobody else owns by name. */
  readonly documents: number;
  /** Names of workspaces that go into the trash: nobody else is in them. */
  readonly workspaces: readonly string[];
  /** Names of workspaces that somebody has to take over, as there are other people in them. */
  readonly shared: readonly string[];
  /** Whether one is the last owner of the first workspace, which keeps one here. */
  readonly isLastOwner: boolean;
}

export async function lookAtErasure(): Promise<Erasure> {
  const answer = await ask("/api/v1/me/erase");
  return {
    documents: Number(answer.documents),
    workspaces: listOf(answer, "workspaces").map(textOf),
    shared: listOf(answer, "shared_workspaces").map(textOf),
    isLastOwner: answer.first_workspace === true,
  };
}

export interface Erasing {
  readonly fate: Fate;
  /** The address of who takes over, with `hand_over`. */
  readonly heir: string;
  readonly current: string;
  readonly code: string;
}

/** Erases one's account for good; nobody is signed in here then. */
export async function eraseOwn({ fate, ...given }: Erasing): Promise<void> {
  const said = Object.entries(given).filter(([, value]) => value !== "");
  await send("POST", "/me/erase", { fate, ...Object.fromEntries(said) });
  forget();
}
