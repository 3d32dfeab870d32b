/** Places in texts: the server counts characters, CodeMirror counts units of UTF-16. */

/** The number of characters before a unit: what the server calls the offset. */
export function charactersBefore(text: string, unit: number): number {
  let count = 0;
  for (const character of text.slice(0, unit)) {
    void character;
    count += 1;
  }
  return count;
}

/** The unit at which the character with this number begins. */
export function unitAt(text: string, characters: number): number {
  let unit = 0;
  for (const character of text) {
    if (characters <= 0) break;
    characters -= 1;
    unit += character.length;
  }
  return unit;
}

/** The range in a line to underline for a problem at a column (from 1, in characters). */
export function spanAt(line: string, column: number): { from: number; to: number } {
  const from = Math.min(unitAt(line, column - 1), line.length);
  const token = /^(<[^>\s]*>?|"[^"]*"?|[?$@]?[\p{L}\p{N}_:.-]+|\S)/u.exec(line.slice(from));
  return { from, to: from + (token?.[0].length ?? 0) };
}
