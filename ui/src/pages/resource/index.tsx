/** All about one resource: its facts in both directions, why they hold, and why others do not. */

import { useEffect } from "preact/hooks";
import { Segmented } from "../../components/controls";
import { naming, type Naming } from "../../naming";
import { WhyDialog } from "../../proofs/why-dialog";
import { route } from "../../router";
import { ResourceView } from "./resource-view";
import { ResourceStart } from "./start";
import "./resource.css";

export default function ResourcePage() {
  const term = route.value.parameters.get("term");
  useEffect(() => scrollTo(0, 0), [term]);
  return (
    <div class="page">
      {term ? <ResourceView key={term} term={term} heading="h1" whole /> : <ResourceStart />}
      <WhyDialog />
    </div>
  );
}

/** Labels or names, for all pages. */
export function NamingSwitch() {
  return (
    <Segmented<Naming>
      label="Show terms by"
      value={naming.value}
      onChange={(value) => (naming.value = value)}
      choices={[
        { value: "labels", label: "Labels" },
        { value: "names", label: "Names" },
      ]}
    />
  );
}
