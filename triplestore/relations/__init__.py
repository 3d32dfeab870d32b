"""Tables: relations of integer rows, as stacks of immutable layers with statuses.

Start reading at `tables.Tables` (a snapshot), `layers.layer.Layer` (what a commit, a bulk load or a
merge makes) and `relation.Relation` (what rules and queries see). Rows are columns of term ids
(uint32); this package does not know the terms. DESIGN.md has the decisions.
"""

from triplestore.relations.changes import GRAPHS, ChangedRows, Changes, TupleName
from triplestore.relations.layers.bulk import bulk_layer
from triplestore.relations.layers.layer import Layer
from triplestore.relations.layers.merge_layers import merge_layers
from triplestore.relations.relation import BLOCK, Relation, StoredRelation
from triplestore.relations.status import EXPLICIT, HOLDS, INFERRED, REMOVED
from triplestore.relations.tables import OBJECT, SUBJECT, Tables
from triplestore.relations.views.plain import PlainRelation

__all__ = [
    "BLOCK",
    "EXPLICIT",
    "GRAPHS",
    "HOLDS",
    "INFERRED",
    "OBJECT",
    "REMOVED",
    "SUBJECT",
    "ChangedRows",
    "Changes",
    "Layer",
    "PlainRelation",
    "Relation",
    "StoredRelation",
    "Tables",
    "TupleName",
    "bulk_layer",
    "merge_layers",
]
