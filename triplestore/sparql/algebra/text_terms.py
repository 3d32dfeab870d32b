"""The terms of text queries, in the vocabulary of Jena."""

from __future__ import annotations

from triplestore.expressions.tree import Constant

TEXT = "http://jena.apache.org/text#"
TEXT_QUERY = Constant.iri(f"{TEXT}query")
DEFAULT_GRAPH = Constant.iri("urn:x-arq:DefaultGraphNode")
"""The name that a text query gives to the default graph."""
