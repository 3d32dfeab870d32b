/** The numbers of a store: figures, graphs, prefixes, statistics. */

import type { CommitFacts, StoreFacts, Term } from "../../api/types";
import { InferredMark, TermLink } from "../../components/term";
import { bytes, count } from "../../logic/numbers";
import { commitCounts, statisticsOf } from "../../logic/store-figures";
import { href } from "../../router";
import { byLabel } from "../../naming";

interface Facts extends StoreFacts {
  graph_count?: number;
  constraints?: number;
  durable?: boolean;
  read_only?: boolean;
  statistics?: Record<string, unknown>;
  graphs: { name: Term | null; count: number; inferred?: number }[];
}

export function Overview({ facts }: { facts: Facts }) {
  return (
    <>
      <dl class="figures">
        <Figure name="Asserted" value={count(facts.quads.asserted)} />
        <div class={`figure${facts.quads.inferred > 0 ? " inferred" : ""}`}>
          <dt>
            {facts.quads.inferred > 0 && <InferredMark />} Inferred
          </dt>
          <dd>{count(facts.quads.inferred)}</dd>
        </div>
        <Figure name="On disk" value={facts.bytes_on_disk ? bytes(facts.bytes_on_disk) : "none"} />
        <Figure name="Server memory" value={facts.memory ? bytes(facts.memory) : "unknown"} />
        <Figure name="Commit" value={count(facts.commit)} />
      </dl>
      <section class="panel" aria-labelledby="inference">
        <div class="panel-head">
          <h2 id="inference">Inference</h2>
        </div>
        <dl class="lines">
          <Line name="Regimes" value={facts.regimes.join(", ") || "none"} />
          <Line name="Rules" value={count(facts.rules)} to={href("reasoning/rules")} />
          {facts.constraints !== undefined && (
            <Line name="Constraints" value={count(facts.constraints)} />
          )}
          <Line
            name="Violations"
            value={count(facts.violations)}
            to={href("reasoning/violations")}
            bad={facts.violations > 0}
          />
        </dl>
      </section>
      <Graphs facts={facts} />
      <Commits commits={facts.commits} />
      <section class="panel" aria-labelledby="statistics">
        <div class="panel-head">
          <h2 id="statistics" class="grow">
            Statistics
          </h2>
          {facts.durable === false && <span class="badge">in memory</span>}
          {facts.read_only && <span class="badge">opened for reading</span>}
        </div>
        <dl class="lines">
          {statisticsOf(facts.statistics).map((line) => (
            <Line key={line.name} name={line.name} value={line.value} />
          ))}
        </dl>
      </section>
      <Prefixes prefixes={facts.prefixes} />
    </>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div class="figure">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Line(props: { name: string; value: string; to?: string; bad?: boolean }) {
  return (
    <div class="line">
      <dt>{props.name}</dt>
      <dd class={props.bad ? "bad-text" : ""}>
        {props.to ? <a href={props.to}>{props.value}</a> : props.value}
      </dd>
    </div>
  );
}

function Graphs({ facts }: { facts: Facts }) {
  const all = (facts.graph_count ?? facts.graphs.length - 1) + 1;
  return (
    <section class="panel" aria-labelledby="graphs">
      <div class="panel-head">
        <h2 id="graphs" class="grow">
          Graphs
        </h2>
        <span class="muted small">{count(all)}</span>
      </div>
      <dl class="lines scrolled" tabIndex={0} aria-label="Graphs and their quads">
        {facts.graphs.map((graph) => (
          <div class="line" key={graph.name ? String(graph.name.value) : ""}>
            <dt>
              {graph.name ? (
                <TermLink term={graph.name} byLabel={byLabel()} />
              ) : (
                <span>Default graph</span>
              )}
            </dt>
            <dd>
              {count(graph.count)}
              {!!graph.inferred && (
                <span class="badge inferred" title={`${count(graph.inferred)} of them inferred`}>
                  ◆ {count(graph.inferred)}
                </span>
              )}
            </dd>
          </div>
        ))}
        {all > facts.graphs.length && (
          <div class="line muted">
            <dt>and {count(all - facts.graphs.length)} more</dt>
            <dd />
          </div>
        )}
      </dl>
    </section>
  );
}

function Commits({ commits }: { commits: CommitFacts[] }) {
  return (
    <section class="panel" aria-labelledby="commits">
      <div class="panel-head">
        <h2 id="commits">Latest commits</h2>
      </div>
      <dl class="lines scrolled" tabIndex={0} aria-label="Latest commits">
        {commits.map((each) => (
          <div class="line" key={each.commit}>
            <dt>
              {count(each.commit)}
              {each.time !== undefined && `, ${new Date(each.time * 1000).toLocaleString("en-GB")}`}
            </dt>
            <dd>
              {commitCounts(each).map((one) => (
                <span key={one.text} class={one.inferred ? "badge inferred" : ""} title={one.title}>
                  {one.text}
                </span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Prefixes({ prefixes }: { prefixes: Record<string, string> }) {
  const names = Object.keys(prefixes).sort();
  if (names.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="prefixes">
      <div class="panel-head">
        <h2 id="prefixes" class="grow">
          Prefixes
        </h2>
        <span class="muted small">{count(names.length)}</span>
      </div>
      <dl class="lines scrolled" tabIndex={0} aria-label="Prefixes">
        {names.map((name) => (
          <div class="line prefix" key={name}>
            <dt class="mono">{name}:</dt>
            <dd class="mono">{prefixes[name]}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
