/** What the canvas shows of a board now. */

import { colourOf } from "../../people";
import type { Picture } from "../draw/surface";
import type { BoardController } from "../live/controller";
import { endsOf, isArrow } from "../model/arrows";
import { lineColour, type Theme } from "../model/palette";
import { wiresOf } from "../model/wires";
import { hasForm } from "./made";

export function pictureOf(
  { acting, board, others, place }: BoardController,
  theme: Theme,
  found: ReadonlySet<string>,
): Picture {
  const { seen, doing, chosen } = board;
  const drawn = new Map(board.drawn.map((thing) => [thing.id, thing]));
  const edited = board.editing === null ? undefined : seen.get(board.editing);
  const ink = board.styleFor("ink");
  const [only] = chosen;
  const ends = chosen.length === 1 && only !== undefined && isArrow(only) && board.mayWrite;
  return {
    camera: board.camera,
    theme,
    things: seen,
    drawn: board.drawn,
    edited: edited !== undefined && hasForm(edited) ? null : board.editing,
    faded: doing.erased,
    selected: chosen,
    frame: board.frame,
    handles: ends ? endsOf(only, seen) : board.handles.map(({ at }) => at),
    hovered: doing.hovered === null ? null : (drawn.get(doing.hovered) ?? null),
    marquee: doing.marquee,
    guides: doing.guides,
    ink: doing.ink,
    inkColour: lineColour(ink.colour, theme.isDark) ?? theme.text,
    inkWidth: ink.width,
    others: others.people.map((person) => ({
      colour: colourOf(person.who),
      selected: person.selected.flatMap((id) => drawn.get(id) ?? []),
      ink: person.ink,
      inkColour: lineColour(person.colour || "ink", theme.isDark) ?? theme.text,
      inkWidth: person.width || 4,
    })),
    sketches: place.sketches,
    found,
    now: acting,
    wires: wiresOf(chosen, seen),
  };
}
