/** A picture that is on its way, as only its author sees it: the file itself, and how it goes. */

import { pictureWords } from "../words/pictures";
import type { Upload } from "./uploads";
import "./card.css";

export interface CardActs {
  readonly retry: () => void;
  readonly cancel: () => void;
}

const percentOf = (upload: Upload): number => Math.floor(upload.progress * 100);

export class UploadCard {
  readonly dom = document.createElement("figure");
  private readonly url: string;
  private readonly words = document.createElement("p");
  private readonly bar = document.createElement("progress");
  private readonly again = document.createElement("button");
  private readonly away = document.createElement("button");

  constructor(upload: Upload, acts: CardActs) {
    const { dom } = this;
    dom.className = "picture-upload";
    dom.contentEditable = "false";
    dom.dataset.testid = "picture-upload";
    this.url = URL.createObjectURL(upload.file);
    const image = document.createElement("img");
    image.src = this.url;
    image.alt = "";
    // What is no picture has nothing to show.
    image.onerror = () => image.remove();
    this.words.setAttribute("role", "status");
    this.bar.max = 100;
    const buttons = document.createElement("div");
    buttons.className = "picture-buttons";
    for (const [button, act] of [
      [this.again, acts.retry],
      [this.away, acts.cancel],
    ] as const) {
      button.type = "button";
      button.classList.add("button", "small");
      button.addEventListener("click", act);
      buttons.append(button);
    }
    dom.append(image, this.words, this.bar, buttons);
    this.show(upload);
  }

  show(upload: Upload): void {
    const { stage, name, problem } = upload;
    const isFailed = stage === "failed";
    this.dom.dataset.stage = stage;
    this.bar.hidden = stage !== "sending";
    this.bar.value = percentOf(upload);
    this.bar.setAttribute("aria-label", pictureWords.sending(name, percentOf(upload)));
    this.again.hidden = stage === "sending";
    this.again.textContent = pictureWords.retry;
    this.away.textContent = isFailed ? pictureWords.remove : pictureWords.cancel;
    const text = isFailed
      ? [pictureWords.failed(name), problem ?? ""].join(" ").trim()
      : stage === "waiting"
        ? pictureWords.waiting(name)
        : "";
    // What stays the same is not said again.
    if (this.words.textContent !== text) this.words.textContent = text;
    this.words.hidden = text === "";
  }

  end(): void {
    URL.revokeObjectURL(this.url);
  }
}
