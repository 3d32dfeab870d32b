/** The choice between labels and names of terms, for all pages. */

import { naming, type Naming } from "../naming";
import { Segmented } from "./controls";

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
