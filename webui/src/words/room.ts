/** What is said in the room of a place. */

import type english from "./en/room";
import { area } from "./language";

export const roomWords = area<typeof english>("room");
