/** Where the marks of groups stand in pictures: plain arithmetic, so that it is the same each time. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/** Points that fill a disc evenly, from its middle on, `gap` apart. */
export function disc(count: number, gap: number): Point[] {
  return Array.from({ length: count }, (_, at) => {
    const [radius, angle] = [gap * Math.sqrt(at + 0.5), at * GOLDEN];
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  });
}

/** Points evenly on a circle, from its top on, clockwise; a single one stands in the middle. */
export function ring(count: number, radius: number): Point[] {
  if (count === 1) return [{ x: 0, y: 0 }];
  return Array.from({ length: count }, (_, at) => {
    const angle = (2 * Math.PI * at) / count - Math.PI / 2;
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  });
}

const SHAPES: readonly ((size: number) => string)[] = [
  (r) => `M${-r},0a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0`,
  (r) => polygon(r, 4, Math.PI / 4),
  (r) => polygon(1.15 * r, 3, -Math.PI / 2),
  (r) => polygon(1.1 * r, 4, 0),
  (r) => polygon(r, 6, 0),
  (r) => polygon(1.15 * r, 3, Math.PI / 2),
  (r) => polygon(1.05 * r, 5, -Math.PI / 2),
  (r) => polygon(r, 8, Math.PI / 8),
];

function polygon(radius: number, corners: number, turned: number): string {
  const points = Array.from({ length: corners }, (_, at) => {
    const angle = turned + (2 * Math.PI * at) / corners;
    return `${(radius * Math.cos(angle)).toFixed(2)},${(radius * Math.sin(angle)).toFixed(2)}`;
  });
  return `M${points.join("L")}Z`;
}

/** The outline of a node's mark, which tells nodes apart without colours; `size`: half its width. */
export function markOf(node: number, size: number): string {
  return (SHAPES[Math.max(0, node) % SHAPES.length] as (size: number) => string)(size);
}

export const TONES = 8;

/** The class of a node's colour. */
export function toneOf(node: number): string {
  return `tone-${Math.max(0, node) % TONES}`;
}
