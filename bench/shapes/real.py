"""Real graphs of the shared data, as packed edges; see `REAL` for their names."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.inputs.data import FOLDER, shared_data

U64 = NDArray[np.uint64]


class GraphFile(NamedTuple):
    """The place of edges: a file, the end of the name of their property, and a description."""

    path: str
    ending: str
    what: str


REAL: Mapping[str, GraphFile] = {
    "wordnet": GraphFile(
        "wordnet30/wordnet30-relations.ttl.gz", "#hypernym", "WordNet 3.0, hypernyms"
    ),
    "wordnetParts": GraphFile(
        "wordnet30/wordnet30-relations.ttl.gz", "artHolonym", "WordNet 3.0, parts"
    ),
    "go": GraphFile("go-2022/go-edges.ttl.gz", "subClassOf", "Gene Ontology, subclasses"),
    "debian": GraphFile(
        "debian-deps/debian12-dependsOn.nt.gz", "ependsOn", "Debian 12, dependencies"
    ),
    "chebi": GraphFile("obo-hierarchies/chebi.ttl.gz", "#parent", "ChEBI"),
    "mondo": GraphFile("obo-hierarchies/mondo.ttl.gz", "#parent", "Mondo"),
    "uberon": GraphFile("obo-hierarchies/uberon.ttl.gz", "#parent", "Uberon"),
    "fbbt": GraphFile("obo-hierarchies/fbbt.ttl.gz", "#parent", "FBbt"),
    "vertebrata": GraphFile(
        "obo-hierarchies/ncbitaxon-vertebrata.ttl.gz", "subClassOf", "vertebrates"
    ),
    "metazoa": GraphFile("obo-hierarchies/ncbitaxon-parent.tsv.gz", "", "NCBI taxa, animals"),
    "stw": GraphFile("skos/stw", "skos/core#broader", "STW, economics (SKOS)"),
    "unesco": GraphFile("skos/unesco", "skos/core#broader", "UNESCO thesaurus, three years (SKOS)"),
    "uat": GraphFile("skos/uat", "skos/core#broader", "UAT, astronomy (SKOS)"),
    "physh": GraphFile("skos/physh", "skos/core#broader", "PhySH, physics (SKOS)"),
    "hepph": GraphFile("graphs/cit-hepph-part.ttl.gz", "", "citations (HepPh)"),
    "vote": GraphFile("graphs/wiki-vote.ttl.gz", "", "votes (Wikipedia)"),
}


def real(name: str) -> U64 | None:
    """The edges of a real graph; None for an unknown name or without the shared data."""
    source = REAL.get(name)
    path = shared_data() / source.path if source else None
    if source is None or path is None or not path.exists():
        return None
    kept = FOLDER / f"graph-{name}.npy"
    if not kept.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        np.save(kept, _numbered(_edges(path, source.ending)))
    keys: U64 = np.load(kept)
    return keys


def _numbered(edges: Iterator[tuple[str, str]]) -> U64:
    ids: dict[str, int] = {}
    keys = [
        ids.setdefault(s, len(ids) + 1) << 32 | ids.setdefault(o, len(ids) + 1) for s, o in edges
    ]
    return np.unique(np.array(keys, np.uint64))


def _edges(path: Path, ending: str) -> Iterator[tuple[str, str]]:
    """The edges of a file, or of all files of RDF in a folder."""
    if path.name.endswith(".tsv.gz"):
        with gzip.open(path, "rt") as lines:
            for line in lines:
                child, parent = line.split()[:2]
                yield child, parent
        return
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    for file in files:
        yield from _of_rdf(file, ending)


def _of_rdf(file: Path, ending: str) -> Iterator[tuple[str, str]]:
    import pyoxigraph as ox

    formats = {
        ".ttl": ox.RdfFormat.TURTLE,
        ".nt": ox.RdfFormat.N_TRIPLES,
        ".rdf": ox.RdfFormat.RDF_XML,
    }
    kind = Path(file.stem).suffix if file.suffix == ".gz" else file.suffix
    if kind not in formats:
        return
    data = file.read_bytes()
    text = gzip.decompress(data) if file.suffix == ".gz" else data
    for quad in ox.parse(text, format=formats[kind]):
        one, other = quad.subject, quad.object
        both = isinstance(one, ox.NamedNode) and isinstance(other, ox.NamedNode)
        if both and quad.predicate.value.endswith(ending):
            yield one.value, other.value
