"""The folders of data that tests and benches read, who publishes each, and which are missing here.

Start at `missing`. `make data` prints the table: `python -m support.data_folders` from `tests`.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class DataFolder:
    """One folder below the data folder."""

    name: str
    source: str
    """A repository on GitHub (`owner/name`), or a phrase that says where the data comes from."""
    place: str = ""
    """The folder of that repository that is copied or linked; the whole repository if empty."""
    use: str = ""

    def how(self) -> str:
        """What to do to get it."""
        if " " in self.source:
            return self.source
        link = f"https://github.com/{self.source}"
        return f"git clone {link}" + (f", folder {self.place}" if self.place else "")


FOLDERS = (
    DataFolder("w3c-rdf-tests", "w3c/rdf-tests", use="conformance: RDF, SPARQL, entailment"),
    DataFolder("owl2-testcases", "Harold-Solbrig/funowl", "tests/data", "OWL 2 test cases"),
    DataFolder("shacl", "w3c/data-shapes", "data-shapes-test-suite", "conformance: SHACL"),
    DataFolder("rdf4j", "eclipse-rdf4j/rdf4j", use="SPARQL beyond the W3C's tests"),
    DataFolder("inferray-rules", "jsubercaze/inferray", use="one input per rule"),
    DataFolder("sansa-forward-chaining", "SANSA-Stack/SANSA-Stack", use="one input per rule"),
    DataFolder("lubm", "rvesse/lubm-uba", use="the university benchmark, seed 0, 1 and 10"),
    DataFolder("uobm", "yujiaoz/uobm-generator", use="the same with harder axioms"),
    DataFolder("owl2bench", "kracr/owl2bench", use="OWL 2 profiles"),
    DataFolder("owl-el", "ontologies and their taxonomies by ELK", use="classification"),
    DataFolder("owl-real", "ontologies as published: their SOURCE.md", use="real ontologies"),
    DataFolder("skos", "thesauri as published: their SOURCE.md", use="SKOS"),
    DataFolder("go-2022", "the Gene Ontology of July 2022", use="hierarchies and closures"),
    DataFolder("obo-hierarchies", "cellxgene-ontology-guide 1.11", use="hierarchies and closures"),
    DataFolder("wordnet30", "Debian package wordnet-base 3.0", use="hierarchies and closures"),
    DataFolder("debian-deps", "package index of Debian 12", use="graphs with cycles"),
    DataFolder("graphs", "networkit/networkit", use="graphs with cycles"),
    DataFolder("deep-taxonomy", "eyereasoner/eye", use="a chain of 10,000 classes"),
    DataFolder("real-deltas", "histories of published ontologies", use="maintenance"),
    DataFolder("sparql-query-sets", "MillenniumDB/WDBench", use="queries of others"),
    DataFolder("sparqloscope", "ad-freiburg/sparqloscope", use="queries of others"),
    DataFolder("watdiv", "libo-gao/Stream-WatDiv", use="queries of others"),
    DataFolder("wikidata-sample", "wikimedia/wikidata-query-rdf", use="loading"),
)


def data_folder() -> Path:
    """Where tests look for data: `$TRIPLESTORE_DATA`, else `shared/data` beside the repository."""
    return Path(os.environ.get("TRIPLESTORE_DATA", REPOSITORY.parent / "shared" / "data"))


def missing() -> list[DataFolder]:
    """The folders that are not there; tests that need one of them are skipped or not collected."""
    return [folder for folder in FOLDERS if not (data_folder() / folder.name).is_dir()]


def table() -> str:
    """All folders, a line each, and what to do about those that are missing."""
    absent = missing()
    lines = [f"data folder: {data_folder()} (set TRIPLESTORE_DATA to use another)"]
    for folder in FOLDERS:
        mark = "missing" if folder in absent else "found"
        lines.append(f"  {mark:8} {folder.name:24} {folder.use:42} {folder.how()}")
    if absent:
        lines.append(
            f"{len(absent)} of {len(FOLDERS)} are missing: tests that need them do not run. Most "
            "of the conformance tests need w3c-rdf-tests, a clone of the W3C's repository:"
        )
        lines.append(f"  git clone https://github.com/w3c/rdf-tests {data_folder()}/w3c-rdf-tests")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
