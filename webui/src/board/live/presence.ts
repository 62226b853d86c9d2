/** What a place calls the object by which people show themselves there. */

export const PRESENCE = { type: "PlacePresence" } as const;
