/** What is inferred by which rules, what is violated, and the editor of rules. */

import { useState } from "preact/hooks";
import { useAnswer } from "../../answers";
import { report as askReport, type Report } from "../../api/ontology";
import { Tabs } from "../../components/controls";
import { NamingSwitch } from "../../components/naming-switch";
import { ErrorNote, Loading } from "../../components/notes";
import { count } from "../../logic/numbers";
import { WhyDialog } from "../../proofs/why-dialog";
import { go, route } from "../../router";
import { store } from "../../state";
import { ReportView } from "./report-view";
import { RuleEditor } from "./rule-editor";
import { RuleList } from "./rule-list";
import { ViolationList } from "./violation-list";
import "../../proofs/proofs.css";
import "./reasoning.css";

type Part = "report" | "rules" | "violations" | "editor";
const PARTS: Part[] = ["report", "violations", "rules", "editor"];

export default function ReasoningPage() {
  const part = PARTS.find((each) => each === route.value.rest[0]) ?? "report";
  const [counts, setCounts] = useState(false);
  const commit = store.value?.commit;
  const answer = useAnswer((signal) => askReport(counts, 0, signal), [counts, commit], true);
  const found = answer.value;
  const titles: Record<Part, string> = {
    report: "Report",
    violations: found ? `Violations (${count(found.violations.total)})` : "Violations",
    rules: found ? `Rules (${count(found.rule_count + found.constraint_count)})` : "Rules",
    editor: "Editor",
  };
  return (
    <div class="page">
      <div class="page-head">
        <h1>Reasoning</h1>
        <span class="grow" />
        <NamingSwitch />
      </div>
      <div class="panel">
        <div class="panel-head">
          <Tabs<Part>
            label="Parts of reasoning"
            value={part}
            choices={PARTS.map((value) => ({ value, label: titles[value] }))}
            onChange={(value) => go(`reasoning/${value}`)}
            panelId="reasoning-part"
          />
        </div>
        <div
          class="panel-body"
          id="reasoning-part"
          role="tabpanel"
          aria-label={titles[part]}
          tabIndex={part === "editor" ? -1 : 0}
        >
          {part === "editor" ? (
            <RuleEditor />
          ) : answer.error ? (
            <ErrorNote error={answer.error} />
          ) : found ? (
            <Shown part={part} found={found} busy={answer.busy} onCount={() => setCounts(true)} />
          ) : (
            <Loading what="the report" />
          )}
        </div>
      </div>
      <WhyDialog />
    </div>
  );
}

function Shown(props: { part: Part; found: Report; busy: boolean; onCount: () => void }) {
  if (props.part === "report") return <ReportView found={props.found} />;
  if (props.part === "violations") return <ViolationList found={props.found} />;
  return <RuleList rules={props.found.rules} busy={props.busy} onCount={props.onCount} />;
}
