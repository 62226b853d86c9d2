/** What the field for a picture's description is labelled, sent and drawn with; it loads with the first picture. */

import { uploadWords } from "../words/uploads";
import "./describing.css";

const ALT_MAX = 1_000;

/** The label is the field's parent already: a field that is moved loses the focus and what is typed into it. */
export function dressForm(
  form: HTMLFormElement,
  label: HTMLElement,
  input: HTMLInputElement,
): void {
  form.className = "picture-form";
  input.maxLength = ALT_MAX;
  label.prepend(uploadWords.description);
  const save = document.createElement("button");
  save.classList.add("button", "small", "primary");
  save.textContent = uploadWords.save;
  form.append(save);
}
