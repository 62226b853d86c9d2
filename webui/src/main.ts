import { mount } from "svelte";
import App from "./pages/App.svelte";
import { loadLanguage } from "./words/language";
import "./styles/base.css";
import "./styles/parts.css";

const target = document.getElementById("app");
if (target === null) throw new Error("The page has no element #app to start in.");
await loadLanguage();
mount(App, { target });
