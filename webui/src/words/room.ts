/** What is said in the room of a place. */

import type english from "./en/room";
import { area, files } from "./language";

Object.assign(files, import.meta.glob("./*/room.ts", { import: "default" }));

export const roomWords = area<typeof english>("room");
