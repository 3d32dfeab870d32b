"""Thresholds of browsing: what is bounded, so that an answer takes milliseconds."""

from __future__ import annotations

from triplestore.data_classes import data_class
from triplestore.thresholds import Thresholds


@data_class(frozen=False)
class BrowseThresholds(Thresholds):
    """See `BROWSE`."""

    listed_properties: int = 500
    """Maximum number of properties of a resource that are listed in one direction."""
    listed_labels: int = 50
    """Maximum number of labels, types or equals of a resource that are listed."""
    sorted_children: int = 5_000
    """Maximum number of children of a node of a tree that are sorted by label."""
    reduced_pairs: int = 5_000_000
    """Maximum number of pairs of parents that are compared to leave out edges that follow."""
    bridged_rounds: int = 3
    """How many anonymous classes in a row are passed over."""
    shown_examples: int = 3
    """Maximum number of examples of a group of changes."""
    shown_groups: int = 500
    """Maximum number of groups of changes."""
    shown_violations: int = 50
    """Maximum number of violations that are listed."""
    compared_rows: int = 200_000
    """Maximum number of answers over asserted facts that are compared to mark rows."""
    proof_depth: int = 100
    """Maximum depth of a proof as a tree."""
    proof_facts: int = 1_000
    """Maximum number of facts of a proof that are given."""
    indexed_texts: int = 1 << 22
    """Maximum number of labels and names in an index of terms: about 60 bytes each. Labels come
    first, then names of classes and properties, then names of other terms."""
    indexed_bytes: int = 96
    """Maximum number of bytes of a text that are indexed; a longer text is found by its start."""
    folded_texts: int = 1 << 16
    """Number of texts that are folded at a time."""
    recounted_rows: int = 1 << 16
    """Maximum number of rows of layers that differ, for an index to be made of the last one."""
    added_texts: int = 1 << 12
    """Number of texts that are kept beside those of the last whole index, at least; after that, and
    an eighth of it, all are indexed anew."""
    sampled_members: int = 1_000
    """Maximum number of members of a class, and of triples of a property, whose shape is seen."""
    sampled_literals: int = 200
    """Maximum number of literals whose datatypes are counted."""
    counted_graphs: int = 1_000
    """Maximum number of named graphs whose triples are counted."""
    shown_graphs: int = 10
    """Maximum number of named graphs in a summary."""
    shown_above: int = 3
    """Maximum number of superclasses, domains and ranges of a term in a summary."""
    shown_comment: int = 200
    """Maximum number of characters of a comment in a summary."""
    shown_vocabulary: int = 12
    """Maximum number of classes, and of properties, of RDF, RDFS, OWL and XSD in a summary."""
    kept_indexes: int = 2
    """Number of states of a store whose indexes are kept: the newest, and one of a snapshot."""


BROWSE = BrowseThresholds()
