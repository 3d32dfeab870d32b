/** Requests to the API of the server that served this page: start at `get` and `post`. */

import { languagesOf } from "../logic/languages-of-labels";
import type {
  Completions,
  ErrorBody,
  Facts,
  Found,
  PlanNode,
  QueryAnswer,
  QueryRequest,
  RunningQuery,
  SearchKind,
  Session,
  StoreFacts,
} from "./types";

/** An answer with an error status: the message, its place in the text, and advice. */
export class ApiError extends Error {
  readonly status: number;
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly hint: string | undefined;

  constructor(status: number, body: ErrorBody) {
    super(body.line ? withoutPlace(body.message) : body.message);
    this.name = "ApiError";
    this.status = status;
    this.line = body.line;
    this.column = body.column;
    this.hint = body.hint;
  }
}

/** The message without the place that it begins with, such as `input:3:6: `. */
function withoutPlace(message: string): string {
  return message.replace(/^[\w.-]*:\d+:\d+:\s*/, "");
}

/** The address of a path of the served store; the page may lie below a path itself. */
export function address(path: string, parameters?: Parameters): string {
  const url = new URL(path.replace(/^\//, ""), new URL(".", document.baseURI));
  if (path.startsWith("api/")) url.searchParams.set("lang", languagesOf(navigator.languages));
  for (const [name, value] of Object.entries(parameters ?? {})) {
    if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
  }
  return url.toString();
}

type Parameters = Record<string, string | number | boolean | undefined | null>;

/** What to do when the server asks for a login; the shell sets it. */
export const onUnauthorised: { run: () => void } = { run: () => undefined };

/** GET of JSON: `get<Session>("api/session")`. */
export function get<T>(path: string, parameters?: Parameters, signal?: AbortSignal): Promise<T> {
  return answered<T>(fetch(address(path, parameters), { headers: JSON_ONLY, signal: signal ?? null }));
}

/** POST of JSON, answered by JSON. */
export function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return sent<T>("POST", path, body, signal);
}

/** PUT of JSON. */
export function put<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return sent<T>("PUT", path, body, signal);
}

/** DELETE; the answer may be empty. */
export function remove<T = unknown>(path: string): Promise<T> {
  return answered<T>(fetch(address(path), { method: "DELETE", headers: JSON_ONLY }));
}

const JSON_ONLY = { accept: "application/json" };

function sent<T>(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return answered<T>(
    fetch(address(path), {
      method,
      headers: { ...JSON_ONLY, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: signal ?? null,
    }),
  );
}

async function answered<T>(asked: Promise<Response>): Promise<T> {
  const response = await reached(asked);
  const text = await response.text();
  if (!response.ok) throw errorOf(response.status, text);
  return (text === "" ? null : JSON.parse(text)) as T;
}

async function reached(asked: Promise<Response>): Promise<Response> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, {
      message: "The server does not answer.",
      hint: "Is it still running? The page tries again at the next request.",
    });
  }
}

/** The error that an answer with an error status stands for; its body may be JSON or text. */
export function errorOf(status: number, text: string): ApiError {
  if (status === 401) onUnauthorised.run();
  try {
    const body = JSON.parse(text) as { error?: ErrorBody | string };
    if (typeof body.error === "string") return new ApiError(status, { message: body.error });
    if (body.error?.message) return new ApiError(status, body.error);
  } catch {
    // not JSON: the text itself is the message
  }
  return new ApiError(status, { message: text.trim() || `The server answered with status ${status}.` });
}

/** The text to show for whatever was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError && error.hint) return `${error.message} ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}

/** Whether this is the end of a request that the page itself stopped. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

export const session = (): Promise<Session> => get("api/session");
export const login = (name: string, password: string): Promise<unknown> =>
  post("api/login", { name, password });
export const logout = (): Promise<unknown> => post("api/logout", {});
export const storeFacts = (signal?: AbortSignal): Promise<StoreFacts> =>
  get("api/store", undefined, signal);

export const runQuery = (request: QueryRequest, signal?: AbortSignal): Promise<QueryAnswer> =>
  post("api/query", request, signal);
export const explain = (
  query: string,
  facts: Facts,
  analyze: boolean,
  signal?: AbortSignal,
): Promise<{ plan: PlanNode; text: string }> =>
  post("api/explain", { query, facts, analyze }, signal);
export const runningQueries = (): Promise<RunningQuery[]> => get("api/queries");
export const stopQuery = (id: string): Promise<unknown> =>
  remove(`api/queries/${encodeURIComponent(id)}`);
export const complete = (
  query: string,
  offset: number,
  signal?: AbortSignal,
): Promise<Completions> => post("api/complete", { query, offset }, signal);
export const search = (
  text: string,
  kind: SearchKind = "any",
  limit = 20,
  signal?: AbortSignal,
): Promise<Found[]> => get("api/search", { text, kind, limit }, signal);
