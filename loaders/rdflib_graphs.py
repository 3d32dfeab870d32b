"""Graphs and datasets of rdflib as rows of ids; rdflib itself is not imported.

Start at `load_rdflib`. Blank nodes keep their labels, which rdflib makes unique, so that the same
node is met again when a graph is loaded a second time. rdflib binds about thirty prefixes in every
graph: only those that the data use are kept. Costs some microseconds a triple, as rdflib does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Protocol

import numpy as np

from triplestore.errors import CancelledError, UsageError
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.term_keys import BLANK, IRI, Term, key_of
from triplestore.thread_limits import look

from .numbering import FewTerms
from .report import FileReport, Loaded


class RdflibGraph(Protocol):
    """A `Graph` or `Dataset` of rdflib, for type checkers; `is_rdflib_graph` tells it."""

    def namespaces(self) -> Iterator[tuple[str, Any]]:
        """The prefixes, and what they stand for."""

    def __iter__(self) -> Iterator[Any]:
        """All triples."""


_DEFAULT_GRAPH = b"\x01urn:x-rdflib:default"
_AT_ONCE = 1 << 12
_NO_TERM = b""


def is_rdflib_graph(given: object) -> bool:
    """Whether something is a Graph or Dataset of rdflib, or of a class made from these.

    >>> is_rdflib_graph("a text")
    False
    """
    return any(
        kind.__module__ == "rdflib.graph" and kind.__name__ == "Graph"
        for kind in type(given).__mro__
    )


def load_rdflib(
    graph: RdflibGraph,
    dictionary: Dictionary,
    *,
    to_graph: Term | None = None,
    named_graphs: str = "keep",
    cancel: Callable[[], bool] | None = None,
) -> Loaded:
    """The triples of a graph, or the quads of a dataset, which the caller then commits or drops.

    to_graph : where the triples of the default graph go
    named_graphs : with "refuse" a statement of a named graph is an error
    """
    if named_graphs not in ("keep", "refuse"):
        raise UsageError(f"named_graphs is 'keep' or 'refuse', not {named_graphs!r}")
    began = time.monotonic()
    default = _NO_TERM if to_graph is None else key_of(to_graph)
    terms = FewTerms(dictionary)
    parts: list[np.ndarray[Any, Any]] = []
    spaces: set[bytes] = set()
    quads = _quads(graph)
    while some := list(islice(quads, _AT_ONCE)):
        if cancel is not None and cancel():
            raise CancelledError("the load was cancelled; nothing was loaded")
        look("loading a graph of rdflib")
        keys: list[bytes] = []
        for subject, predicate, object_, name in some:
            if name and named_graphs == "refuse":
                raise UsageError(
                    f"the dataset has a triple in the named graph {name[1:].decode()}: "
                    "give one of its graphs, or load it without named_graphs='refuse'"
                )
            keys += (*_checked(subject, predicate, object_), name or default)
        parts.append(terms.add_keys(keys).reshape(-1, 4))
        spaces.update(map(_namespace, keys))
    rows = np.concatenate(parts) if parts else np.zeros((0, 4), np.uint32)
    ids, _, new_keys = terms.seal()
    s, p, o, g = (np.ascontiguousarray(ids[column]) for column in rows.T)
    loaded = Loaded(s, p, o, g, bool(g.any()), None, new_keys)
    loaded.files = [FileReport(repr(graph), 0, len(rows))]
    loaded.prefixes = {
        prefix: str(namespace)
        for prefix, namespace in graph.namespaces()
        if str(namespace).encode() in spaces
    }
    loaded.seconds = time.monotonic() - began
    return loaded


def _quads(graph: Any) -> Iterator[tuple[Any, Any, Any, bytes]]:
    """All triples with the key of their graph; the default graph has none."""
    if not hasattr(graph, "quads"):
        for triple in graph:
            yield (*triple, _NO_TERM)
        return
    # The older name is deprecated in datasets, and the only one elsewhere.
    attribute = "default_graph" if hasattr(type(graph), "default_graph") else "default_context"
    default = getattr(graph, attribute, None)
    nameless = {None, _DEFAULT_GRAPH, None if default is None else _key(default)}
    for subject, predicate, object_, context in graph.quads((None, None, None, None)):
        name = None if context is None else _key(context)
        yield subject, predicate, object_, _NO_TERM if name in nameless else name or _NO_TERM


def _key(context: Any) -> bytes:
    """The key of a graph that is given as its name, or as itself."""
    return key_of(getattr(context, "identifier", context))


def _checked(subject: Any, predicate: Any, object_: Any) -> tuple[bytes, bytes, bytes]:
    """The keys of a triple; rdflib holds some that are not RDF."""
    keys = key_of(subject), key_of(predicate), key_of(object_)
    if keys[0][0] not in (IRI, BLANK) or keys[1][0] != IRI:
        raise UsageError(
            f"the graph has a triple that is not RDF: {subject!r} {predicate!r} {object_!r}; "
            "a subject is an IRI or a blank node, and a predicate is an IRI"
        )
    return keys


def _namespace(key: bytes) -> bytes:
    """The part of an IRI up to its last `#` or `/`; of a literal's datatype, too."""
    text = key[1:] if key[:1] == b"\x01" else key.rpartition(b'"^^<')[2].removesuffix(b">")
    return text[: max(text.rfind(b"#"), text.rfind(b"/"), text.rfind(b":")) + 1]
