/** What a change would do: numbers, groups by class and property, violations. */

import { useState } from "preact/hooks";
import { whyNew, type ChangeKind, type ChangeRequest, type Group, type Preview } from "../api/change";
import { Empty } from "../components/notes";
import { InferredMark, TermLink } from "../components/term";
import { CHANGE_KINDS, changesOf, isEmpty, KIND_TITLES, previewText } from "../logic/preview";
import { count, counted, seconds } from "../logic/numbers";
import { ntriples } from "../logic/terms";
import { byLabel } from "../naming";
import { FactLine } from "../proofs/rule-badge";
import { askWhy } from "../proofs/why-dialog";
import { ViolationLine } from "./violation-line";
import "../proofs/proofs.css";
import "./preview.css";

/** Maximum number of new violations that the server proves. */
const EXPLAINED = 50;

interface PreviewViewProps {
  preview: Preview;
  /** The change that the preview is of; new violations are explained by it. */
  change: ChangeRequest;
}

export function PreviewView({ preview, change }: PreviewViewProps) {
  const classes = preview.groups.filter((group) => group.kind === "class");
  const properties = preview.groups.filter((group) => group.kind === "property");
  if (isEmpty(preview)) {
    return (
      <div role="status">
        <Empty title="This changes nothing">
          {preview.still_entailed > 0
            ? `${counted(preview.still_entailed, "removed fact", "removed facts")} would still follow from the others.`
            : "What it adds is there already, and what it removes is not there."}
        </Empty>
      </div>
    );
  }
  return (
    <div class="preview">
      <p class="hidden" role="status">
        {previewText(preview)}
      </p>
      <dl class="figures">
        {CHANGE_KINDS.map((kind) => (
          <Figure key={kind} kind={kind} value={preview[kind]} />
        ))}
        <div class={`figure${preview.violations.new_count > 0 ? " bad" : ""}`}>
          <dt>New violations</dt>
          <dd>{count(preview.violations.new_count)}</dd>
        </div>
        <div class={`figure${preview.violations.resolved_count > 0 ? " good" : ""}`}>
          <dt>Resolved violations</dt>
          <dd>{count(preview.violations.resolved_count)}</dd>
        </div>
      </dl>
      <Violations preview={preview} change={change} />
      {classes.length > 0 && <Groups title="By class" groups={classes} />}
      {properties.length > 0 && <Groups title="By property" groups={properties} />}
      <p class="muted small preview-foot">
        {preview.more_groups > 0 &&
          `${counted(preview.more_groups, "further group")} with fewer changes. `}
        {preview.rows_added + preview.rows_removed > 0 &&
          `${count(preview.rows_added)} tuples added and ${count(preview.rows_removed)} removed. `}
        {preview.still_entailed > 0 &&
          `${counted(preview.still_entailed, "removed fact", "removed facts")} still follow from others. `}
        Seen at commit {count(preview.commit)}, in {seconds(preview.seconds)}.
      </p>
    </div>
  );
}

function Figure({ kind, value }: { kind: ChangeKind; value: number }) {
  const tone = value === 0 ? "" : kind.endsWith("added") ? "good" : "bad";
  const sign = kind.endsWith("added") ? "+" : "−";
  return (
    <div class={`figure ${tone}`}>
      <dt>
        {kind.startsWith("inferred") && <InferredMark />} {KIND_TITLES[kind]}
      </dt>
      <dd>
        {value > 0 && sign}
        {count(value)}
      </dd>
    </div>
  );
}

function Violations({ preview, change }: PreviewViewProps) {
  const { violations } = preview;
  const lists = [
    { title: "New violations", kind: "bad", items: violations.new, all: violations.new_count },
    {
      title: "Resolved violations",
      kind: "good",
      items: violations.resolved,
      all: violations.resolved_count,
    },
  ];
  return (
    <>
      {lists
        .filter((list) => list.all > 0)
        .map((list) => (
          <section key={list.title} class={`note ${list.kind} preview-violations`}>
            <h3>{list.title}</h3>
            <ul class="violations">
              {list.items.map((item, index) => (
                <li key={index}>
                  <ViolationLine violation={item} />
                  {list.items === violations.new && index < EXPLAINED && (
                    <button
                      type="button"
                      class="button quiet small why-button"
                      onClick={() => askWhy({ ask: (signal) => whyNew(change, index, signal) })}
                    >
                      why
                      <span class="hidden"> {item.text}?</span>
                    </button>
                  )}
                </li>
              ))}
            </ul>
            {list.all > list.items.length && (
              <p class="muted small">and {count(list.all - list.items.length)} more</p>
            )}
          </section>
        ))}
    </>
  );
}

function Groups({ title, groups }: { title: string; groups: Group[] }) {
  return (
    <section>
      <h3 class="groups-title">{title}</h3>
      <div class="groups">
        {groups.map((group) => (
          <GroupView
            key={ntriples(group.term)}
            group={group}
           
            open={groups.length <= 3}
          />
        ))}
      </div>
    </section>
  );
}

function GroupView(props: { group: Group; open: boolean }) {
  const { group } = props;
  const [open, setOpen] = useState(props.open);
  const kinds = CHANGE_KINDS.filter((kind) => group[kind] > 0);
  return (
    <div class="group">
      <div class="group-head">
        <button
          type="button"
          class="group-button"
          aria-expanded={open}
          aria-label={`${open ? "Hide" : "Show"} examples of ${group.term.short ?? group.term.value}`}
          onClick={() => setOpen(!open)}
        >
          <span class="twist" aria-hidden="true" />
        </button>
        <span class="group-name">
          <TermLink term={group.term} byLabel={byLabel()} />
        </span>
        <span class="group-counts">
          {kinds.map((kind) => (
            <KindCount key={kind} kind={kind} value={group[kind]} />
          ))}
        </span>
      </div>
      {open && (
        <ul class="examples">
          {kinds.flatMap((kind) =>
            (group.examples[kind] ?? []).map((fact, index) => (
              <li key={`${kind} ${index}`} class={`example ${kind}`}>
                <span class="sign" aria-hidden="true">
                  {kind.endsWith("added") ? "+" : "−"}
                </span>
                <span>
                  <span class="hidden">{kind.endsWith("added") ? "added:" : "removed:"} </span>
                  <FactLine fact={fact} /> {kind.startsWith("inferred") && <InferredMark />}
                </span>
              </li>
            )),
          )}
          {beyond(group) > 0 && <li class="muted small">and {count(beyond(group))} more</li>}
        </ul>
      )}
    </div>
  );
}

function beyond(group: Group): number {
  const listed = Object.values(group.examples).reduce((sum, facts) => sum + facts.length, 0);
  return changesOf(group) - listed;
}

function KindCount({ kind, value }: { kind: ChangeKind; value: number }) {
  const added = kind.endsWith("added");
  const inferred = kind.startsWith("inferred");
  return (
    <span class={`badge ${added ? "good" : "bad"}`} title={`${count(value)} ${KIND_TITLES[kind].toLowerCase()}`}>
      {inferred && <span class="kind-inferred" aria-hidden="true">◆ </span>}
      {added ? "+" : "−"}
      {count(value)}
      <span class="hidden"> {KIND_TITLES[kind].toLowerCase()}</span>
    </span>
  );
}
