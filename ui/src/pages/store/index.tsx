/** The store: sizes, graphs, loading, dumps, inference. */

import { useEffect } from "preact/hooks";
import { Loading } from "../../components/notes";
import { mayUpdate, refreshStore, store } from "../../state";
import { DumpPanel } from "./dump-panel";
import { JobList, refreshJobs } from "./jobs";
import { LoadPanel } from "./load-panel";
import { Overview } from "./overview";
import { ReasonPanel } from "./reason-panel";
import "../../preview/preview.css";
import "./store.css";

export default function StorePage() {
  useEffect(() => {
    void refreshStore();
    void refreshJobs();
  }, []);
  if (!store.value) {
    return (
      <div class="page">
        <h1>Store</h1>
        <Loading what="the store" />
      </div>
    );
  }
  return (
    <div class="page">
      <h1>Store</h1>
      <JobList />
      <div class="columns store-columns">
        <div class="stack">
          <Overview facts={store.value} />
        </div>
        <div class="stack">
          {mayUpdate() && <LoadPanel />}
          {mayUpdate() && <ReasonPanel inForce={store.value.regimes} />}
          <DumpPanel />
        </div>
      </div>
    </div>
  );
}
