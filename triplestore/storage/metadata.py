"""Named values of a store: prefixes, number of loaded files, rules and how to apply them.

Each is stored as bytes in `meta`. All names are in this file.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence

from triplestore.storage.state import value_of

PREFIXES = "prefixes"
"""Prefix to IRI, as JSON."""

FILES = "files"
"""The number of loaded files; the blank nodes of the next file are named by it."""

GRAPH_FILES = "graph-files"
"""Graph to [first file number, number of files], as JSON, for graphs loaded with `replace_graph`:
loading the same files again gives their blank nodes the same names, so that nothing changes."""

PROGRAM = "program"
"""The rules, as `rules.Rules` writes them; absent if there are none."""

TUNING = "tuning"
"""The tuning of `reason`, as JSON."""

REGIMES = "regimes"
"""The names of the regimes in force and their options, as JSON; absent if there are none."""

STRICT = "strict"
"""Present if commits that add violations are refused."""

SHAPES = "shapes"
"""The watched shapes of SHACL, as JSON; absent if there are none."""

HIDDEN = "hidden"
"""The number of inferred facts that are not RDF triples (literal subjects) and are not shown."""

IMPORTS = "imports"
"""The names of the last committed import jobs, as JSON: a job that is retried after its commit is
not done twice."""

SCHEMES = "schemes"
"""The closures of which tables hold only the edges; see `closures.described`."""

TEXT_INDEX = "text-index"
"""What the text index holds, as JSON (see `text_search.settings`); absent if there is none."""

STALE = "stale"
"""Present if something was committed without updating the closure: the estimated effort of that, as
JSON (`facts`, `seconds`). See `stale`."""

HISTORY = "history"
"""How much of the history is kept, as JSON; absent if none is. See `versions.history`."""

COMMIT_NOTE = "commit-note"
"""When the last commit was made, and what was said of it, as JSON; kept with the history only."""

COMMITTED_BRANCHES = "committed-branches"
"""The ids of the last named branches that were committed, as JSON: one whose file a crash left is
not committed twice."""

_JOBS_KEPT = 1000


def prefixes_of(meta: Mapping[str, bytes]) -> dict[str, str]:
    """The stored prefixes.

    >>> prefixes_of({"prefixes": b'{"ex": "http://ex.org/"}'}), prefixes_of({})
    ({'ex': 'http://ex.org/'}, {})
    """
    return value_of(meta, PREFIXES, _texts, {})


def bytes_of_prefixes(prefixes: Mapping[str, str]) -> bytes:
    """Prefixes as stored bytes."""
    return json.dumps(dict(prefixes), ensure_ascii=False).encode()


def file_count(meta: Mapping[str, bytes]) -> int:
    """The number of files loaded so far."""
    return value_of(meta, FILES, int, 0)


def graph_files(meta: Mapping[str, bytes]) -> dict[str, tuple[int, int]]:
    """The file numbers, first and how many, of graphs that were loaded with `replace_graph`."""
    return value_of(meta, GRAPH_FILES, _numbers, {})


def hidden_count(meta: Mapping[str, bytes]) -> int:
    """The number of facts that are not RDF triples."""
    return value_of(meta, HIDDEN, int, 0)


def import_jobs(meta: Mapping[str, bytes]) -> list[str]:
    """The names of the committed import jobs, oldest first."""
    return value_of(meta, IMPORTS, lambda value: list(map(str, json.loads(value))), [])


def committed_branches(meta: Mapping[str, bytes]) -> list[str]:
    """The ids of named branches that were committed, oldest first."""
    return value_of(meta, COMMITTED_BRANCHES, lambda value: list(map(str, json.loads(value))), [])


def bytes_of_jobs(jobs: Sequence[str]) -> bytes:
    """The names of jobs as stored bytes: the last thousand."""
    return json.dumps(list(jobs)[-_JOBS_KEPT:]).encode()


def note_values(meta: Mapping[str, bytes], said: Mapping[str, str]) -> dict[str, bytes | None]:
    """The named value that says when a commit is made, if the store keeps its history.

    >>> note_values({}, {"message": "begun"})
    {}
    """
    if HISTORY not in meta:
        return {}
    note = {"time": time.time(), **said}
    return {COMMIT_NOTE: json.dumps(note, ensure_ascii=False).encode()}


def _texts(value: bytes) -> dict[str, str]:
    return {str(name): str(text) for name, text in json.loads(value).items()}


def _numbers(value: bytes) -> dict[str, tuple[int, int]]:
    found = json.loads(value).items()
    return {graph: (int(first), int(count)) for graph, (first, count) in found}
