/** A text of the server in which IRIs are names with links to their pages. */

import { partsOf } from "../logic/shortening";
import { href } from "../router";
import { prefixes } from "../state";

export function LinkedText({ text }: { text: string }) {
  return (
    <>
      {partsOf(text, prefixes()).map((part, index) =>
        part.iri ? (
          <a key={index} class="term uri" href={href("resource", { term: `<${part.iri}>` })} title={part.iri}>
            {part.text}
          </a>
        ) : (
          part.text
        ),
      )}
    </>
  );
}
