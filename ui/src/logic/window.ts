/** Which rows of a long list are drawn: those in view and some around them. */

export interface Window {
  first: number;
  /** One after the last. */
  end: number;
  before: number;
  after: number;
}

/** The largest height of an element that browsers draw exactly. */
const TALLEST = 15_000_000;

/**
 * The rows to draw, and the height of the room before and after them in pixels.
 *
 * Lists taller than browsers draw are shown up to that height; the caller pages further.
 */
export function windowOf(
  count: number,
  rowHeight: number,
  scrollTop: number,
  viewHeight: number,
  around = 12,
): Window {
  const reachable = Math.min(count, Math.floor(TALLEST / rowHeight));
  const top = Math.max(0, Math.floor(scrollTop / rowHeight) - around);
  const first = Math.min(top, Math.max(reachable - 1, 0));
  const end = Math.min(reachable, Math.ceil((scrollTop + viewHeight) / rowHeight) + around);
  return {
    first,
    end: Math.max(end, first),
    before: first * rowHeight,
    after: Math.max(reachable - Math.max(end, first), 0) * rowHeight,
  };
}
