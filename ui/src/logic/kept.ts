/** Values kept in the browser between visits; a browser that keeps nothing is fine. */

const SPACE = "triplestore.";

/** The kept value, or `otherwise` if there is none or it cannot be read. */
export function kept<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(SPACE + name);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}

/** Keep a value; when the browser's room is full, nothing happens. */
export function keep(name: string, value: unknown): void {
  try {
    localStorage.setItem(SPACE + name, JSON.stringify(value));
  } catch {
    // private windows and full stores: the page works without
  }
}
