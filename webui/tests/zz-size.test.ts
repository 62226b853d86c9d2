import { test } from "vitest";
import { buildPage, loadedWith, sizeOf } from "./loaded";

test("size", async () => {
  const files = await buildPage();
  for (const language of ["en", "de"] as const) {
    const loaded = loadedWith(files, ["/src/pages/DocumentPage.svelte"], language);
    console.log(
      language,
      "doc",
      sizeOf(loaded),
      loaded.map((f) => `${f.bytes} ${f.name}`).join("\n"),
    );
    console.log(language, "home", sizeOf(loadedWith(files, ["/src/pages/Home.svelte"], language)));
    try {
      const board = loadedWith(files, ["/src/pages/PlacePage.svelte"], language);
      console.log(
        language,
        "board",
        sizeOf(board),
        board.map((f) => `${f.bytes} ${f.name}`).join("\n"),
      );
    } catch (e) {
      console.log(String(e));
    }
  }
}, 180_000);
