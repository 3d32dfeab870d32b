"""Helpers for tests of sources and parsing: tasks run in this process, and the local loader."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from triplestore.loaders import load
from triplestore.loaders.formats import NAMES, split_name
from triplestore.loaders.report import Loaded
from triplestore.loaders.spark.importing.encode import decoded
from triplestore.loaders.spark.importing.parse import Plan, parse_parts
from triplestore.loaders.spark.importing.sources import SourceFile, SourceOptions
from triplestore.loaders.spark.importing.splits import TaskOptions, packed, plan_parts
from triplestore.loaders.spark.importing.turtle_cuts import Cut
from triplestore.terms.dictionary import Dictionary
from triplestore.terms.term_keys import key_of

Row = tuple[bytes, bytes, bytes, bytes | None]


def files_of(paths: Iterable[Path], first: int = 1) -> list[SourceFile]:
    """Files as listing gives them, in the order given."""
    files = []
    for number, path in enumerate(paths, first):
        form, compression = split_name(path)
        name = next(name for name, known in NAMES.items() if known == form)
        size = path.stat().st_size
        files.append(SourceFile(number, f"file:{path}", size, "", name, compression, number))
    return files


def parsed(
    paths: Sequence[Path],
    options: SourceOptions | None = None,
    cuts: dict[int, list[Cut]] | None = None,
) -> tuple[list[Row], list[dict[str, Any]]]:
    """The rows that tasks make of files (in this process, without Spark), and their notes."""
    options = options or SourceOptions()
    files = files_of(paths, options.first_file_number)
    tasks = packed(plan_parts(files, cuts or {}, options), options.split_bytes)
    plan = Plan({file.number: file for file in files}, TaskOptions.of(options), tasks)
    numbers = pa.record_batch([pa.array(range(len(tasks)))], names=["id"])
    return rows_and_notes(parse_parts(plan, iter([numbers])))


def rows_and_notes(batches: Iterable[Any]) -> tuple[list[Row], list[dict[str, Any]]]:
    kept = list(batches)
    notes = [
        {"file": row["file"], **json.loads(row["note"])}
        for batch in kept
        for row in batch.select(["file", "note"]).to_pylist()
        if row["note"] is not None
    ]
    rows = [tuple(row.values()) for batch in decoded(iter(kept)) for row in batch.to_pylist()]
    return rows, notes


def faults_of(notes: list[dict[str, Any]]) -> list[tuple[int, int | None, int | None, str]]:
    """File, line, byte and reason of each fault, counted from the start of its file."""
    parts = sorted(
        (note["file"], note["part"], note["lines"], note["bytes"])
        for note in notes
        if note["kind"] == "part"
    )
    found = []
    for note in notes:
        if note["kind"] == "fault":
            before = [p for p in parts if p[0] == note["file"] and p[1] < note["part"]]
            line, byte = note["line"], note["byte"]
            line = None if line is None else line + sum(p[2] for p in before)
            byte = None if byte is None else byte + sum(p[3] for p in before)
            found.append((note["file"], line, byte, note["reason"]))
    return sorted(found, key=str)


def loaded_rows(paths: Sequence[Path], **options: Any) -> tuple[list[Row], Loaded]:
    """The rows of the local loader as keys."""
    dictionary = Dictionary()
    loaded = load(None, dictionary, path=list(paths), **options)
    loaded.add_terms(dictionary)
    keys: dict[int, bytes] = {}

    def key(number: int) -> bytes:
        if number not in keys:
            keys[number] = key_of(dictionary.term(number))
        return keys[number]

    columns = (column.tolist() for column in (loaded.s, loaded.p, loaded.o, loaded.g))
    rows = [
        (key(s), key(p), key(o), key(g) if g else None) for s, p, o, g in zip(*columns, strict=True)
    ]
    return rows, loaded
