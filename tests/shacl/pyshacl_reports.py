"""Results of pySHACL, to compare ours with: start at `results_of_pyshacl`."""

from __future__ import annotations

from collections import Counter

import pyoxigraph as ox

SH = "http://www.w3.org/ns/shacl#"
Compared = tuple[str, str, str, str, str]
"""Focus node, path (of one predicate), value, component, severity."""


def results_of_pyshacl(data: str, shapes: str) -> Counter[Compared]:
    """What pySHACL says of two documents in Turtle."""
    import pyshacl
    import rdflib

    graphs = [rdflib.Graph().parse(data=text, format="turtle") for text in (data, shapes)]
    _, report, _ = pyshacl.validate(graphs[0], shacl_graph=graphs[1], advanced=False)
    return results_in(report.serialize(format="nt"))


def results_in(text: str) -> Counter[Compared]:
    """The results of a report in N-Triples."""
    by_node: dict[ox.BlankNode, dict[str, str]] = {}
    results = []
    for quad in ox.parse(text, format=ox.RdfFormat.N_TRIPLES):
        name = quad.predicate.value.removeprefix(SH)
        if name == "result":
            results.append(quad.object)
        shown = "path" if isinstance(quad.object, ox.BlankNode) else str(quad.object)
        by_node.setdefault(quad.subject, {})[name] = shown
    names = ("focusNode", "resultPath", "value", "sourceConstraintComponent", "resultSeverity")
    return Counter(tuple(by_node[result].get(name, "") for name in names) for result in results)
