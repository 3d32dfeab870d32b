/** The formats of RDF files, by the names that the server knows. */

export interface FileFormat {
  name: string;
  title: string;
  /** Whether the server writes it as a dump. */
  dumped: boolean;
  /** Whether it keeps named graphs. */
  graphs: boolean;
}

export const FORMATS: FileFormat[] = [
  { name: "ttl", title: "Turtle", dumped: true, graphs: false },
  { name: "nt", title: "N-Triples", dumped: true, graphs: false },
  { name: "nq", title: "N-Quads", dumped: true, graphs: true },
  { name: "trig", title: "TriG", dumped: true, graphs: true },
  { name: "rdf", title: "RDF/XML", dumped: true, graphs: false },
  { name: "jsonld", title: "JSON-LD", dumped: true, graphs: true },
  { name: "n3", title: "N3", dumped: false, graphs: false },
];
