/** The page without a resource: a search, and what was looked at last. */

import { Empty } from "../../components/notes";
import { TermSearch } from "../../components/search";
import { go, href } from "../../router";
import { recent } from "./recent";

export function ResourceStart() {
  const seen = recent();
  return (
    <>
      <h1>Resource</h1>
      <div class="panel">
        <div class="panel-body resource-start">
          <p>
            Look for anything in the store by its label or IRI. Its page shows all facts about it,
            and the proof of each that was inferred.
          </p>
          <TermSearch
            focus={1}
            placeholder="Label, name with prefix, or IRI"
            onChoose={(term) => go("resource", { term })}
          />
        </div>
      </div>
      <section class="panel" aria-labelledby="recent">
        <div class="panel-head">
          <h2 id="recent">Seen last</h2>
        </div>
        {seen.length === 0 ? (
          <Empty title="Nothing yet" />
        ) : (
          <ul class="recent">
            {seen.map((each) => (
              <li key={each.term}>
                <a href={href("resource", { term: each.term })}>{each.name}</a>
                {each.short !== each.name && <span class="muted mono">{each.short}</span>}
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  );
}
