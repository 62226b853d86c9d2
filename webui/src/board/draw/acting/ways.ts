/** What leads elsewhere: doors to other places, and links to pages of the web. */

import type { Thing } from "../../../place/thing";
import { boardWords } from "../../../words/board";
import { addressOf, placeOf } from "../../model/settings";
import { addressText } from "../../model/states";
import { linkButton, pillOf, sizeOf } from "../../model/zones";
import { circle, type Mark, path, plate } from "../mark";
import { line, paintsOf, pill, type Scene } from "./parts";

export function doorMarks(thing: Thing, scene: Scene): Mark[] {
  const { theme, measure } = scene;
  const { width, height } = sizeOf(thing);
  const paints = paintsOf(thing, theme);
  const leads = placeOf(thing) !== null;
  const [left, top] = [-width / 2, -height / 2];
  const card = { fill: theme.paper, stroke: paints.edge, width: 1.5, hasShadow: true };
  const marks: Mark[] = [path(plate(left, top, width, height, 14), card)];
  const button = pillOf(thing);
  const size = Math.min(14, height * 0.09);
  const name = thing.text.trim() || boardWords.door;
  const nameAt = button.top - size;
  const room = nameAt - size - top - 12;
  const [wide, high] = [Math.min(width * 0.44, room * 0.62), room];
  marks.push(...leaf(-wide / 2, top + 12, wide, high, paints.strong, paints.soft, leads));
  marks.push(line(name, 0, nameAt, size, theme.text, { isBold: true, room: width - 20 }, measure));
  const look = leads
    ? { fill: paints.strong, colour: paints.onStrong }
    : { fill: paints.soft, colour: theme.text };
  const word = leads ? boardWords.goThrough : boardWords.noTarget;
  return [...marks, ...pill(button, word, look, measure)];
}

/** The frame, and the leaf that stands open where it leads somewhere. */
function leaf(
  left: number,
  top: number,
  width: number,
  height: number,
  strong: string,
  soft: string,
  isOpen: boolean,
): Mark[] {
  const bottom = top + height;
  const frame = path(plate(left, top, width, height, 4), {
    fill: soft,
    stroke: strong,
    width: 2,
  });
  if (!isOpen)
    return [frame, path(circle(left + width * 0.8, top + height / 2, 2.5), { fill: strong })];
  const edge = left + width * 0.62;
  const slant = height * 0.1;
  const wing = `M${left} ${top}L${edge} ${top + slant}V${bottom + slant * 0.4}L${left} ${bottom}Z`;
  return [
    frame,
    path(wing, { fill: strong }),
    path(circle(edge - width * 0.14, top + height * 0.56, 2.5), { fill: soft }),
  ];
}

export function linkMarks(thing: Thing, scene: Scene): Mark[] {
  const { theme, measure } = scene;
  const { width, height } = sizeOf(thing);
  const paints = paintsOf(thing, theme);
  const address = addressOf(thing);
  const [left, top] = [-width / 2, -height / 2];
  const card = { fill: theme.paper, stroke: paints.edge, width: 1.5, hasShadow: true };
  const marks: Mark[] = [path(plate(left, top, width, height, 12), card)];
  const button = linkButton(thing);
  const room = Math.max(8, button.left - left - 26);
  const title = thing.text.trim() || (address?.host ?? boardWords.link);
  const [large, small] = [Math.min(16, height * 0.24), Math.min(13, height * 0.2)];
  const look = { align: "left", room } as const;
  const begin = left + 16;
  marks.push(
    line(title, begin, -large * 0.65, large, theme.text, { ...look, isBold: true }, measure),
  );
  const where = address === null ? boardWords.withoutAddress : addressText(address, 120);
  marks.push(line(where, begin, small * 1.05, small, theme.soft, look, measure));
  const { width: side } = button;
  const fill = address === null ? paints.soft : paints.strong;
  marks.push(path(plate(button.left, button.top, side, side, 10), { fill }));
  const [x, y, arm] = [button.left + side / 2, button.top + side / 2, side * 0.17];
  const sign = `M${x - arm} ${y + arm}L${x + arm} ${y - arm}M${x - arm * 0.5} ${y - arm}H${x + arm}V${y + arm * 0.5}`;
  const stroke = address === null ? paints.edge : paints.onStrong;
  return [...marks, path(sign, { stroke, width: Math.max(1.5, side * 0.055) })];
}
