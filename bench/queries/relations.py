"""Queries over transitive and union relations, kept as a scheme or written out.

They are those of 'Optimised Storage for Datalog Reasoning', table 3 and its appendix: for a
transitive relation (`narrowerTransitive`) and for a union of several (`semanticRelation`), all
pairs (Q0), those of concepts (Q1 by subject, Q6 by object), and those of one topic's categories
(Q2 to Q5 by subject, Q7 to Q10 by object). Each is counted. The data is the setting `skos-N` of
bench/shapes: articles have categories as their `subject`, and four articles stand for the topics.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from bench.inputs.samples import uniform
from bench.queries.measuring import best, rows
from bench.runs.modular import Modular, start
from bench.shapes.papers import PREFIX, setting

RELATIONS = {"TC": "narrowerTransitive", "union": "semanticRelation"}
TOPICS = 4


def texts(relation: str, topics: list[str]) -> dict[str, str]:
    """The queries over one relation.

    >>> texts("p", ["<http://e/a>"])["Q2"].splitlines()[1]
    'SELECT (COUNT(*) AS ?n) { <http://e/a> :subject ?x . ?x :p ?y }'
    """
    pairs = f"?x :{relation} ?y"
    bodies = {
        "Q0": pairs,
        "Q1": f"?x a :Concept . {pairs}",
        "Q6": f"?y a :Concept . {pairs}",
    }
    for place, topic in enumerate(topics):
        bodies[f"Q{2 + place}"] = f"{topic} :subject ?x . {pairs}"
        bodies[f"Q{7 + place}"] = f"{topic} :subject ?y . {pairs}"
    prefix = PREFIX.replace("@prefix", "PREFIX").replace(" .\n", "\n")
    ordered = sorted(bodies, key=lambda name: int(name[1:]))
    return {name: f"{prefix}SELECT (COUNT(*) AS ?n) {{ {bodies[name]} }}" for name in ordered}


def measure(data: str, way: str, seconds: float) -> dict[str, Any]:
    """In a child: close the setting in a way, then ask; the least seconds of each query."""
    start()
    kept = Modular(setting(data))
    closed = kept.close(way)
    store = kept.store
    topics = _topics(store)
    result: dict[str, Any] = {
        "facts": kept.count(),
        "close s": closed.commit,
        "static bytes": kept.static_bytes(),
        "queries": {},
    }
    for kind, relation in RELATIONS.items():
        for name, text in texts(relation, topics).items():
            (row,) = store.query(text)
            took = best(partial(rows, store, text), seconds)
            result["queries"][f"{kind} {name}"] = {"s": took, "found": int(row["n"].value)}
    result["main"] = sum(one["s"] for one in result["queries"].values())
    return result


def _topics(store: Any) -> list[str]:
    """Some articles, the same in all ways."""
    query = f"PREFIX : <{PREFIX.split('<')[1].split('>')[0]}>\nSELECT ?x {{ ?x :subject ?y }}"
    named = sorted({str(row["x"]) for row in store.query(query)})
    return [named[place] for place in uniform(len(named), TOPICS, 5).tolist()]
