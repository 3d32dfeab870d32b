/** Loads and inference that run in the server, and what they tell. */

import { address, ApiError, errorOf, get, post, remove } from "./client";
import type { ErrorBody } from "./types";

/** A job as the server tells of it. */
export interface JobState {
  id: string;
  kind: "load" | "reason";
  state: "running" | "done" | "failed" | "stopped";
  seconds: number;
  text?: string;
  /** How far it is, from 0 to 1, if that is known. */
  fraction?: number;
  change?: { text: string; commit: number };
  report?: { name: string; value: string }[];
  error?: ErrorBody;
}

export const jobs = (signal?: AbortSignal): Promise<JobState[]> =>
  get("api/jobs", undefined, signal);

export const reason = (regimes: string[]): Promise<{ job: string }> =>
  post("api/reason", { regimes });

export const stopJob = (id: string): Promise<unknown> =>
  remove(`api/jobs/${encodeURIComponent(id)}`);

export interface LoadOptions {
  format?: string;
  graph?: string;
}

/** Send a file; `told` is called with the share that was sent. XMLHttpRequest tells of uploads. */
export function load(
  file: File,
  options: LoadOptions,
  told: (share: number) => void,
  signal: AbortSignal,
): Promise<{ job: string }> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address("api/load", { name: file.name, ...options }));
    request.setRequestHeader("accept", "application/json");
    request.setRequestHeader("content-type", "application/octet-stream");
    request.upload.onprogress = (event) => {
      if (event.lengthComputable) told(event.loaded / event.total);
    };
    request.onload = () => {
      if (request.status < 300) resolve(JSON.parse(request.responseText) as { job: string });
      else reject(errorOf(request.status, request.responseText));
    };
    request.onerror = () => reject(new ApiError(0, { message: "The server does not answer." }));
    request.onabort = () => reject(new DOMException("stopped", "AbortError"));
    signal.addEventListener("abort", () => request.abort());
    request.send(file);
  });
}

/** Follow a job until it has ended; returns what ends the following. */
export function follow(id: string, told: (state: JobState) => void): () => void {
  const source = new EventSource(address(`api/jobs/${encodeURIComponent(id)}`));
  let last: Partial<JobState> = {};
  const tell = (event: MessageEvent<string>) => {
    const state = JSON.parse(event.data) as JobState;
    last = state;
    if (state.state !== "running") source.close();
    told(state);
  };
  for (const name of ["progress", "done", "failed", "stopped"]) {
    source.addEventListener(name, tell as (event: Event) => void);
  }
  source.onerror = () => {
    if (source.readyState !== EventSource.CLOSED) return; // the browser tries again by itself
    const message = "The server does not tell of this job any more: look at the store's numbers.";
    told({ id, kind: "load", seconds: 0, ...last, state: "failed", error: { message } });
  };
  return () => source.close();
}
