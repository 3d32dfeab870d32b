/** Loads and inference that run in the server: their progress, and how they ended. */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { messageOf } from "../../api/client";
import { follow, jobs as listJobs, stopJob, type JobState } from "../../api/jobs";
import { toast } from "../../components/toast";
import { mergedJobs, progressText } from "../../logic/jobs";
import { seconds } from "../../logic/numbers";
import { refreshStore } from "../../state";

/** The jobs that the page shows, the newest first. */
const shown = signal<JobState[]>([]);
const followed = new Map<string, () => void>();

/** Jobs that run already, such as those of another tab. */
export async function refreshJobs(): Promise<void> {
  try {
    for (const job of await listJobs()) if (job.state === "running") watch(job.id);
  } catch {
    // the list is an extra; the page works without it
  }
}

/** Follow a job and show it. */
export function watch(id: string): void {
  if (followed.has(id)) return;
  const end = follow(id, (state) => {
    shown.value = mergedJobs(shown.value, state);
    if (state.state === "running") return;
    followed.delete(id);
    void refreshStore();
  });
  followed.set(id, end);
}

export function JobList() {
  useEffect(
    () => () => {
      for (const end of followed.values()) end();
      followed.clear();
    },
    [],
  );
  if (shown.value.length === 0) return null;
  return (
    <section class="stack" aria-label="Loads and inference">
      {shown.value.map((job) => (
        <JobView key={job.id} job={job} />
      ))}
    </section>
  );
}

const TITLES = { load: "Load", reason: "Inference" };
const ENDS = { running: "", done: "done", failed: "failed: nothing has changed", stopped: "stopped: nothing has changed" };

function JobView({ job }: { job: JobState }) {
  const running = job.state === "running";
  const tone = { running: "", done: "good", failed: "bad", stopped: "warn" }[job.state];
  const stop = () => void stopJob(job.id).catch((error: unknown) => toast(messageOf(error), "bad"));
  const forget = () => {
    shown.value = shown.value.filter((each) => each.id !== job.id);
  };
  return (
    <div class={`note job ${tone}`}>
      <div class="row">
        <strong>{TITLES[job.kind] ?? job.kind}</strong>
        <span class="grow" role="status">
          {running ? progressText(job) : ENDS[job.state]}
        </span>
        <span class="muted small number">{seconds(job.seconds)}</span>
        {running ? (
          <button type="button" class="button small" onClick={stop}>
            Stop
          </button>
        ) : (
          <button type="button" class="button quiet icon" aria-label="Dismiss" onClick={forget}>
            ×
          </button>
        )}
      </div>
      {running && (
        <progress class="progress" aria-label="Progress" {...(job.fraction !== undefined ? { value: job.fraction } : {})} />
      )}
      {job.state === "failed" && job.error && (
        <p>
          {job.error.message}
          {job.error.line ? ` (line ${job.error.line})` : ""} {job.error.hint}
        </p>
      )}
      {job.state === "done" && job.change && <p>{job.change.text}</p>}
      {job.state === "done" && job.report && <ReportRows rows={job.report} />}
    </div>
  );
}

function ReportRows({ rows }: { rows: { name: string; value: string }[] }) {
  return (
    <dl class="job-report">
      {rows.map((row, index) => (
        <div key={index}>
          <dt>{row.name}</dt>
          <dd>{row.value}</dd>
        </div>
      ))}
    </dl>
  );
}
