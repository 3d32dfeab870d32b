/** The whole store as a file. */

import { useState } from "preact/hooks";
import { address } from "../../api/client";
import type { Facts } from "../../api/types";
import { Segmented } from "../../components/controls";
import { FORMATS } from "../../logic/formats-of-files";

export function DumpPanel() {
  const [format, setFormat] = useState("trig");
  const [facts, setFacts] = useState<Facts>("explicit");
  const chosen = FORMATS.find((each) => each.name === format)!;
  const options = { format, facts, ...(chosen.graphs ? {} : { graph: "default" }) };
  return (
    <section class="panel" aria-labelledby="dump">
      <div class="panel-head">
        <h2 id="dump">Dump</h2>
      </div>
      <div class="panel-body form">
        <div>
          <Segmented<Facts>
            label="Facts"
            value={facts}
            onChange={setFacts}
            choices={[
              { value: "explicit", label: "Asserted" },
              { value: "inferred", label: "Inferred" },
              { value: "all", label: "All" },
            ]}
          />
        </div>
        <div class="row">
          <label class="field inline">
            Format
            <select value={format} onChange={(event) => setFormat(event.currentTarget.value)}>
              {FORMATS.filter((each) => each.dumped).map((each) => (
                <option key={each.name} value={each.name}>
                  {each.title}
                </option>
              ))}
            </select>
          </label>
          <a class="button" href={address("api/dump", options)} download>
            Download
          </a>
        </div>
        {!chosen.graphs && (
          <p class="muted small">{chosen.title} has no named graphs: this is the default graph.</p>
        )}
      </div>
    </section>
  );
}
