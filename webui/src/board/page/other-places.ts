/** The places that a door can lead to. */

import { ask } from "../../api";

export interface OtherPlace {
  readonly id: string;
  readonly title: string;
}

const ID = /^[A-Za-z0-9_-]{1,64}$/;
const MOST = 500;

/** Those that the person may see, by title, without this one; ApiError. */
export async function otherPlaces(here: string): Promise<OtherPlace[]> {
  const { places } = await ask("/api/v1/places");
  const all = Array.isArray(places) ? places : [];
  return all
    .flatMap((one: unknown): OtherPlace[] => {
      const { id, title } = (one ?? {}) as Record<string, unknown>;
      const isPlace = typeof id === "string" && ID.test(id) && id !== here;
      return isPlace ? [{ id, title: typeof title === "string" ? title : "" }] : [];
    })
    .slice(0, MOST);
}
