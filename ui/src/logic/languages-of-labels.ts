/** The languages that a person reads, as the server takes them. */

const MOST = 8;

/** Each language after its regional form, each once; English last: `de-at,de,en`. */
export function languagesOf(preferred: readonly string[]): string {
  const all = preferred.flatMap((each) => {
    const name = each.toLowerCase();
    return [name, name.split("-")[0]!];
  });
  return [...new Set([...new Set(all)].slice(0, MOST - 1)).add("en")].join(",");
}
