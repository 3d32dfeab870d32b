"""An EARL report of the W3C's suites: `python -m tests.conformance.earl [FILE] [SUITE ...]`.

The suites are folders of w3c-rdf-tests, by default rdf/rdf12 and sparql/sparql12. The tests of this
folder are run by pytest, and each entry of a manifest gets the outcome of the tests with its name:
failed if one failed, untested if all were skipped (with the reason) or none has its name.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyoxigraph as ox
import pytest

from tests.conformance.sparql_evaluation import MF, NO_SUITES, RDF, ROOT, items, objects
from triplestore._version import VERSION

SUITES = ("rdf/rdf12", "sparql/sparql12")
FOLDER = ROOT.parent
FILES = (
    "test_w3c_syntax.py",
    "test_w3c_sparql_syntax.py",
    "test_w3c_sparql_results.py",
    "test_w3c_sparql_updates.py",
    "test_sparql_evaluation.py",
    "test_sparql_entailment.py",
    "test_rdf_semantics.py",
    "test_rdf12_semantics.py",
    "test_w3c_protocol.py",
)
_PARAMETER = re.compile(r"\[(.*?)(?:-optimised|-as written)?\]$", re.DOTALL)
_HEAD = """@prefix earl: <http://www.w3.org/ns/earl#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix doap: <http://usefulinc.com/ns/doap#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .

<#triplestore> a doap:Project , earl:Software , earl:TestSubject ;
    doap:name "triplestore" ;
    doap:programming-language "Python" ;
    doap:release [ a doap:Version ; doap:revision "{version}" ] .

<#tests> a earl:Software , earl:Assertor ;
    dct:title "the tests of triplestore" .
"""
_ASSERTION = """
[] a earl:Assertion ;
    earl:assertedBy <#tests> ;
    earl:subject <#triplestore> ;
    earl:test <{test}> ;
    earl:mode earl:automatic ;
    earl:result [ a earl:TestResult ; earl:outcome earl:{outcome} ;{why}
        dct:date "{date}"^^xsd:date ] .
"""


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One test of a manifest: its IRI, and the names that our tests give it."""

    iri: str
    names: tuple[str, ...]


@dataclass(slots=True)
class Outcomes:
    """The outcomes of tests by name, gathered while pytest runs."""

    found: dict[str, set[str]] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note one outcome."""
        match = _PARAMETER.search(report.nodeid)
        if match is None or (report.when != "call" and report.passed):
            return
        self.found.setdefault(match[1], set()).add(report.outcome)
        if report.skipped and isinstance(report.longrepr, tuple):
            self.reasons[match[1]] = str(report.longrepr[2]).removeprefix("Skipped: ")

    def of(self, entry: ManifestEntry) -> tuple[str, str]:
        """The outcome of an entry, as EARL names it, and the reason if it was not run."""
        outcomes = set[str]().union(*(self.found.get(name, ()) for name in entry.names))
        if "failed" in outcomes:
            return "failed", ""
        if "passed" in outcomes:
            return "passed", ""
        reasons = (self.reasons[name] for name in entry.names if name in self.reasons)
        return "untested", next(reasons, "no test has its name")


def entries(suite: str) -> Iterator[ManifestEntry]:
    """The tests of all manifests in the folder of a suite."""
    for path in sorted((FOLDER / suite).rglob("manifest*.ttl")):
        store = ox.Store()
        store.load(path=str(path), format=ox.RdfFormat.TURTLE, base_iri=path.as_uri())
        for listing in objects(store, None, MF + "entries"):
            for node in items(store, listing):
                if objects(store, node, RDF + "type"):
                    yield _entry(store, node, path)


def _entry(store: ox.Store, node: ox.NamedNode, manifest: Path) -> ManifestEntry:
    name = unquote(urlsplit(node.value).fragment)
    folder = manifest.parent
    names = [name, f"{folder.name}/{name}"]
    roots = (root for root in (FOLDER / "rdf", FOLDER / "sparql") if folder.is_relative_to(root))
    names += [f"{folder.relative_to(root)}/{name}" for root in roots]
    for action in objects(store, node, MF + "action"):
        if isinstance(action, ox.NamedNode):
            file = Path(unquote(urlsplit(action.value).path))
            if file.is_relative_to(FOLDER / "sparql"):
                names.append(str(file.relative_to(FOLDER / "sparql")))
    iri = node.value
    if iri.startswith("file:"):
        place = folder.relative_to(FOLDER) / "manifest"
        iri = f"https://w3c.github.io/rdf-tests/{place.as_posix()}#{name}"
    return ManifestEntry(iri, tuple(names))


def run() -> Outcomes:
    """The outcomes of the tests of this folder."""
    outcomes = Outcomes()
    here = Path(__file__).parent
    files = [str(here / name) for name in FILES]
    pytest.main(["-q", "-p", "no:cacheprovider", "--tb=no", "--no-header", *files], [outcomes])
    return outcomes


def report(found: list[tuple[ManifestEntry, str, str]]) -> str:
    """The report in Turtle."""
    date = datetime.now(UTC).date().isoformat()
    text = [_HEAD.replace("{version}", VERSION)]
    for entry, outcome, reason in found:
        why = f"\n        dct:description {ox.Literal(reason)} ;" if reason else ""
        text.append(_ASSERTION.format(test=entry.iri, outcome=outcome, why=why, date=date))
    return "".join(text)


def main(arguments: list[str]) -> int:
    """Write the report; the exit status is 1 if a test failed."""
    if not FOLDER.is_dir():
        sys.stderr.write(f"{NO_SUITES}\n")
        return 2
    target = Path(arguments[0] if arguments else "build/earl.ttl")
    outcomes = run()
    found = []
    for suite in arguments[1:] or SUITES:
        of_suite = [(entry, *outcomes.of(entry)) for entry in entries(suite)]
        counts = Counter(outcome for _, outcome, _ in of_suite)
        listed = ", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items()))
        sys.stdout.write(f"{suite}: {listed}\n")
        found += of_suite
    for entry, outcome, reason in found:
        if outcome != "passed":
            sys.stdout.write(f"{outcome}: {entry.iri} {reason}".rstrip() + "\n")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(report(found))
    sys.stdout.write(f"written: {target}\n")
    return int(any(outcome == "failed" for _, outcome, _ in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
