/** Queries that tell something about any store, for who starts. */

export interface Example {
  title: string;
  text: string;
}

export const EXAMPLES: Example[] = [
  {
    title: "Classes and their sizes",
    text: `SELECT ?class (COUNT(*) AS ?members) WHERE {
  ?thing a ?class
}
GROUP BY ?class
ORDER BY DESC(?members)
LIMIT 100`,
  },
  {
    title: "Properties and how often they are used",
    text: `SELECT ?property (COUNT(*) AS ?facts) WHERE {
  ?subject ?property ?object
}
GROUP BY ?property
ORDER BY DESC(?facts)
LIMIT 100`,
  },
  {
    title: "Named graphs",
    text: `SELECT ?graph (COUNT(*) AS ?facts) WHERE {
  GRAPH ?graph { ?subject ?property ?object }
}
GROUP BY ?graph
ORDER BY DESC(?facts)`,
  },
  {
    title: "Labels",
    text: `PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX skos: <http://www.w3.org/2004/02/skos/core#>

SELECT ?thing ?label WHERE {
  ?thing rdfs:label|skos:prefLabel ?label
}
LIMIT 1000`,
  },
];
