/** Widths of columns from what stands in them, by samples. */

const CHARACTER = 7.3;
const PADDING = 24;

/** Pixels for a column: nearly its widest text, between bounds. */
export function widthOf(texts: Iterable<string>, title: string, least = 90, most = 420): number {
  const lengths = [...texts].map((text) => text.length).sort((a, b) => a - b);
  const typical = lengths[Math.floor(lengths.length * 0.95)] ?? 0;
  const wanted = Math.max(typical, title.length + 2) * CHARACTER + PADDING;
  return Math.round(Math.min(Math.max(wanted, least), most));
}

/** Up to `most` positions spread evenly over a length. */
export function spread(length: number, most = 60): number[] {
  if (length <= most) return Array.from({ length }, (_, index) => index);
  return Array.from({ length: most }, (_, index) => Math.floor((index * length) / most));
}
