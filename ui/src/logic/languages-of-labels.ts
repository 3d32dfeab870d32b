/** The languages that a person reads, as the server takes them. */

/** Each language after its regional form, such as `de-at,de,en`; each once. */
export function languagesOf(preferred: readonly string[]): string {
  const all = preferred.flatMap((each) => {
    const name = each.toLowerCase();
    return [name, name.split("-")[0]!];
  });
  return [...new Set(all)].slice(0, 8).join(",");
}
