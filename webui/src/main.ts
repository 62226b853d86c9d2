import { mount } from "svelte";
import App from "./pages/App.svelte";
import { loadLanguage } from "./words/language";
import "./styles/base.css";
import "./styles/parts.css";

const target = document.getElementById("app");
if (target === null) throw new Error("The page has no element #app to start in.");
// Not awaited at the top: files of words need others that come with this one.
void loadLanguage().then(() => mount(App, { target }));

/** The page is kept for later once it stands. */
const KEEP_MS = 3_000;
if (import.meta.env.PROD && "serviceWorker" in navigator) {
  const keep = () => import("./offline/register").then(({ register }) => register());
  // Where that cannot be loaded, it is the next time.
  setTimeout(() => keep().catch(() => undefined), KEEP_MS);
}
