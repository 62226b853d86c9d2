/**
 * What boards need once there are things that act, or files: one file, loaded then.
 *
 * Each file that a page may load is named in what all pages load: so it is one.
 */

export { Motion } from "./draw/motion";
export { exported, imported } from "./exchange/exchange";
export { default as MadeChoices } from "./page/MadeChoices.svelte";
export { default as ThingForm } from "./page/ThingForm.svelte";

import "./draw/acting/acting-marks";
