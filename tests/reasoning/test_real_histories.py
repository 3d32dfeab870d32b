"""Real histories of an ontology and a thesaurus, version by version: each state is the version's,
and what is inferred is what its facts come to."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyoxigraph as ox
import pytest

from triplestore import Store


class Version(NamedTuple):
    """What a version adds and takes away, and the digest of its sorted N-Triples."""

    number: str
    added: list[ox.Quad]
    removed: list[ox.Quad]
    digest: str


def versions(folder: Path) -> Iterator[Version]:
    rows = [line.split("\t") for line in (folder / "versions.tsv").read_text().splitlines()]
    digests = {row[0]: row[-1] for row in rows}
    lines: dict[str, dict[str, list[str]]] = {}
    with gzip.open(folder / "deltas.tsv.gz", "rt") as file:
        for line in file:
            kind, _, rest = line.rstrip("\n").partition("\t")
            if kind.startswith("#"):
                number = rest.split("\t")[0]
                lines[number] = {"A": [], "D": []}
            else:
                lines[number][kind].append(rest)
    for number, found in lines.items():
        yield Version(number, quads(found["A"]), quads(found["D"]), digests[number])


def quads(lines: list[str]) -> list[ox.Quad]:
    return list(ox.parse("\n".join(lines).encode(), ox.RdfFormat.N_TRIPLES))


def digest(store: Store) -> str:
    held = store.quads_for_pattern(None, None, None, facts="explicit")
    lines = sorted(f"{quad.triple} ." for quad in held)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@pytest.mark.parametrize(
    ("name", "regimes", "steps"),
    [
        pytest.param("uat", ["skos"], 10, id="uat"),
        pytest.param("obo-ro", ["owl-rl"], 33, id="obo-ro"),
        pytest.param("obo-ro", ["rdfs"], 33, id="obo-ro under rdfs", marks=pytest.mark.long),
    ],
)
def test_histories__each_version_is_closed(
    shared_data: Path, name: str, regimes: list[str], steps: int
) -> None:
    folder = shared_data / "real-deltas" / name
    if not folder.is_dir():
        pytest.skip(f"no {folder}: TRIPLESTORE_DATA names the folder with real-deltas")
    store = Store()
    store.load(gzip.decompress((folder / "base.nt.gz").read_bytes()), format="nt")
    store.reason(*regimes)
    done = 0
    for version in versions(folder):
        with store.transaction() as transaction:
            for quad in version.removed:
                transaction.remove(quad)
            for quad in version.added:
                transaction.add(quad)
        done += 1
        if done % 16 == 1 or done == steps:
            assert digest(store) == version.digest, version.number
            assert store.audit(), version.number
    assert done == steps
    # From scratch, the last version comes to the same.
    other = Store()
    other.extend(store.quads_for_pattern(None, None, None, facts="explicit"))
    other.reason(*regimes)
    assert inferred(other) == inferred(store)


def inferred(store: Store) -> set[str]:
    return {str(quad) for quad in store.quads_for_pattern(None, None, None, facts="inferred")}
