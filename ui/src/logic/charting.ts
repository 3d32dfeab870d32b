/** Numbers of a chart: values of columns, scales and ticks. No drawing. */

import type { Term } from "../api/types";
import { isNumber, named } from "./terms";

export interface Scale {
  least: number;
  most: number;
  ticks: number[];
}

/** The value of a term on an axis: numbers as they are, dates as milliseconds, else null. */
export function numberOf(term: Term | null | undefined): number | null {
  if (!term || typeof term.value !== "string" || term.type === "uri") return null;
  if (isNumber(term)) {
    const value = Number(term.value);
    return Number.isFinite(value) ? value : null;
  }
  if (isDate(term)) {
    const time = Date.parse(term.value);
    return Number.isNaN(time) ? null : time;
  }
  return null;
}

/** Whether a term is a date or a moment. */
export function isDate(term: Term | null | undefined): boolean {
  return /#(date|dateTime|gYear|gYearMonth)$/.test(term?.datatype ?? "");
}

/** The columns in which most values have a place on an axis. */
export function numericColumns(rows: (Term | null)[][], width: number): number[] {
  const sample = rows.slice(0, 200);
  return Array.from({ length: width }, (_, column) => column).filter((column) => {
    const terms = sample.map((row) => row[column] ?? null).filter((term) => term !== null);
    const numbers = terms.filter((term) => numberOf(term) !== null);
    return terms.length > 0 && numbers.length * 2 > terms.length;
  });
}

/** A scale over values with round ticks; `fromZero` for bars. */
export function scaleOf(values: number[], fromZero: boolean, wanted = 5): Scale {
  let least = values.reduce((a, b) => Math.min(a, b), Infinity);
  let most = values.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!Number.isFinite(least)) [least, most] = [0, 1];
  if (fromZero) [least, most] = [Math.min(least, 0), Math.max(most, 0)];
  if (least === most) [least, most] = least === 0 ? [0, 1] : [least - 1, most + 1];
  const step = roundStep((most - least) / wanted);
  const first = Math.floor(least / step + 1e-9);
  const last = Math.ceil(most / step - 1e-9);
  const ticks: number[] = [];
  for (let index = first; index <= last; index += 1) ticks.push(Number((index * step).toPrecision(12)));
  return { least: ticks[0]!, most: ticks[ticks.length - 1]!, ticks };
}

/** 1, 2 or 5 times a power of ten, at least as large as a step. */
export function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const factor = [1, 2, 5, 10].find((each) => each * power >= step * (1 - 1e-9)) ?? 10;
  return factor * power;
}

/** A tick as text: 1.2k, 3M, 0.05; dates by their year or day. */
export function tickText(value: number, dates: boolean, span: number): string {
  if (dates) {
    const text = new Date(value).toISOString();
    return span > 3e11 ? text.slice(0, 4) : span > 3e9 ? text.slice(0, 7) : text.slice(0, 10);
  }
  const size = Math.abs(value);
  if (size >= 1e9) return `${Number((value / 1e9).toPrecision(4))}G`;
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(4))}M`;
  if (size >= 1e4) return `${Number((value / 1e3).toPrecision(4))}k`;
  return `${Number(value.toPrecision(6))}`;
}

/** What stands at a place of the x axis. */
export function categoryOf(term: Term | null | undefined): string {
  return term ? named(term) : "";
}
