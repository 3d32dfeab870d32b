"""The W3C's OWL 2 test cases of the RL profile: what each says and where its documents are."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.entailment import read_facts, without_header
from tests.ontologies.oracle import Fact, term

# Where the documents are that test cases import.
IMPORTED = {
    "http://www.w3.org/2002/03owlt/imports/support011-A": "hermit-support/support011-A.rdf",
}


@dataclass(frozen=True)
class OwlCase:
    """One test case."""

    name: str
    types: frozenset[str]  # such as ConsistencyTest
    semantics: frozenset[str]  # DIRECT, RDF-BASED
    folder: Path

    def facts(self, part: str) -> list[Fact]:
        """The triples of a document: `premise`, `conclusion` or `nonconclusion`.

        Conclusions are about what is in them, not about the documents they came in.
        """
        facts = read_facts(self._path(part))
        if part != "premise":
            return without_header(facts)
        for iri in imports(facts):
            if iri in IMPORTED:
                facts += read_facts(self.folder.parent / IMPORTED[iri])
        return facts

    def _path(self, part: str) -> Path:
        stem = self.name.replace(" ", "_")
        direct = self.folder / f"{stem}.{part}.rdf"
        return direct if direct.exists() else self.folder / f"{stem}.{part}.fromofn.rdf"


def imports(facts: list[Fact]) -> list[str]:
    """The documents that the facts import."""
    return [fact[2].value for fact in facts if fact[1] == term("owl:imports")]


def read_cases(data: Path) -> list[OwlCase]:
    """All cases of the RL profile; those that are only about profiles are left out."""
    folder = data / "owl2-testcases"
    with (folder / "index.tsv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    return [
        OwlCase(
            name=row["identifier"],
            types=frozenset(row["types"].split(";")) - {"ProfileIdentificationTest"},
            semantics=frozenset(row["semantics"].split(";")),
            folder=folder / "rl-cases",
        )
        for row in rows
        if "RL" in row["profiles"].split(";") and row["types"] != "ProfileIdentificationTest"
    ]
