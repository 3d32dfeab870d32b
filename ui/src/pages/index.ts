/** The pages of the workbench, in the order of the navigation. */

import type { ComponentType } from "preact";

export interface PageEntry {
  /** Its name in the address: `#/query`. */
  name: string;
  title: string;
  load: () => Promise<{ default: ComponentType }>;
}

export const PAGES: PageEntry[] = [
  { name: "query", title: "Query", load: () => import("./query") },
  { name: "resource", title: "Resource", load: () => import("./resource") },
  { name: "ontology", title: "Ontology", load: () => import("./ontology") },
  { name: "reasoning", title: "Reasoning", load: () => import("./reasoning") },
  { name: "change", title: "Change", load: () => import("./change") },
  { name: "store", title: "Store", load: () => import("./store") },
];
