"""Tables: relations of integer rows, as stacks of immutable layers with statuses.

Start reading at `tables.Tables` (a snapshot), `layer.Layer` (what a commit, a bulk load or a merge
makes) and `relation.Relation` (what rules and queries see). Rows are columns of term ids (uint32);
what the ids stand for is none of this package's business. DESIGN.md has the decisions and
measurements.
"""

from triplestore.tables.changes import GRAPHS, ChangedRows, Changes, TupleName
from triplestore.tables.layer import Layer
from triplestore.tables.merging import merge_layers
from triplestore.tables.plain import PlainRelation
from triplestore.tables.relation import BLOCK, Relation
from triplestore.tables.status import EXPLICIT, HOLDS, INFERRED, REMOVED
from triplestore.tables.tables import OBJECT, SUBJECT, Tables

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
    "Tables",
    "TupleName",
    "merge_layers",
]
