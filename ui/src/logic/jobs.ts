/** Jobs of the server as the page shows them. No DOM here. */

import type { JobState } from "../api/jobs";

/** The jobs with a newer state of one of them; the newest job comes first. */
export function mergedJobs(known: JobState[], told: JobState): JobState[] {
  const is = (job: JobState) => job.id === told.id;
  return known.some(is) ? known.map((job) => (is(job) ? told : job)) : [told, ...known];
}

/** How far a job is, without the bar that the text of a terminal has. */
export function progressText(job: JobState): string {
  const text = (job.text ?? "").replace(/\[[^\]]*\]\s*/, "").replace(/\s+/g, " ").trim();
  return text || "running …";
}
