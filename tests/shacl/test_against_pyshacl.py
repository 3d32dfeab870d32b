"""Generated shapes over generated data: the results are those of pySHACL."""

from __future__ import annotations

import re
from random import Random

import pytest

from shacl import generated
from shacl.pyshacl_reports import results_in, results_of_pyshacl
from triplestore import Store

_OTHERS = re.compile(r'"[-0-9]+"\^\^xsd:date|(?<!uniqueLang )(?<!closed )\btrue\b')
_ORDERS = re.compile(r"sh:lessThan(OrEquals)?")


def documents(seed: int) -> tuple[str, str]:
    """Shapes and data without what rdflib orders and SPARQL does not.

    These are dates and booleans beside numbers, and all terms beside each other by sh:lessThan.
    """
    random = Random(seed)
    shapes, data = generated.shapes(random, 4), generated.triples(random, 40)
    return _ORDERS.sub("sh:disjoint", _OTHERS.sub('"z"', shapes)), _OTHERS.sub('"z"', data)


def compare(seed: int) -> None:
    pytest.importorskip("pyshacl", reason="pySHACL is what this compares with")
    shapes, data = documents(seed)
    with Store() as store:
        store.load(data, "ttl")
        found = results_in(store.validate(shapes).serialize("nt"))
    assert found == results_of_pyshacl(data, shapes), seed


@pytest.mark.parametrize("seed", range(5))
def test_results__are_those_of_pyshacl(seed: int) -> None:
    compare(seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 150))
def test_results__are_those_of_pyshacl_for_many_shapes(seed: int) -> None:
    compare(seed)
