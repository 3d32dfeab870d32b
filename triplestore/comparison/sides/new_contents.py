"""Files and stores as quads of a transaction's ids, and the change that makes one state another.

Start reading at `replace_quads`. Blank nodes of the new quads are renamed to those of the old ones
that they are equal to (`match_blank_nodes.py`), so an unchanged axiom is not listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from triplestore.comparison.sides.files_of_side import SideFile
from triplestore.comparison.sides.match_blank_nodes import has_blank, match_blank_nodes
from triplestore.comparison.sides.quad_rows import (
    QuadRows,
    columns_in,
    rows_of,
    united,
    within,
    without,
)
from triplestore.data_classes import data_class
from triplestore.errors import ParseError
from triplestore.loaders import load
from triplestore.loaders.formats import split_name
from triplestore.relations import EXPLICIT
from triplestore.relations.lookup import ANY_GRAPH
from triplestore.relations.packed_keys import U32, Bools
from triplestore.store.state_view import StateView
from triplestore.store.writes.graph_writes import reserve_file_numbers
from triplestore.store.writes.writer import TransactionWriter
from triplestore.terms import BLANK, Dictionary


def read_files(
    writer: TransactionWriter, files: Sequence[SideFile], base: str
) -> dict[str, QuadRows]:
    """The quads of files by name, as ids of a transaction; nothing is asserted yet."""
    found: dict[str, QuadRows] = {}
    if not files:
        return found
    number = reserve_file_numbers(writer, len(files), None, False)
    for file in files:
        try:
            loaded = load(
                file.read(),
                writer.dictionary,
                format=split_name(file.name)[0],
                base_iri=f"{base}{file.name}",
                first_file_number=number,
            )
        except ParseError as error:
            raise ParseError(
                error.msg,
                filename=file.name,
                line=error.lineno,
                column=error.offset,
                text=error.text,
            ) from None
        number += 1
        loaded.add_terms(writer.dictionary)
        writer.bind(loaded.prefixes, over=False)
        found[file.name] = rows_of(loaded.s, loaded.p, loaded.o, loaded.g)
    return found


def read_store(writer: TransactionWriter, view: StateView) -> QuadRows:
    """The asserted quads of another store, as ids of a transaction."""
    parts = list(view.match((0, 0, 0, ANY_GRAPH), EXPLICIT))
    if not parts:
        return rows_of(*(np.zeros(0, np.uint32) for _ in range(4)))
    columns = [np.concatenate([part[place] for part in parts]) for place in range(4)]
    each = np.unique(np.concatenate(columns))
    names = np.zeros(int(each[-1]) + 1, np.uint32)
    used = each[each > 0]
    keys = [_renamed(view.dictionary.key(term)) for term in used.tolist()]
    names[used] = writer.dictionary.encode_keys(keys)
    s, p, o, g = (names[column] for column in columns)
    return rows_of(s, p, o, g)


def _renamed(key: bytes) -> bytes:
    """The key of a term in another store, where blank nodes have labels of their own."""
    return bytes([BLANK]) + b"new-" + key[1:] if key[0] == BLANK else key


def asserted_rows(view: StateView) -> QuadRows:
    """The asserted quads of a state, as its own ids."""
    parts = list(view.match((0, 0, 0, ANY_GRAPH), EXPLICIT))
    if not parts:
        return rows_of(*(np.zeros(0, np.uint32) for _ in range(4)))
    s, p, o, g = (np.concatenate([part[place] for part in parts]) for place in range(4))
    return rows_of(s, p, o, g)


@data_class
class Replaced:
    """What was done: the new quads by file, with blank nodes renamed; counts of quads."""

    rows: Mapping[str, QuadRows]
    added: int
    removed: int


def replace_quads(
    writer: TransactionWriter,
    old: QuadRows,
    new: Mapping[str, QuadRows],
    others: Iterable[QuadRows],
) -> Replaced:
    """Assert the new quads instead of the old ones, except those that others have as well."""
    renamed = _with_old_names(old, new, writer.dictionary)
    rows = united(list(renamed.values()))
    gone, come = without(old, rows), without(rows, old)
    for other in others:
        if not len(gone):
            break
        gone = gone[~within(gone, other)]
    for add, changed in ((False, gone), (True, come)):
        s, p, o, g = columns_in(changed)
        writer.change_rows(np.full(len(changed), add), s, p, o, g)
    return Replaced(renamed, len(come), len(gone))


def _with_old_names(
    old: QuadRows, new: Mapping[str, QuadRows], dictionary: Dictionary
) -> Mapping[str, QuadRows]:
    is_blank = blank_mask([old, *new.values()], dictionary)
    whole = united(list(new.values()))
    mine, its = (rows[has_blank(rows, is_blank)] for rows in (whole, old))
    if not len(mine) or not len(its):
        return new
    fresh, known = match_blank_nodes(its, mine, is_blank)
    names: U32 = np.arange(len(is_blank), dtype=np.uint32)
    names[fresh] = known
    return {file: _rename(rows, names) for file, rows in new.items()}


def _rename(rows: QuadRows, names: U32) -> QuadRows:
    if not len(rows):
        return rows
    s, p, o, g = (names[column] for column in columns_in(rows))
    return rows_of(s, p, o, g)


def blank_mask(parts: Sequence[QuadRows], dictionary: Dictionary) -> Bools:
    """By id, which terms of some quads are blank nodes."""
    found = np.zeros(dictionary.size + 1, np.bool_)
    for rows in parts:
        for column in columns_in(rows) if len(rows) else ():
            ids = np.unique(column)
            ids = ids[ids > 0]
            found[ids] = dictionary.kinds(ids) == BLANK
    return found
