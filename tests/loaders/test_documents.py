"""Documents of other formats than lines: labels do not depend on their size."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from triplestore import Store
from triplestore.loaders.thresholds import LOADING

ODD = "[] <http://example.org/q> <http://[::1]/y> .\n"
PLAIN = "<http://example.org/b> <http://example.org/p> [] .\n"


@pytest.mark.slow_kernels
def test_labels__of_large_documents_are_numbered_in_their_order_where_lines_are_odd() -> None:
    """An IRI with such a host is odd to the kernel, and used to be numbered after all others."""
    text = ODD + PLAIN
    filler = "".join(
        f"<http://example.org/f{number}> <http://example.org/p> {number} .\n"
        for number in range(40_000)
    )
    small, large = Store(), Store()
    small.load(text, format="turtle")
    large.load(text + filler, format="turtle")
    labels = [{str(quad) for quad in store if "_:" in str(quad)} for store in (small, large)]
    assert len(labels[0]) == 2
    assert labels[0] == labels[1]


@pytest.mark.parametrize("large", [False, True])
def test_labels__that_end_with_a_dot_are_read_back_and_written(
    large: bool, tune: Callable[..., None]
) -> None:
    """`rdf:nodeID` may end with one; no other syntax has such labels."""
    if large:
        tune(LOADING, small_cold=-1, small_warm=-1)
    text = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">
        <rdf:Description rdf:nodeID="a."><e:p rdf:nodeID="a"/><e:p rdf:nodeID="a._"/>
        <e:p rdf:nodeID="a."/><e:p rdf:nodeID="a.."/></rdf:Description></rdf:RDF>"""
    store, again = Store(), Store()
    store.load(text, "rdf")
    assert len({quad.object for quad in store}) == 4
    assert sum(quad.object == quad.subject for quad in store) == 1
    again.load(store.dump(format="nt"), "nt")
    assert again.digest() == store.digest()
