"""Ontology files as named graphs: loaded when they changed, and found where they are imported.

Start reading at `load_ontologies`. A graph has the name of the ontology, or of the file if that has
none; with it is kept the hash of the file, so that giving the same file again does nothing, and a
changed one is a difference. What is imported is looked for among the files given and in the places
given for it; nothing is asked of the network unless that is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pyoxigraph import Literal, NamedNode

from triplestore.errors import UsageError
from triplestore.ontologies.model import vocabulary as names
from triplestore.reasoning.program.settings import Regimes

if TYPE_CHECKING:
    from pyoxigraph import RdfFormat

    from triplestore.ontologies.imports.catalogue import Document
    from triplestore.ontologies.model.expressions import Triple
    from triplestore.terms import Term

Places: TypeAlias = "str | PathLike[str] | Iterable[str | PathLike[str]]"
"""A file, a folder, or several of these."""

LoadGraph: TypeAlias = "Callable[[bytes, RdfFormat, str, NamedNode], object]"
"""Replaces a named graph: data, format, base IRI and name."""


def load_ontologies(
    load: LoadGraph,
    files: Places,
    regimes: Regimes,
    *,
    imports: Places = (),
    network: bool = False,
) -> Regimes:
    """Load ontology files, and what they import, into graphs of their own.

    load     replaces a named graph in the transaction at work
    files    of ontologies
    imports  files and folders in which imported ontologies are looked for, and OASIS catalogues
    """
    # Late: most stores have no regime.
    from triplestore.ontologies.imports.catalogue import Catalogue, Document, find_imports

    given = paths_of(files)
    catalogue = Catalogue(*given, *paths_of(imports), network=network)
    known = {graph: (file, digest) for graph, file, digest in regimes.ontologies}
    wanted: list[str] = []
    for file in given:
        iri = file.resolve().as_uri()
        document = catalogue.find(iri)
        if not isinstance(document, Document):
            raise UsageError(f"{file} cannot be read: {document.reason}")
        wanted += _load(load, document, None, known)
    found = find_imports(wanted, catalogue)
    for document in found.documents:
        _load(load, document, document.iri, known)
    unresolved = {**dict(regimes.unresolved), **{one.iri: one.reason for one in found.unresolved}}
    for document in found.documents:
        unresolved.pop(document.iri, None)
    return replace(
        regimes,
        ontologies=tuple((graph, *rest) for graph, rest in known.items()),
        unresolved=tuple(unresolved.items()),
    )


def _load(
    load: LoadGraph,
    document: Document,
    graph: str | None,
    known: dict[str, tuple[str, str]],
) -> list[str]:
    """Load a document into its graph unless that has it already; what it imports."""
    data = document.data if document.data is not None else Path(document.place).read_bytes()
    digest = sha256(data).hexdigest()
    triples = document.triples()
    headers = _names(s for s, p, o in triples if p == names.TYPE and o == names.ONTOLOGY)
    imports = imports_of(triples)
    others = [iri for iri in headers if iri not in imports]
    name = graph or (others[0] if others else document.iri)
    if known.get(name, ("", ""))[1] != digest:
        load(data, document.format, document.iri, NamedNode(name))
        known[name] = (document.place, digest)
    return imports


def imports_of(triples: Iterable[Triple]) -> list[str]:
    """What a document imports."""
    return _names(o for _, p, o in triples if p == names.IMPORTS)


def _names(terms: Iterable[Term]) -> list[str]:
    """The IRIs among terms; some files write what they import as a literal."""
    return [term.value for term in terms if isinstance(term, NamedNode | Literal)]


def paths_of(places: Places) -> list[Path]:
    """They as paths.

    >>> [path.name for path in paths_of(["a.ttl", Path("b.ttl")])]
    ['a.ttl', 'b.ttl']
    """
    if isinstance(places, str | PathLike):
        return [Path(fspath(places))]
    return [Path(fspath(place)) for place in places]
