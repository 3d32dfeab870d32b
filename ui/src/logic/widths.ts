/** Widths of columns from what stands in them, by samples. */

const CHARACTER = 7.3;
const PADDING = 24;

/** Pixels that the texts of a column need, and its title; a few much longer ones are cut. */
export function wishOf(texts: Iterable<string>, title: string): number {
  const lengths = [...texts].map((text) => text.length).sort((a, b) => a - b);
  const typical = lengths[Math.floor(lengths.length * 0.95)] ?? 0;
  const longest = Math.min(lengths.at(-1) ?? 0, 2 * typical + 8);
  return Math.round(Math.max(longest, title.length + 2) * CHARACTER + PADDING);
}

/**
 * The widths of columns in a room: each gets what it wishes up to `most`; what is left goes to
 * those that wish for more.
 */
export function fitted(wishes: number[], room: number, least = 72, most = 380): number[] {
  const widths = wishes.map((wish) => Math.min(Math.max(wish, least), most));
  const left = room - widths.reduce((sum, width) => sum + width, 0);
  const missing = wishes.map((wish, index) => Math.max(wish - widths[index]!, 0));
  const all = missing.reduce((sum, each) => sum + each, 0);
  if (left <= 0 || all === 0) return widths;
  const share = Math.min(left / all, 1);
  return widths.map((width, index) => Math.floor(width + missing[index]! * share));
}

/** Up to `most` positions spread evenly over a length. */
export function spread(length: number, most = 300): number[] {
  if (length <= most) return Array.from({ length }, (_, index) => index);
  return Array.from({ length: most }, (_, index) => Math.floor((index * length) / most));
}
