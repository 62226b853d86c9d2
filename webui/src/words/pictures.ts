/** What is said of pictures in a document. */

import type english from "./en/pictures";
import { area } from "./language";

export const pictureWords = area<typeof english>("pictures");
