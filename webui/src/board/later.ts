/**
 * What boards need once something is chosen, acts, or is a file, for slides, talk and help: one file,
 * loaded then.
 *
 * Each file that a page may load is named in what all pages load: so it is one.
 */

export { Motion } from "./draw/motion";
export { exported, imported } from "./exchange/exchange";
export { default as BoardHelp } from "./page/BoardHelp.svelte";
export { default as MadeChoices } from "./page/MadeChoices.svelte";
export { default as StyleBar } from "./page/StyleBar.svelte";
export { default as TalkPanel } from "./page/TalkPanel.svelte";
export { default as ThingForm } from "./page/ThingForm.svelte";
export { default as Presenting } from "./present/Presenting.svelte";

import "./draw/acting/acting-marks";
