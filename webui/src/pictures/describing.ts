/** The field for what a picture shows, in words; it comes when somebody asks for it. */

import { uploadWords } from "../words/uploads";
import "./describing.css";

const ALT_MAX = 1_000;

/** `close` is given the words, or null: they stay as they were. */
export function formFor(before: string, close: (alt: string | null) => void): HTMLFormElement {
  const form = document.createElement("form");
  form.className = "picture-form";
  const label = document.createElement("label");
  label.textContent = uploadWords.description;
  const input = document.createElement("input");
  input.maxLength = ALT_MAX;
  input.value = before;
  label.append(input);
  const save = document.createElement("button");
  save.classList.add("button", "small", "primary");
  save.textContent = uploadWords.save;
  form.append(label, save);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    close(input.value.replace(/\s+/g, " ").trim());
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close(null);
  });
  return form;
}
