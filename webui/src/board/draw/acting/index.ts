/** What boards with things that act need to show them. */

export { Motion } from "../motion";

import "./acting-marks";
