/** Numbers, sizes and times as people read them. */

const GROUPED = new Intl.NumberFormat("en");

/** 12,345 */
export function count(value: number): string {
  return GROUPED.format(value);
}

/** 12,345 rows; 1 row */
export function counted(value: number, singular: string, plural = `${singular}s`): string {
  return `${count(value)} ${value === 1 ? singular : plural}`;
}

/** 0.4 ms, 12 ms, 1.24 s, 3 min 5 s */
export function seconds(value: number): string {
  if (value < 0.00095) return `${Math.max(value * 1e6, 0).toFixed(0)} µs`;
  if (value < 0.00995) return `${(value * 1e3).toFixed(1)} ms`;
  if (value < 0.9995) return `${(value * 1e3).toFixed(0)} ms`;
  if (value < 59.95) return `${value.toFixed(value < 9.995 ? 2 : 1)} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

/** 640 B, 12.3 kB, 4.5 MB */
export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 99.5 ? value.toFixed(0) : value.toFixed(1)} ${units[unit]}`;
}
