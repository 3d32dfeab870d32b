"""`validate` with the arguments and results of pySHACL's, for programs that call that one.

Start at `validate`. The data may also be a store of ours, which is validated as it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rdflib

from triplestore.errors import UsageError
from triplestore.rdflib_store.plugin import TripleStore
from triplestore.rdflib_store.terms import from_term
from triplestore.store import ReadableStore, Store

if TYPE_CHECKING:
    from triplestore.shacl.reports.report import ValidationReport
    from triplestore.shacl.reports.result import ValidationResult

_REGIMES = {
    "rdfs": ("rdfs",),
    "owlrl": ("owl-rl",),
    "both": ("rdfs", "owl-rl"),
    "none": (),
    None: (),
}
_IGNORED = frozenset(
    [
        "abort_on_first",
        "check_dash_result",
        "check_expected_result",
        "debug",
        "do_owl_imports",
        "inplace",
        "js",
        "iterate_rules",
        "max_validation_depth",
        "meta_shacl",
        "multi_data_graphs_mode",
        "sparql_mode",
    ]
)


def validate(
    data_graph: Any,
    *,
    shacl_graph: Any = None,
    ont_graph: Any = None,
    advanced: bool = False,
    inference: str | None = None,
    allow_infos: bool = False,
    allow_warnings: bool = False,
    focus_nodes: Iterable[Any] | None = None,
    use_shapes: Iterable[Any] | None = None,
    data_graph_format: str | None = None,
    shacl_graph_format: str | None = None,
    ont_graph_format: str | None = None,
    serialize_report_graph: bool | str = False,
    **ignored: Any,
) -> tuple[bool, Any, str]:
    """Whether data conform to shapes, the report as a graph of rdflib, and as text.

    The arguments are those of `pyshacl.validate`: graphs of rdflib, paths, or texts. `data_graph`
    may also be a store of ours. With `advanced`, rules of the shapes (`sh:rule`) are applied. Data
    in a store, or a graph over one, are never changed. Arguments that change how pySHACL works, and
    not what it finds, are accepted and ignored.

    >>> from triplestore.rdflib_store import validate
    >>> data = "@prefix : <http://ex.org/> . :ada a :Person ."
    >>> shapes = '''@prefix : <http://ex.org/> . @prefix sh: <http://www.w3.org/ns/shacl#> .
    ...     :S sh:targetClass :Person ; sh:property [ sh:path :name ; sh:minCount 1 ] .'''
    >>> conforms, graph, text = validate(data, shacl_graph=shapes, inference="rdfs")
    >>> conforms, len(graph), text.splitlines()[1]
    (False, 10, 'Conforms: False')
    """
    unknown = ignored.keys() - _IGNORED
    if unknown:
        raise UsageError(f"validate has no argument {min(unknown)!r}")
    if inference not in _REGIMES:
        raise UsageError(f'inference is "rdfs", "owlrl", "both" or "none", not {inference!r}')
    regimes = _REGIMES[inference]
    shapes = None if shacl_graph is None else _shapes(shacl_graph)
    with _data(data_graph, data_graph_format) as store, ExitStack() as trial:
        state: ReadableStore = store
        rules = store.shape_rules(shapes, shapes_format=shacl_graph_format) if advanced else None
        if regimes or rules or ont_graph is not None:
            if not isinstance(store, Store):
                raise UsageError(
                    "give a store, not a snapshot, if inference or an ontology is to be added"
                )
            t = trial.enter_context(store.trial())
            if ont_graph is not None:
                t.load(**_input(ont_graph, ont_graph_format))
            if regimes:
                t.reason(*regimes)
            if rules:
                t.add_rules(rules)
            state = t
        report = state.validate(
            shapes,
            shapes_format=shacl_graph_format,
            focus_nodes=None if focus_nodes is None else [_iri(each) for each in focus_nodes],
            use_shapes=None if use_shapes is None else [_iri(each) for each in use_shapes],
            use_default_graph_as_union=True,
        )
        return _answer(report, allow_infos, allow_warnings, serialize_report_graph)


def _iri(given: Any) -> Any:
    return given if isinstance(given, rdflib.term.Node) else rdflib.URIRef(str(given))


@contextmanager
def _data(given: Any, format: str | None) -> Iterator[ReadableStore]:
    if isinstance(given, ReadableStore):
        yield given
        return
    if isinstance(given, rdflib.Graph) and isinstance(given.store, TripleStore):
        yield given.store.store
        return
    with Store() as store:
        store.load(**_input(given, format))
        yield store


def _input(given: Any, format: str | None) -> dict[str, Any]:
    """What `Store.load` takes: a path, or a document."""
    source = _source(given)
    if isinstance(source, Path):
        return {"path": source, "format": format}
    if isinstance(source, rdflib.Graph):
        return {"input": source}
    return {"input": source, "format": format or "turtle"}


def _source(given: Any) -> Any:
    if isinstance(given, rdflib.Graph):
        return given
    if isinstance(given, bytes):
        given = given.decode()
    if isinstance(given, os.PathLike):
        return Path(given)
    if isinstance(given, str):
        short = len(given) < 4096 and "\n" not in given
        return Path(given) if short and Path(given).exists() else given
    if hasattr(given, "read"):
        read = given.read()
        return read.decode() if isinstance(read, bytes) else read
    raise UsageError(f"a graph of rdflib, a path or a text is expected, not {given!r}")


def _shapes(given: Any) -> Any:
    return given if isinstance(given, ReadableStore) else _source(given)


def _answer(
    report: ValidationReport, infos: bool, warnings: bool, serialized: bool | str
) -> tuple[bool, Any, str]:
    least = "Violation" if warnings else "Warning" if infos else "Info"
    conforms = not report.has(least)
    if serialized:
        format = serialized if isinstance(serialized, str) else "turtle"
        return conforms, report.serialize(format).encode(), _text(report, conforms)
    graph = rdflib.Graph()
    graph.bind("sh", "http://www.w3.org/ns/shacl#")
    for prefix, iri in report.prefixes.items():
        graph.bind(prefix, iri)
    for triple in report.to_graph():
        s, p, o = map(from_term, triple)
        graph.add((s, p, o))
    return conforms, graph, _text(report, conforms)


def _text(report: ValidationReport, conforms: bool) -> str:
    lines = ["Validation Report", f"Conforms: {conforms}"]
    if len(report):
        lines.append(f"Results ({len(report)}):")
    for result in report:
        lines += _lines(result)
    return "\n".join(lines) + "\n"


def _lines(result: ValidationResult) -> Iterator[str]:
    shown = result.shown()
    component = result.component.rpartition("#")[2]
    kind = "Constraint Violation" if result.severity == "Violation" else "Validation Result"
    yield f"{kind} in {component} ({result.component}):"
    yield f"\tSeverity: sh:{result.severity}"
    yield f"\tSource Shape: {shown['shape']}"
    yield f"\tFocus Node: {shown['focus node']}"
    if shown["value"]:
        yield f"\tValue Node: {shown['value']}"
    if shown["path"]:
        yield f"\tResult Path: {shown['path']}"
    yield f"\tMessage: {result.message}"
