/** All about one resource: its facts in both directions, why they hold, and why others do not. */

import { useEffect } from "preact/hooks";
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
